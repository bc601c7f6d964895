"""Owns select(): its value, concatenation and resolution against a configuration.

    value = SelectorList([["a"], Select({"//:windows": ["w"], "//conditions:default": []})])

Rules: Bazel's "Configurable build attributes" page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from litert_build.bazel.labels import Label
from litert_build.errors import BuildError
from litert_build.starlark.opaque import Opaque
from litert_build.starlark.values import EvalError, StarlarkDict, Value, equal, to_repr, type_name

DEFAULT = "//conditions:default"


class Select(Value):
    """One select(): conditions as written until an attribute takes it, labels afterwards."""

    type_name = "select"

    def __init__(self, branches: dict[Any, Any], no_match_error: str = "") -> None:
        self.branches = branches
        self.no_match_error = no_match_error


class SelectorList(Value):
    """Plain values and selects joined by +. As in Bazel it counts as true, whatever it resolves to: `extra or []` is common."""

    type_name = "select"

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)

    def __add__(self, other: Any) -> SelectorList:
        return SelectorList([*self.parts, *_parts_of(other)])

    def __radd__(self, other: Any) -> SelectorList:
        return SelectorList([*_parts_of(other), *self.parts])

    __or__ = __add__
    __ror__ = __radd__

    def __iter__(self) -> Any:
        raise EvalError("type 'select' is not iterable")

    def starlark_str(self) -> str:
        words = [f"select({to_repr(StarlarkDict(p.branches))})" if isinstance(p, Select) else to_repr(p) for p in self.parts]
        return " + ".join(words)

    def starlark_freeze(self) -> list[Any]:
        held: list[Any] = []
        for part in self.parts:
            held.extend(part.branches.values() if isinstance(part, Select) else [part])
        return held


def _parts_of(value: Any) -> tuple[Any, ...]:
    if isinstance(value, SelectorList):
        return value.parts
    if isinstance(value, str | list | dict | tuple | Opaque) or type(value) is int:
        return (value,)
    raise EvalError(f"'+' operator applied to incompatible types (select, {type_name(value)})")


def make_select(branches: Any, no_match_error: str = "") -> SelectorList:
    """The select() builtin. Raises EvalError where `branches` is no dict of conditions."""
    if not isinstance(branches, dict):
        raise EvalError(f"select() takes a dict, not {type_name(branches)}")
    if not branches:
        raise EvalError("select({}) with an empty dictionary can never resolve")
    for key in branches:
        if not isinstance(key, str | Label):
            raise EvalError(f"select() key {to_repr(key)} is no label")
    return SelectorList([Select(dict(branches), no_match_error)])


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds, and the facts it demands: a condition whose facts include another's is its specialization; `testonly`
    conditions are for targets that are so too."""

    holds: bool
    facts: frozenset[tuple[str, str]] = frozenset()
    why: str = ""
    testonly: bool = False


Judge = Callable[[Label], Verdict]


def resolve_select(select: Select, judge: Judge, where: str, attribute: str) -> tuple[Any, str]:
    """Return the chosen value and its condition's text. Raises BuildError: no match, or an ambiguous one, conditions listed."""
    matches: list[tuple[Label, Any, Verdict]] = []
    verdicts: list[str] = []
    default: Any = None
    has_default = False
    for key, value in select.branches.items():
        if key == DEFAULT:
            has_default, default = True, value
            continue
        verdict = judge(key)
        verdicts.append(f"{key}: {'holds' if verdict.holds else 'does not hold'}{f' ({verdict.why})' if verdict.why else ''}")
        if verdict.holds:
            matches.append((key, value, verdict))
    if not matches:
        if has_default:
            return default, DEFAULT
        raise BuildError(
            f"no condition of the select() in attribute '{attribute}' holds"
            + (f": {select.no_match_error}" if select.no_match_error else ""),
            where=where,
            notes=verdicts,
            mend="add a //conditions:default branch in an overlay, or build for a target that a condition names",
        )
    best = [m for m in matches if not any(m[2].facts < other[2].facts for other in matches)]
    if all(equal(best[0][1], other[1]) for other in best[1:]):
        return best[0][1], str(best[0][0])
    raise BuildError(
        f"several conditions of the select() in attribute '{attribute}' hold and none is a specialization of the others",
        where=where,
        notes=verdicts,
        mend="make the conditions exclude each other in an overlay",
    )
