"""Owns the C API of a ref as its headers declare it: the functions, and a signature of each that changes when its ABI does.

read_api([Path("c/engine.h")])["litert_lm_engine_create"]      # 'ptr(ptr)'

A signature is `result(parameters)` in words of the calling convention: void, bool, i8 to i64, u8 to u64, size, f32, f64, ptr, and
`fn{...}` for a pointer to a function, whose own shape is part of the ABI. Enums are i32; a struct by value keeps its name. Headers are
read without their includes and without evaluating #if: both branches of a header that declares the same function twice count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from litert_build.errors import BuildError

_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", re.DOTALL | re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|__declspec\s*\([^)]*\)|\b[A-Z][A-Z0-9_]{3,}\b(?:\s*\([^)]*\))?(?=\s)"
)
_LINKAGE = re.compile(r'extern\s+"C"\s*\{?')
_TYPEDEF_FUNCTION = re.compile(r"^typedef\s+(?P<result>.+?)\(\s*\*\s*(?P<name>\w+)\s*\)\s*\((?P<parameters>.*)\)$", re.DOTALL)
_TYPEDEF = re.compile(r"^typedef\s+(?P<type>.+?)(?P<name>\w+)$", re.DOTALL)
_FUNCTION = re.compile(r"^(?P<result>[\w\s*]+?)\b(?P<name>[a-z]\w*)\s*\((?P<parameters>.*)\)$", re.DOTALL)
_POINTER_PARAMETER = re.compile(r"^(?P<result>.+?)\(\s*\*\s*\w*\s*\)\s*\((?P<parameters>.*)\)$", re.DOTALL)
_BODY = "\x01"
_QUALIFIERS = {"const", "volatile", "restrict", "extern", "static", "inline", "register"}
_SCALARS = {
    "void": "void", "bool": "bool", "_Bool": "bool", "char": "i8", "signed char": "i8", "unsigned char": "u8", "short": "i16",
    "unsigned short": "u16", "int": "i32", "unsigned": "u32", "unsigned int": "u32", "long": "long", "unsigned long": "ulong",
    "long long": "i64", "unsigned long long": "u64", "float": "f32", "double": "f64", "size_t": "size", "ssize_t": "ssize",
    "intptr_t": "ssize", "uintptr_t": "size", **{f"int{bits}_t": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"u{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip


def read_api(headers: Iterable[Path]) -> dict[str, str]:
    """Return the signature of each function that `headers` declare. Raises BuildError where a header cannot be read, or where two
    declarations of one function differ."""
    texts = {header: _statements(header) for header in headers}
    types = dict(_SCALARS)
    for statements in texts.values():
        for statement in statements:
            _typedef(statement, types)
    found: dict[str, str] = {}
    for header, statements in texts.items():
        for statement in statements:
            match = None if statement.startswith("typedef") else _FUNCTION.match(statement)
            if not match or not match["result"].strip():
                continue
            signature = f"{_word(match['result'], types)}({_parameters(match['parameters'], types)})"
            if found.setdefault(match["name"], signature) != signature:
                raise BuildError(
                    f"{match['name']} is declared as {found[match['name']]} and as {signature}",
                    where=str(header),
                    mend="hand the gate the headers of one ref only",
                )
    return found


def _statements(header: Path) -> list[str]:
    """Return the declarations of a header; the bodies of structs and enums are reduced to `{}`."""
    try:
        text = header.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError(f"cannot read the header: {error}", where=str(header), mend="fetch the ref's sources") from error
    text = _LINKAGE.sub(";", _NOISE.sub(" ", text))
    while (reduced := re.sub(r"\{[^{}]*\}", _BODY, text)) != text:
        text = reduced
    text = _ATTRIBUTE.sub(" ", text.replace("}", ";"))
    parts = re.split(rf";|\)\s*{_BODY}", text)  # an inline function ends with its body; what is before it is no declaration
    return [" ".join(part.replace(_BODY, " {} ").split()) for part in parts if part.strip()]


def _typedef(statement: str, types: dict[str, str]) -> None:
    if match := re.match(r"^(?:typedef )?enum(?: class)? (\w+)", statement):
        types[match[1]] = types[f"enum {match[1]}"] = "i32"
    if match := _TYPEDEF_FUNCTION.match(statement):
        types[match["name"]] = f"fn{{{_word(match['result'], types)}({_parameters(match['parameters'], types)})}}"
    elif match := _TYPEDEF.match(statement):
        anonymous = re.match(r"(?:struct|union) ?\{\}", match["type"])
        word = "i32" if match["type"].startswith("enum") else _word(match["type"], types)
        types[match["name"]] = match["name"] if anonymous else word


def _parameters(text: str, types: dict[str, str]) -> str:
    parts = _split(text)
    return "" if parts in ([], ["void"]) else ", ".join(_parameter(part, types) for part in parts)


def _split(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _parameter(text: str, types: dict[str, str]) -> str:
    if match := _POINTER_PARAMETER.match(text):
        return f"fn{{{_word(match['result'], types)}({_parameters(match['parameters'], types)})}}"
    if "*" in text or "[" in text:
        return "ptr"
    words = [word for word in text.split() if word not in _QUALIFIERS]
    whole = " ".join(words)
    return _word(whole if whole in types or len(words) == 1 else " ".join(words[:-1]), types)


def _word(text: str, types: dict[str, str]) -> str:
    """Return the ABI word of a type without a name behind it."""
    if "*" in text:
        return "ptr"
    whole = " ".join(word for word in text.replace("{}", " ").split() if word not in _QUALIFIERS)
    return types.get(whole, whole.removeprefix("struct "))
