"""Owns the set of Starlark, which keeps the order of insertion as dicts do.

    list(StarlarkSet([3, 1, 3]))      # [3, 1]

Rules: Bazel's `set` reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from litert_build.starlark.values import Builtin, EvalError, Value, shown_keys, to_key, to_repr


class StarlarkSet(Value):
    """A Starlark set (insertion-ordered), as Bazel 8 has it."""

    type_name = "set"

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items: dict[Any, None] = {}
        for item in items:
            self.items[to_key(item)] = None
        self.frozen = False

    def starlark_str(self) -> str:
        return f"set([{', '.join(map(to_repr, self.items))}])"

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(shown_keys(self.items)))

    def __contains__(self, item: Any) -> bool:
        return to_key(item) in self.items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StarlarkSet) and self.items.keys() == other.items.keys()

    __hash__ = None  # type: ignore[assignment]

    def _combine(self, other: Any, keep: Callable[[set[Any], set[Any]], set[Any]]) -> StarlarkSet:
        if not isinstance(other, StarlarkSet):
            raise TypeError("not a set")
        wanted = keep(set(self.items), set(other.items))
        return StarlarkSet(shown_keys([item for item in [*self.items, *other.items] if item in wanted]))

    def __or__(self, other: Any) -> StarlarkSet:
        return self._combine(other, set.union)

    def __and__(self, other: Any) -> StarlarkSet:
        return self._combine(other, set.intersection)

    def __sub__(self, other: Any) -> StarlarkSet:
        return self._combine(other, set.difference)

    def __xor__(self, other: Any) -> StarlarkSet:
        return self._combine(other, set.symmetric_difference)

    def starlark_attr(self, name: str) -> Any:
        if name == "add":
            return Builtin("add", self._add)
        if name == "union":
            return Builtin("union", lambda *others: StarlarkSet(item for group in (self, *others) for item in group))
        if name == "remove":
            return Builtin("remove", self._remove)
        return super().starlark_attr(name)

    def starlark_dir(self) -> list[str]:
        return ["add", "remove", "union"]

    def _add(self, item: Any) -> None:
        if self.frozen:
            raise EvalError("trying to mutate a frozen set value")
        self.items[to_key(item)] = None

    def _remove(self, item: Any) -> None:
        if self.frozen:
            raise EvalError("trying to mutate a frozen set value")
        if item not in self:
            raise EvalError(f"element {to_repr(item)} not found in set")
        del self.items[to_key(item)]

    def starlark_freeze(self) -> Iterable[Any]:
        self.frozen = True
        return list(self.items)
