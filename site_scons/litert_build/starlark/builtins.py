"""Owns the functions that every Starlark file has, whatever rules stand beside them.

    UNIVERSAL["sorted"]([3, 1])

Rules: the Starlark specification, section "Built-in constants and functions".
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from litert_build.starlark import operators, strings
from litert_build.starlark.operators import iterate
from litert_build.starlark.sets import StarlarkSet
from litert_build.starlark.values import (
    Builtin,
    EvalError,
    StarlarkDict,
    StarlarkList,
    Value,
    equal,
    less,
    to_repr,
    to_str,
    type_name,
)


def _len(value: Any) -> int:
    if isinstance(value, str | list | tuple | dict | range) or (isinstance(value, Value) and hasattr(value, "__len__")):
        return len(value)
    raise EvalError(f"{type_name(value)} is not iterable")


def _key_function(key: Any) -> Callable[[Any], Any]:
    return (lambda item: item) if key is None else key


def _compare(one: Any, other: Any) -> int:
    return -1 if less(one, other) else 0 if equal(one, other) else 1


def _sorted(items: Any, key: Any = None, reverse: bool = False) -> StarlarkList:
    by = functools.cmp_to_key(_compare)
    chosen = _key_function(key)
    plain = list(iterate(items))
    if key is None and all(type(item) is str for item in plain):
        return StarlarkList(sorted(plain, reverse=bool(reverse)))
    return StarlarkList(sorted(plain, key=lambda item: by(chosen(item)), reverse=bool(reverse)))


def _extreme(name: str, better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def pick(*args: Any, key: Any = None) -> Any:
        items = list(iterate(args[0])) if len(args) == 1 else list(args)
        if not items:
            raise EvalError(f"{name}() of an empty sequence")
        chosen = _key_function(key)
        best = items[0]
        for item in items[1:]:
            if better(chosen(item), chosen(best)):
                best = item
        return best

    return pick


def _int(value: Any, base: Any = None) -> int:
    if isinstance(value, bool) or (isinstance(value, int) and base is None):
        return int(value)
    if isinstance(value, float) and base is None:
        if not math.isfinite(value):
            raise EvalError(f"cannot convert float {to_repr(value)} to integer")
        return int(value)
    if not isinstance(value, str):
        raise EvalError(f"{type_name(value)} cannot be converted to int")
    if "_" in value or value != value.strip():
        raise EvalError(f"invalid literal for int() with base {base or 10}: {to_repr(value)}")
    try:
        return int(value, 10 if base is None else base)
    except ValueError:
        raise EvalError(f"invalid literal for int() with base {base or 10}: {to_repr(value)}") from None


def _float(value: Any = 0.0) -> float:
    try:
        return float(value)
    except (ValueError, TypeError):
        raise EvalError(f"invalid float literal: {to_repr(value)}") from None


def _range(start: Any, stop: Any = None, step: Any = 1) -> range:
    for bound in (start, stop, step):
        if bound is not None and type(bound) is not int:
            raise EvalError(f"range() takes int, not {type_name(bound)}")
        if bound is not None and not -(2**31) <= bound < 2**31:
            raise EvalError(f"range(): got {bound}, want a value in signed 32-bit range")
    if step == 0:
        raise EvalError("step cannot be 0")
    return range(0, start) if stop is None else range(start, stop, step)


def _reversed(items: Any) -> StarlarkList:
    return StarlarkList(list(iterate(items))[::-1])


def _zip(*groups: Any) -> StarlarkList:
    return StarlarkList(zip(*[list(iterate(group)) for group in groups]))


def _dict(pairs: Any = (), **named: Any) -> StarlarkDict:
    made = StarlarkDict()
    for key, value in operators.pairs_of(pairs):
        made[key] = value
    dict.update(made, named)
    return made


def _getattr(value: Any, name: str, *default: Any) -> Any:
    if not isinstance(name, str) or name.startswith("__"):
        raise EvalError(f"getattr() takes the name of a field, not {to_repr(name)}")
    try:
        return operators.attribute(value, name)
    except EvalError:
        if default:
            return default[0]
        raise


def _hasattr(value: Any, name: str) -> bool:
    return name in operators.methods_of(value) or (isinstance(value, Value) and _has_field(value, name))


def _has_field(value: Value, name: str) -> bool:
    try:
        value.starlark_attr(name)
    except EvalError:
        return False
    return True


def _dir(value: Any) -> StarlarkList:
    return StarlarkList(sorted(value.starlark_dir() if isinstance(value, Value) else operators.methods_of(value)))


def _hash(value: Any) -> int:
    if not isinstance(value, str):
        raise EvalError(f"hash() takes a string, not {type_name(value)}")
    return strings.java_hash(value)


def _fail(*args: Any, msg: Any = None, attr: Any = None, sep: str = " ") -> None:
    words = [*([msg] if msg is not None else []), *args]
    prefix = f"attribute {attr}: " if attr is not None else ""
    raise EvalError(prefix + sep.join(map(to_str, words)))


def _abs(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise EvalError(f"abs() takes a number, not {type_name(value)}")
    return abs(value)


def _enumerate(items: Any, start: int = 0) -> StarlarkList:
    return StarlarkList(enumerate(list(iterate(items)), start))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": _abs,
    "all": lambda items: all(iterate(items)),
    "any": lambda items: any(iterate(items)),
    "bool": lambda value=False: bool(value),
    "dict": _dict,
    "dir": _dir,
    "enumerate": _enumerate,
    "fail": _fail,
    "float": _float,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "hash": _hash,
    "int": _int,
    "len": _len,
    "list": lambda items=(): StarlarkList(iterate(items)),
    "max": _extreme("max", lambda one, best: less(best, one)),
    "min": _extreme("min", less),
    "range": _range,
    "repr": lambda value: to_repr(value),
    "reversed": _reversed,
    "set": lambda items=(): StarlarkSet(iterate(items)),
    "sorted": _sorted,
    "str": to_str,
    "tuple": lambda items=(): tuple(iterate(items)),
    "type": type_name,
    "zip": _zip,
}

UNIVERSAL: dict[str, Any] = {"True": True, "False": False, "None": None, **{name: Builtin(name, call) for name, call in _FUNCTIONS.items()}}
