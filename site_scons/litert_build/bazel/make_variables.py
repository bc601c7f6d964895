"""Owns Make variables: `$(NAME)`, `$(location //a:b)`, `$@`, `$$`, and the splitting of options as a shell would.

    expand("-I$(GENDIR)", {"GENDIR": "bazel-out/k8-opt/bin"}, locate)

Rules: Bazel's "Make variables" page and "Bourne shell tokenization" in the C++ rules reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from litert_build.starlark.values import EvalError

_REFERENCE = re.compile(r"\$(?:(?P<dollar>\$)|\((?P<body>[^()]*)\)|\{(?P<brace>[^{}]*)\}|(?P<short>[@<^]))")
_LOCATION = re.compile(r"(location|locations|execpath|execpaths|rootpath|rootpaths|rlocationpath|rlocationpaths)\s+(\S+)\s*")


def expand(text: str, variables: Mapping[str, str], locate: Callable[[str, str], str]) -> str:
    """Return `text` expanded; `locate(kind, label)` gives paths. Raises EvalError for an unknown variable or a lone `$`."""

    def replace(match: re.Match[str]) -> str:
        if match.group("dollar"):
            return "$"
        body = match.group("body")
        if body is not None:
            location = _LOCATION.fullmatch(body)
            if location:
                return locate(location.group(1), location.group(2))
        name = body if body is not None else match.group("short")
        if name is None:
            raise EvalError(f"${{{match.group('brace')}}} is not Make syntax: write $({match.group('brace')}) or $${{...}} for the shell")
        if name not in variables:
            raise EvalError(f"$({name}) is not defined" if len(name) > 1 else f"${name} is not defined here")
        return variables[name]

    out = _REFERENCE.sub(replace, text)
    rest = _REFERENCE.sub("", text)
    if "$" in rest:
        raise EvalError(f"unterminated or unknown $ reference in {text!r}: write $$ for a dollar sign")
    return out


def tokenize(text: str) -> list[str]:
    """Return the words of `text` as a Bourne shell splits them. Raises EvalError on an open quotation."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    position = 0
    while position < len(text):
        char = text[position]
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and text[position + 1 : position + 2] in ('"', "\\", "$", "`"):
                position += 1
                word = [*(word or []), text[position]]
            else:
                word = [*(word or []), char]
        elif char in "'\"":
            quote, word = char, word or []
        elif char == "\\" and position + 1 < len(text):
            position += 1
            word = [*(word or []), text[position]]
        elif char in " \t\n":
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = word if word is not None else []
            word.append(char)
        position += 1
    if quote:
        raise EvalError(f"unterminated quotation in {text!r}")
    if word is not None:
        words.append("".join(word))
    return words
