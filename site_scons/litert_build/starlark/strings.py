"""Owns what Starlark strings can do: their methods, `%` and format(), Java's string hash.

    METHODS["split"]("a:b", ":")      # StarlarkList(["a", "b"])

Rules: the Starlark specification, section "Built-in methods", and Bazel's string reference page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from litert_build.starlark.values import EvalError, StarlarkList, format_float, to_repr, to_str, type_name

_PLAIN = (
    "capitalize count endswith find index isalnum isalpha isdigit islower isspace istitle isupper lower lstrip partition replace rfind "
    "rindex rpartition rstrip startswith strip title upper removeprefix removesuffix"
).split()


def _plain(name: str) -> Callable[..., Any]:
    method = getattr(str, name)

    def call(text: str, *args: Any) -> Any:
        try:
            return method(text, *args)
        except ValueError:
            raise EvalError(f"substring {to_repr(args[0])} not found in {to_repr(text)}") from None
        except TypeError:
            raise EvalError(f"in call to {name}(), got wrong arguments ({', '.join(map(type_name, args))})") from None

    return call


def _split(text: str, sep: Any, maxsplit: Any = None) -> StarlarkList:
    if not sep:
        raise EvalError("Empty separator")
    return StarlarkList(text.split(sep, -1 if maxsplit is None else maxsplit))


def _rsplit(text: str, sep: Any, maxsplit: Any = None) -> StarlarkList:
    if not sep:
        raise EvalError("Empty separator")
    return StarlarkList(text.rsplit(sep, -1 if maxsplit is None else maxsplit))


def _splitlines(text: str, keepends: bool = False) -> StarlarkList:
    lines = re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text)
    return StarlarkList(lines if keepends else [line.rstrip("\r\n") for line in lines])


def _join(text: str, elements: Any) -> str:
    if not isinstance(elements, list | tuple | dict) and not hasattr(elements, "items"):
        raise EvalError(f"in call to join(), parameter 'elements' got value of type '{type_name(elements)}', want 'iterable of strings'")
    parts = list(elements)
    for position, part in enumerate(parts):
        if not isinstance(part, str):
            raise EvalError(f"expected string for sequence element {position}, got '{to_repr(part)}' of type '{type_name(part)}'")
    return str.join(text, parts)


def _elems(text: str) -> StarlarkList:
    return StarlarkList(text)


_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\d+|")


def format_string(template: str, *args: Any, **kwargs: Any) -> str:
    """Return template.format(...): fields are a number, a name or empty; nothing reaches into attributes. Raises EvalError."""
    out: list[str] = []
    position = automatic = 0
    manual = False
    while position < len(template):
        mark = template[position]
        if mark in "{}" and template[position : position + 2] == mark * 2:
            out.append(mark)
            position += 2
            continue
        if mark == "}":
            raise EvalError("Found '}' without matching '{'")
        if mark != "{":
            end = min(i for i in (template.find("{", position), template.find("}", position), len(template)) if i >= 0)
            out.append(template[position:end])
            position = end
            continue
        end = template.find("}", position)
        if end < 0:
            raise EvalError("Found '{' without matching '}'")
        name = template[position + 1 : end]
        if not _FIELD.fullmatch(name):
            raise EvalError(f"Invalid character in format field {to_repr(name)}")
        if name and not name.isdigit():
            if name not in kwargs:
                raise EvalError(f"Missing argument '{name}'")
            out.append(to_str(kwargs[name]))
        else:
            if manual != bool(name) and (manual or automatic):
                raise EvalError("Cannot mix manual and automatic numbering of positional fields")
            manual = bool(name)
            number = int(name) if name else automatic
            automatic += 1
            if number >= len(args):
                raise EvalError(f"No replacement found for index {number}")
            out.append(to_str(args[number]))
        position = end + 1
    return "".join(out)


_VERB = re.compile(r"%(.?)", re.DOTALL)


def percent(template: str, operand: Any) -> str:
    """Return `template % operand`. Verbs are %s %r %d %o %x %X %e %E %f %F %g %G %%. Raises EvalError on a wrong type or count."""
    args = list(operand) if isinstance(operand, tuple) else [operand]
    used = 0

    def render(match: re.Match[str]) -> str:
        nonlocal used
        verb = match.group(1)
        if verb == "%":
            return "%"
        if not verb or verb not in "srdoxXeEfFgG":
            raise EvalError(f'unsupported format character "{verb}" in format string {to_repr(template)}')
        if used >= len(args):
            raise EvalError(f"not enough arguments for format pattern {to_repr(template)}: {to_repr(tuple(args))}")
        value = args[used]
        used += 1
        if verb == "s":
            return to_str(value)
        if verb == "r":
            return to_repr(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise EvalError(f"got {type_name(value)} for '%{verb}' format, want int or float")
        if verb in "gG":
            return format_float(float(value)) if verb == "g" else format_float(float(value)).upper()
        return f"%{verb}" % (int(value) if verb in "doxX" else value)

    text = _VERB.sub(render, template)
    if used < len(args):
        raise EvalError(f"not all arguments converted for format pattern {to_repr(template)}: {to_repr(tuple(args))}")
    return text


def java_hash(text: str) -> int:
    """Return Java's String.hashCode of `text`, which Starlark's hash() is: a signed 32-bit number over UTF-16 units."""
    value = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(data), 2):
        value = (31 * value + (data[index] << 8 | data[index + 1])) & 0xFFFFFFFF
    return value - 0x100000000 if value & 0x80000000 else value


METHODS: dict[str, Callable[..., Any]] = {
    **{name: _plain(name) for name in _PLAIN},
    "split": _split,
    "rsplit": _rsplit,
    "splitlines": _splitlines,
    "join": _join,
    "elems": _elems,
    "format": format_string,
}
