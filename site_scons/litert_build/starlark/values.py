"""Owns the mutable Starlark values and what the language says of every value: type names, equality, order, text, freezing.

    items = StarlarkList(["a"])
    freeze(items)
    items.append("b")        # EvalError: trying to mutate a frozen list value

Rules: the Starlark specification, sections "Data types" and "Value concepts".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

MAX_DEPTH = 200
_PYTHON_CALL = re.compile(r"^[\w.<>]+\(\)")


class EvalError(Exception):
    """A fault of the evaluated program; the loader adds file, line and macro stack and makes it a BuildError."""


class Value:
    """Base of the values that rules and providers add. Subclasses name their type and the fields Starlark code may read."""

    type_name = "object"

    def starlark_attr(self, name: str) -> Any:
        """Return the field `name`. Raises EvalError where there is none."""
        raise EvalError(f"'{self.type_name}' value has no field or method '{name}'")

    def starlark_dir(self) -> list[str]:
        return []

    def starlark_str(self) -> str:
        return f"<{self.type_name}>"

    def starlark_freeze(self) -> Iterable[Any]:
        """Return the values that are frozen with this one."""
        return ()


class Exact(Value):
    """What stands for a key that Python takes for another: True is no 1 and (True,) no (1,) among the keys of a dict or a set."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def type_name(self) -> str:  # type: ignore[override]
        return type_name(self.value)

    def starlark_str(self) -> str:
        return to_repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and equal(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.value)


def to_key(value: Any) -> Any:
    """Return what a dict or a set holds for the key `value`. Raises EvalError where `value` cannot be a key."""
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind is bool or (kind is tuple and _holds_bool(value)):
        value = Exact(value)
    try:
        hash(value)
    except TypeError:
        raise EvalError(f"unhashable type: '{type_name(value)}'") from None
    return value


def _holds_bool(items: tuple[Any, ...]) -> bool:
    return any(type(item) is bool or (type(item) is tuple and _holds_bool(item)) for item in items)


def shown_keys(keys: Collection[Any]) -> Collection[Any]:
    """Return the keys of a dict or a set as programs see them, in order."""
    if Exact not in map(type, keys):
        return keys
    return [key.value if type(key) is Exact else key for key in keys]


class StarlarkList(list[Any]):
    """A Starlark list: freezable, and not to be changed while a loop runs over it."""

    __slots__ = ("frozen", "loops")

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__(items)
        self.frozen = False
        self.loops = 0

    __hash__ = None

    def check_mutable(self) -> None:
        if self.frozen:
            raise EvalError("trying to mutate a frozen list value")
        if self.loops:
            raise EvalError("list value is temporarily immutable due to active for-loop iteration")

    def __add__(self, other: Any) -> StarlarkList:
        if isinstance(other, list):
            return StarlarkList(list.__add__(self, other))
        return NotImplemented

    def __iadd__(self, other: Any) -> StarlarkList:
        self.check_mutable()
        if not isinstance(other, list):
            return NotImplemented
        list.extend(self, other)
        return self

    def __mul__(self, count: Any) -> StarlarkList:
        return StarlarkList(list.__mul__(self, count))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        if type(index) is slice:
            return StarlarkList(list.__getitem__(self, index))
        if type(index) is not int:
            raise EvalError(f"got '{type_name(index)}' for list index, want 'int'")
        try:
            return list.__getitem__(self, index)
        except IndexError:
            raise EvalError(f"index out of range (index is {index}, but sequence has {len(self)} elements)") from None

    def __setitem__(self, index: Any, value: Any) -> None:
        self.check_mutable()
        if type(index) is not int:
            raise EvalError(f"got '{type_name(index)}' for list index, want 'int'")
        try:
            list.__setitem__(self, index, value)
        except IndexError:
            raise EvalError(f"index out of range (index is {index}, but sequence has {len(self)} elements)") from None


class StarlarkDict(dict[Any, Any]):
    """A Starlark dict: freezable, insertion-ordered, and not to be changed while a loop runs over it."""

    __slots__ = ("frozen", "loops")

    def __init__(self, items: Any = ()) -> None:
        super().__init__(items)
        self.frozen = False
        self.loops = 0

    __hash__ = None

    def check_mutable(self) -> None:
        if self.frozen:
            raise EvalError("trying to mutate a frozen dict value")
        if self.loops:
            raise EvalError("dict value is temporarily immutable due to active for-loop iteration")

    def __setitem__(self, key: Any, value: Any) -> None:
        self.check_mutable()
        dict.__setitem__(self, to_key(key), value)

    def __missing__(self, key: Any) -> Any:
        raise EvalError(f"key {to_repr(key)} not found in dictionary")

    def __or__(self, other: Any) -> StarlarkDict:
        if not isinstance(other, dict):
            return NotImplemented
        merged = StarlarkDict(self)
        dict.update(merged, other)
        return merged

    def __ior__(self, other: Any) -> StarlarkDict:
        self.check_mutable()
        if not isinstance(other, dict):
            return NotImplemented
        dict.update(self, other)
        return self


