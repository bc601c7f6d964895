"""Owns depset and its traversal orders, on which the order of links and include paths depends.

    Depset(["a"], [Depset(["b"])], "topological").to_list()      # ["a", "b"]

Rules: Bazel's "Depsets" page and the depset reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from litert_build.starlark.values import Builtin, EvalError, StarlarkList, Value, freeze, shown_keys, to_key, to_repr, type_name

ORDERS = {
    "default": "default", "stable": "default", "postorder": "postorder", "compile": "postorder", "topological": "topological",
    "link": "topological", "preorder": "preorder", "naive_link": "preorder",
}  # fmt: skip


class Depset(Value):
    """An immutable set of direct elements and transitive depsets with one traversal order."""

    type_name = "depset"
    __slots__ = ("_flat", "direct", "kind", "order", "transitive")

    def __init__(self, direct: Iterable[Any] = (), transitive: Iterable[Depset] = (), order: str = "default", kind: str = "") -> None:
        self.direct = tuple(direct)
        self.transitive = tuple(t for t in transitive if t)
        self.order = order
        self.kind = kind  # what the elements are, where a program made it
        self._flat: tuple[Any, ...] | None = None

    def to_list(self) -> tuple[Any, ...]:
        """Return the elements, each once, in the depset's order."""
        if self._flat is None:
            if self.order == "topological":
                found = self._walk(reverse=True, post=True)[::-1]
            else:
                found = self._walk(reverse=False, post=self.order != "preorder")
            self._flat = tuple(shown_keys(found))
        return self._flat

    def _walk(self, *, reverse: bool, post: bool) -> list[Any]:
        seen: dict[Any, None] = {}
        visited: set[int] = set()
        step = -1 if reverse else 1
        stack: list[tuple[Depset, bool]] = [(self, False)]
        while stack:
            node, children_done = stack.pop()
            if children_done:
                for item in node.direct[::step]:
                    seen.setdefault(item)
                continue
            if id(node) in visited:
                continue
            visited.add(id(node))
            if post:
                stack.append((node, True))
            else:
                for item in node.direct:
                    seen.setdefault(item)
            stack.extend((child, False) for child in node.transitive[::-step])
        return list(seen)

    def __bool__(self) -> bool:
        return bool(self.direct or self.transitive)

    def starlark_str(self) -> str:
        return f"depset([{', '.join(to_repr(item) for item in self.to_list())}])"

    def starlark_attr(self, name: str) -> Any:
        if name == "to_list":
            return Builtin(name, lambda: StarlarkList(self.to_list()))
        return super().starlark_attr(name)

    def starlark_dir(self) -> list[str]:
        return ["to_list"]


def make_depset(direct: Any = None, order: str = "default", *, transitive: Any = None) -> Depset:
    """The depset() builtin. Raises EvalError on an unknown or incompatible order and on unhashable elements."""
    if order not in ORDERS:
        raise EvalError(f"Invalid order: {order}")
    if direct is not None and not isinstance(direct, list | tuple):
        raise EvalError(f"for parameter 'direct', got {type_name(direct)}, want sequence")
    elements: list[Any] = []
    kind = next((child.kind for child in transitive or () if isinstance(child, Depset) and child.kind), "")
    for item in direct or ():
        kind = kind or type_name(item)
        if type_name(item) != kind:
            raise EvalError(f"cannot add an item of type '{type_name(item)}' to a depset of '{kind}'")
        freeze(item)
        if isinstance(item, list | dict):
            raise EvalError(f"depset elements must not be mutable values ({type_name(item)})")
        elements.append(to_key(item))
    for child in transitive or ():
        if not isinstance(child, Depset):
            raise EvalError(f"at index of transitive, got element of type {type_name(child)}, want depset")
        if child.kind not in ("", kind):
            raise EvalError(f"cannot add a depset of '{child.kind}' to a depset of '{kind}'")
        if "default" not in (child.order, ORDERS[order]) and child.order != ORDERS[order]:
            raise EvalError(f"Order '{ORDERS[order]}' is incompatible with order '{child.order}'")
    return Depset(elements, transitive or (), ORDERS[order], kind)
