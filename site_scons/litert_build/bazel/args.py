"""Owns Args, the lazily built command line of actions.run.

    args = Args()
    args.add_all(files, before_each = "-i")

Rules: Bazel's `Args` reference.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import Any

from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import File
from litert_build.starlark.values import Builtin, EvalError, Value, to_str, type_name


class Args(Value):
    """Words of a command line, in order; optionally written to a parameter file."""

    type_name = "Args"

    def __init__(self) -> None:
        self.words: list[str] = []
        self.param: str | None = None
        self.always = False
        self.format = "shell"

    def starlark_dir(self) -> list[str]:
        return ["add", "add_all", "add_joined", "set_param_file_format", "use_param_file"]

    def starlark_attr(self, name: str) -> Any:
        if name in self.starlark_dir():
            return Builtin(f"Args.{name}", getattr(self, name))
        return super().starlark_attr(name)

    def add(self, name_or_value: Any, value: Any = None, *, format: Any = None) -> Args:
        if value is not None:
            self.words.append(_word(name_or_value))
        self.words.append(_formatted(name_or_value if value is None else value, format))
        return self

    def add_all(
        self, name_or_values: Any, values: Any = None, *, map_each: Any = None, format_each: Any = None, before_each: Any = None,
        omit_if_empty: bool = True, uniquify: bool = False, terminate_with: Any = None, **_: Any,
    ) -> Args:  # fmt: skip
        name, items = (None, name_or_values) if values is None else (name_or_values, values)
        words = _mapped(items, map_each, format_each, uniquify)
        if not words and omit_if_empty:
            return self
        if name is not None:
            self.words.append(name)
        for word in words:
            self.words += [word] if before_each is None else [before_each, word]
        if terminate_with is not None:
            self.words.append(terminate_with)
        return self

    def add_joined(
        self, name_or_values: Any, values: Any = None, *, join_with: str, map_each: Any = None, format_each: Any = None,
        format_joined: Any = None, omit_if_empty: bool = True, uniquify: bool = False, **_: Any,
    ) -> Args:  # fmt: skip
        name, items = (None, name_or_values) if values is None else (name_or_values, values)
        words = _mapped(items, map_each, format_each, uniquify)
        if not words and omit_if_empty:
            return self
        if name is not None:
            self.words.append(name)
        self.words.append(_formatted(join_with.join(words), format_joined))
        return self

    def use_param_file(self, param_file_arg: str, *, use_always: bool = False) -> Args:
        self.param, self.always = param_file_arg, use_always
        return self

    def set_param_file_format(self, format: str) -> Args:
        if format not in ("shell", "multiline", "flag_per_line"):
            raise EvalError(f"Args.set_param_file_format() takes shell, multiline or flag_per_line, not {to_str(format)}")
        self.format = format
        return self


def _word(value: Any) -> str:
    if isinstance(value, File):
        return value.path
    if isinstance(value, Label):
        return value.starlark_str()
    if isinstance(value, list | dict | Depset):
        raise EvalError(f"Args.add() takes one value, not {type_name(value)}: use add_all()")
    return to_str(value)


def _formatted(value: Any, format: Any) -> str:
    return _word(value) if format is None else format.replace("%s", _word(value)).replace("%%", "%")


def _mapped(items: Any, map_each: Any, format_each: Any, uniquify: bool) -> list[str]:
    words: list[str] = []
    for item in items.to_list() if isinstance(items, Depset) else items:
        mapped = item if map_each is None else map_each(item)
        if mapped is None:
            continue
        words += [_formatted(one, format_each) for one in (mapped if isinstance(mapped, list | tuple) else [mapped])]
    return list(dict.fromkeys(words)) if uniquify else words


def expand_arguments(arguments: Iterable[Any], parameter_file: Callable[[int, str], str]) -> tuple[list[str], list[str]]:
    """Return the words of a command line and the parameter files made for it."""
    words: list[str] = []
    made: list[str] = []
    for argument in arguments:
        if not isinstance(argument, Args):
            if not isinstance(argument, str):
                raise EvalError(f"arguments are strings or ctx.actions.args(), not {type_name(argument)}")
            words.append(argument)
        elif argument.param is not None and argument.always:
            quoted = [shlex.quote(word) for word in argument.words] if argument.format == "shell" else argument.words
            path = parameter_file(len(made), "".join(f"{word}\n" for word in quoted))
            made.append(path)
            words.append(argument.param.replace("%s", path))
        else:
            words += argument.words
    return words, made