class Builtin(Value):
    """A function of the language or of a rule set, implemented in Python."""

    type_name = "builtin_function_or_method"
    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name = name
        self.call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.call(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # the arguments do not fit the signature
                raise EvalError(_PYTHON_CALL.sub(f"{self.name}()", str(error))) from None
            raise

    def starlark_str(self) -> str:
        return f"<built-in function {self.name}>"


class StarlarkFunction(Value):
    """A `def` or lambda of a .bzl file. Starlark forbids recursion: `active` is shared by all closures of one definition."""

    type_name = "function"
    __slots__ = ("active", "code", "file", "name")

    def __init__(self, code: Any, name: str, file: str, active: list[int]) -> None:
        self.code = code
        self.name = name
        self.file = file
        self.active = active

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.active[0]:
            raise EvalError(f"function '{self.name}' called recursively")
        self.active[0] = 1
        try:
            return self.code(*args, **kwargs)
        finally:
            self.active[0] = 0

    def starlark_str(self) -> str:
        return f"<function {self.name} from {self.file}>"

    def starlark_freeze(self) -> Iterable[Any]:
        held = list(self.code.__defaults__ or ()) + list((self.code.__kwdefaults__ or {}).values())
        for cell in self.code.__closure__ or ():
            try:
                held.append(cell.cell_contents)
            except ValueError:
                continue
        return held


_TYPE_NAMES: dict[type, str] = {
    bool: "bool", str: "string", int: "int", float: "float", list: "list", StarlarkList: "list", tuple: "tuple", dict: "dict",
    StarlarkDict: "dict", type(None): "NoneType", range: "range", bytes: "bytes",
}  # fmt: skip


def type_name(value: Any) -> str:
    """Return what the Starlark builtin type() returns for `value`."""
    found = _TYPE_NAMES.get(type(value))
    if found is None:
        found = "string" if isinstance(value, str) else getattr(value, "type_name", type(value).__name__)
    return found


def equal(left: Any, right: Any) -> bool:
    """Starlark equality: as Python's, but a bool never equals a number, at any depth."""
    kind = type(left)
    if kind is type(right) and (kind is str or kind is int):
        return bool(left == right)
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return (
            isinstance(left, list) == isinstance(right, list)
            and len(left) == len(right)
            and all(equal(one, other) for one, other in zip(left, right))
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    return bool(left == right)


def less(left: Any, right: Any) -> bool:
    """Starlark order `left < right`: numbers, strings, and lists or tuples element by element. Raises EvalError for other pairs."""
    one, other = type_name(left), type_name(right)
    numbers = ("int", "float")
    if (one == other and one in ("string", "int", "float", "bool")) or (one in numbers and other in numbers):
        return bool(left < right)
    if one == other and one in ("list", "tuple"):
        for mine, theirs in zip(left, right):
            if not equal(mine, theirs):
                return less(mine, theirs)
        return len(left) < len(right)
    if one == other and isinstance(left, Value) and "__lt__" in vars(type(left)):
        return bool(left < right)
    raise EvalError(f"unsupported comparison: {one} <=> {other}")


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote(text: str) -> str:
    """Return `text` as a double-quoted Starlark literal."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(c) or (c if c >= " " and c != "\x7f" else f"\\x{ord(c):02x}") for c in text) + '"'


def to_str(value: Any) -> str:
    """Return what str(value) gives in Starlark: strings as they are, everything else as repr."""
    return str.__str__(value) if isinstance(value, str) else to_repr(value)


def to_repr(value: Any, around: tuple[int, ...] = ()) -> str:
    """Return what repr(value) gives in Starlark. A list or dict inside of itself shows as `...`; `around` are those it stands in."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool | int):
        return str(value)
    if isinstance(value, float):
        return format_float(value)
    if id(value) in around or len(around) > MAX_DEPTH:
        return "[...]" if isinstance(value, list) else "{...}" if isinstance(value, dict) else "..."
    inside = (*around, id(value))
    if isinstance(value, list):
        return "[" + ", ".join(to_repr(item, inside) for item in value) + "]"
    if isinstance(value, tuple):
        inner = ", ".join(to_repr(item, inside) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_repr(key, inside)}: {to_repr(item, inside)}" for key, item in value.items()) + "}"
    if isinstance(value, range):
        step = f", {value.step}" if value.step != 1 else ""
        return f"range({value.start}, {value.stop}{step})"
    return value.starlark_str() if isinstance(value, Value) else repr(value)


def format_float(value: float) -> str:
    """Return the text of a float: always with a point or an exponent (Starlark specification, "Floats")."""
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "+inf" if value > 0 else "-inf"
    text = f"{value:.1f}" if 1e16 <= abs(value) < 1e17 else repr(value)  # Python writes an exponent one place earlier
    return text if any(mark in text for mark in ".e") else text + ".0"


def freeze(value: Any) -> None:
    """Make `value` and all it holds immutable; what is frozen already is not walked again."""
    pending = [value]
    seen: set[int] = set()
    while pending:
        item = pending.pop()
        if isinstance(item, StarlarkList):
            if not item.frozen:
                item.frozen = True
                pending.extend(item)
        elif isinstance(item, StarlarkDict):
            if not item.frozen:
                item.frozen = True
                pending.extend(item.values())
        elif isinstance(item, tuple):
            pending.extend(item)
        elif isinstance(item, Value) and id(item) not in seen:
            seen.add(id(item))
            pending.extend(item.starlark_freeze())
