"""Owns what the rewritten code calls instead of Python's own operators (rewriter.py writes the calls).

add(StarlarkList([1]), StarlarkList([2]))
attribute("a,b", "split")(",")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from litert_build.starlark import strings
from litert_build.starlark.sets import StarlarkSet
from litert_build.starlark.values import (
    Builtin,
    EvalError,
    StarlarkDict,
    StarlarkFunction,
    StarlarkList,
    Value,
    equal,
    less,
    shown_keys,
    to_key,
    to_repr,
    type_name,
)


def _unsupported(symbol: str, left: Any, right: Any) -> EvalError:
    return EvalError(f"unsupported binary operation: {type_name(left)} {symbol} {type_name(right)}")


def add(left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return str.__add__(left, right)
    if isinstance(left, bool) or isinstance(right, bool):
        raise _unsupported("+", left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        raise EvalError("unsupported binary operation: dict + dict (use the | operator)")
    try:
        return left + right
    except TypeError:
        raise _unsupported("+", left, right) from None


def augmented_add(left: Any, right: Any) -> Any:
    if isinstance(left, StarlarkList) and isinstance(right, list):
        left.check_mutable()
        list.extend(left, right)
        return left
    return add(left, right)


def augmented_or(left: Any, right: Any) -> Any:
    if isinstance(left, StarlarkDict) and isinstance(right, dict):
        left |= right
        return left
    return _BINARY["BitOr"](left, right)


def modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        return strings.percent(left, right)
    return _arithmetic("%", left, right, lambda: left % right)


def _arithmetic(symbol: str, left: Any, right: Any, compute: Callable[[], Any]) -> Any:
    if isinstance(left, bool) or isinstance(right, bool):
        raise _unsupported(symbol, left, right)
    try:
        return compute()
    except TypeError:
        raise _unsupported(symbol, left, right) from None
    except ZeroDivisionError:
        number = "floating-point" if isinstance(left, float) or isinstance(right, float) or symbol == "/" else "integer"
        raise EvalError(f"{number} {'modulo' if symbol == '%' else 'division'} by zero") from None
    except (OverflowError, MemoryError, ValueError) as error:
        raise EvalError(f"{symbol}: {error}") from None


_MAX_REPEAT = 100_000_000


def multiply(left: Any, right: Any) -> Any:
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and type(count) is int and len(sequence) * count > _MAX_REPEAT:
            raise EvalError(f"excessive repeat ({len(sequence)} * {count} elements)")
    return _arithmetic("*", left, right, lambda: left * right)


def shift_left(left: Any, right: Any) -> Any:
    if type(right) is int and not 0 <= right < 512:
        raise EvalError(f"shift count out of range: {right}")
    return _arithmetic("<<", left, right, lambda: left << right)


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": add,
    "Mod": modulo,
    "Mult": multiply,
    "LShift": shift_left,
    "Sub": lambda a, b: _arithmetic("-", a, b, lambda: a - b),
    "Div": lambda a, b: _arithmetic("/", a, b, lambda: a / b),
    "FloorDiv": lambda a, b: _arithmetic("//", a, b, lambda: a // b),
    "BitOr": lambda a, b: _arithmetic("|", a, b, lambda: a | b),
    "BitAnd": lambda a, b: _arithmetic("&", a, b, lambda: a & b),
    "BitXor": lambda a, b: _arithmetic("^", a, b, lambda: a ^ b),
    "RShift": lambda a, b: _arithmetic(">>", a, b, lambda: a >> b),
}


def contains(container: Any, item: Any) -> bool:
    if isinstance(container, str):
        if not isinstance(item, str):
            raise EvalError(f"'in <string>' requires string as left operand, not '{type_name(item)}'")
        return item in container
    if isinstance(container, dict):
        return to_key(item) in container
    if isinstance(container, list | tuple):
        return any(equal(item, other) for other in container)
    if isinstance(container, range):
        return type(item) is int and item in container
    if isinstance(container, StarlarkSet) or (isinstance(container, Value) and hasattr(container, "__contains__")):
        return item in container
    raise _unsupported("in", item, container)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "Eq": equal,
    "NotEq": lambda a, b: not equal(a, b),
    "Lt": less,
    "Gt": lambda a, b: less(b, a),
    "LtE": lambda a, b: less(a, b) or equal(a, b),
    "GtE": lambda a, b: less(b, a) or equal(a, b),
    "In": lambda a, b: contains(b, a),
    "NotIn": lambda a, b: not contains(b, a),
}


def unary(symbol: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or (symbol == "~" and not isinstance(value, int)):
        raise EvalError(f"unsupported unary operation: {symbol}{type_name(value)}")
    return -value if symbol == "-" else +value if symbol == "+" else ~int(value)


def iterate(value: Any) -> Iterable[Any]:
    """Return an iterator for a loop over `value`; lists and dicts are locked while it runs. Raises EvalError for what does not iterate."""
    if isinstance(value, StarlarkList | StarlarkDict):
        return _locked(value)
    if isinstance(value, list | tuple | dict | range | StarlarkSet):
        return value
    if isinstance(value, Value) and isinstance(value, Iterable):
        return iter(value)
    raise EvalError(f"type '{type_name(value)}' is not iterable")


def _locked(value: StarlarkList | StarlarkDict) -> Iterator[Any]:
    value.loops += 1
    try:
        yield from (list.__iter__(value) if isinstance(value, list) else shown_keys(value))
    finally:
        value.loops -= 1


def unpack(value: Any, count: int) -> Any:
    """Return `value` if it can be assigned to `count` targets. Raises EvalError where type or length do not fit."""
    if isinstance(value, str) or not isinstance(value, list | tuple | dict | range | StarlarkSet):
        raise EvalError(f"got '{type_name(value)}' in sequence assignment")
    if len(value) != count:
        raise EvalError(f"too {'many' if len(value) > count else 'few'} values to unpack (got {len(value)}, want {count})")
    return shown_keys(value) if isinstance(value, dict) else value


def iterate_unpacked(value: Any, count: int) -> Iterator[Any]:
    for item in iterate(value):
        yield unpack(item, count)


def make_dict(*pairs: tuple[Any, Any]) -> StarlarkDict:
    """Build a dict literal. Raises EvalError on a duplicate or unhashable key."""
    made = StarlarkDict()
    for written, value in pairs:
        key = to_key(written)
        if key in made:
            raise EvalError(f"dictionary expression has duplicate key: {to_repr(key)}")
        dict.__setitem__(made, key, value)
    return made


def pairs_of(items: Any) -> Iterable[Any]:
    """Return the pairs of a dict as programs see them, or what else iterates over pairs. Raises EvalError for what does not."""
    if isinstance(items, dict):
        return zip(shown_keys(items), dict.values(items))
    return (unpack(entry, 2) for entry in iterate(items))


def make_dict_from(pairs: Iterable[tuple[Any, Any]]) -> StarlarkDict:
    """Build a dict from a comprehension: later values win."""
    made = StarlarkDict()
    for key, value in pairs:
        made[key] = value
    return made


def subscript(value: Any, index: Any) -> Any:
    if isinstance(value, StarlarkDict):
        return value[index if type(index) is str else to_key(index)]
    if isinstance(value, StarlarkList):
        return value[index]
    if isinstance(value, str | list | tuple | range):
        if type(index) is slice:
            return value[index]
        if type(index) is not int:
            raise EvalError(f"got '{type_name(index)}' for {type_name(value)} index, want 'int'")
        try:
            return value[index]
        except IndexError:
            raise EvalError(f"index out of range (index is {index}, but sequence has {len(value)} elements)") from None
    if isinstance(value, Value) and hasattr(value, "__getitem__"):
        return value[index]
    raise EvalError(f"type '{type_name(value)}' has no operator [](…)")


def update_element(container: Any, index: Any, operator: Callable[[Any, Any], Any], value: Any) -> None:
    """`container[index] operator= value`, container and index computed once."""
    assign_element(container, index, operator(subscript(container, index), value))


def assign_element(container: Any, index: Any, value: Any) -> None:
    if not isinstance(container, StarlarkList | StarlarkDict):
        raise EvalError(f"can only assign an element in a dictionary or a list, not in a '{type_name(container)}'")
    container[index] = value


def _list_remove(items: StarlarkList, item: Any) -> None:
    items.check_mutable()
    del items[_list_index(items, item)]


def _list_index(items: StarlarkList, item: Any, start: int = 0, end: int | None = None) -> int:
    positions = range(len(items))[start:end]
    for position in positions:
        if equal(list.__getitem__(items, position), item):
            return position
    raise EvalError(f"item {to_repr(item)} not found in list")


def _list_pop(items: StarlarkList, index: int = -1) -> Any:
    items.check_mutable()
    try:
        return list.pop(items, index)
    except IndexError:
        raise EvalError(f"index out of range (index is {index}, but sequence has {len(items)} elements)") from None


def _list_change(method: Callable[..., Any]) -> Callable[..., Any]:
    def change(items: StarlarkList, *args: Any) -> None:
        items.check_mutable()
        method(items, *args)

    return change


def _list_extend(items: StarlarkList, more: Any) -> None:
    items.check_mutable()
    list.extend(items, list(iterate(more)))


_LIST_METHODS: dict[str, Callable[..., Any]] = {
    "append": _list_change(list.append),
    "insert": _list_change(list.insert),
    "clear": _list_change(list.clear),
    "extend": _list_extend,
    "remove": _list_remove,
    "pop": _list_pop,
    "index": _list_index,
}

_REQUIRED = object()


def _dict_get(items: StarlarkDict, key: Any, default: Any = None) -> Any:
    return dict.get(items, to_key(key), default)


def _dict_pop(items: StarlarkDict, key: Any, default: Any = _REQUIRED) -> Any:
    items.check_mutable()
    known = to_key(key)
    if known in items:
        return dict.pop(items, known)
    if default is _REQUIRED:
        raise EvalError(f"KeyError: {to_repr(key)}")
    return default


def _dict_popitem(items: StarlarkDict) -> Any:
    items.check_mutable()
    if not items:
        raise EvalError("popitem: empty dictionary")
    key = next(dict.__iter__(items))
    value = dict.pop(items, key)
    return (*shown_keys([key]), value)


def _dict_setdefault(items: StarlarkDict, key: Any, default: Any = None) -> Any:
    known = to_key(key)
    if known not in items:
        items[key] = default
    return items[known]


def _dict_update(items: StarlarkDict, *pairs: Any, **named: Any) -> None:
    items.check_mutable()
    for group in pairs:
        for key, value in list(pairs_of(group)):
            items[key] = value
    dict.update(items, named)


def _dict_clear(items: StarlarkDict) -> None:
    items.check_mutable()
    dict.clear(items)


_DICT_METHODS: dict[str, Callable[..., Any]] = {
    "get": _dict_get,
    "pop": _dict_pop,
    "popitem": _dict_popitem,
    "setdefault": _dict_setdefault,
    "update": _dict_update,
    "clear": _dict_clear,
    "keys": lambda items: StarlarkList(shown_keys(items)),
    "values": lambda items: StarlarkList(dict.values(items)),
    "items": lambda items: StarlarkList(pairs_of(items)),
}


def methods_of(value: Any) -> dict[str, Callable[..., Any]]:
    """Return the built-in methods of a string, list or dict; empty for other values."""
    if isinstance(value, str):
        return strings.METHODS
    if isinstance(value, list):
        return _LIST_METHODS
    return _DICT_METHODS if isinstance(value, dict) else {}


def attribute(value: Any, name: str) -> Any:
    """Return `value.name`. Raises EvalError where the value has no such field or method."""
    if isinstance(value, Value):
        return value.starlark_attr(name)
    method = methods_of(value).get(name)
    if method is None:
        raise EvalError(f"'{type_name(value)}' value has no field or method '{name}'")
    return Builtin(name, partial(method, value))


def function_maker(name: str, file: str) -> Callable[[Any], StarlarkFunction]:
    """Return what wraps the code of one `def` of `file` into a Starlark function, each time it runs."""
    active = [0]
    return lambda code: StarlarkFunction(code, name, file, active)


def star_args(value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, list | tuple | range | StarlarkSet):
        raise EvalError(f"argument after * must be an iterable, not {type_name(value)}")
    return list(value)


def star_kwargs(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise EvalError(f"argument after ** must be a dict, not {type_name(value)}")
    for key in value:
        if not isinstance(key, str):
            raise EvalError(f"keywords must be strings, not {type_name(key)}")
    return value


# The names that rewritten code uses; a leading digit-free, non-Starlark spelling keeps them out of programs' reach.
RUNTIME: dict[str, Any] = {
    "__list": StarlarkList,
    "__kwdict": StarlarkDict,
    "__slice": slice,
    "__dict": make_dict,
    "__dict_from": make_dict_from,
    "__iter": iterate,
    "__iter_unpacked": iterate_unpacked,
    "__unpack": unpack,
    "__attr": attribute,
    "__index": subscript,
    "__assign": assign_element,
    "__update": update_element,
    "__unary": unary,
    "__iadd": augmented_add,
    "__ior": augmented_or,
    "__args": star_args,
    "__kwargs": star_kwargs,
    **{f"__{name}": function for name, function in _BINARY.items()},
    **{f"__{name}": function for name, function in _COMPARE.items()},
}
