"""Owns the loading of .bzl modules and the running of Starlark code: load order, cycles, freezing, errors with a macro stack.

    modules = Modules(packages)
    modules.load(label, "BUILD:1")["my_macro"]

A module is frozen once its body has run. Rules: the Starlark specification, "Module execution" and Bazel's `load` reference.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterator
from types import FrameType, TracebackType
from typing import Any, Protocol

from litert_build.errors import BuildError, nearest
from litert_build.starlark.grammar import Kind, Load
from litert_build.starlark.operators import RUNTIME, function_maker
from litert_build.starlark.syntax import Stage, compile_file
from litert_build.starlark.values import EvalError, freeze

_FILES: set[str] = set()
_QUOTED = re.compile(r"'\w+'")
_NOT_CALLABLE = re.compile(r"'(\w+)' object is not callable")
_TYPES = {"str": "string", "StarlarkList": "list", "StarlarkDict": "dict"}
_PYTHON_NAME = re.compile(r"[\w.]*<locals>\.")
_FAULTS = (TypeError, NameError, AttributeError, ValueError, LookupError, ArithmeticError, MemoryError)


Compiler = Callable[[str, str, Kind, Collection[str]], list[Stage]]


class SourceOf(Protocol):
    """Gives text, display name and globals of a module key, or why it is not to be had and what stands for its symbols."""

    def resolve(self, label: str, importer: Hashable, place: str) -> Hashable: ...

    def text_of(self, key: Hashable) -> tuple[str, str] | str: ...

    def globals_for(self, key: Hashable) -> dict[str, Any]: ...

    def unavailable(self, symbol: str, key: Hashable, why: str, place: str) -> Any: ...


class Modules:
    """All modules of one evaluation, each run once."""

    def __init__(self, source: SourceOf, compiler: Compiler = compile_file) -> None:
        self.source = source
        self.compiler = compiler
        self.loaded: dict[Hashable, dict[str, Any] | str] = {}
        self.loading: list[tuple[Hashable, str]] = []
        self.imported: dict[Hashable, dict[Hashable, None]] = {}
        self.on_loaded: Callable[[Hashable, dict[str, Any]], None] = lambda key, bindings: None

    def load(self, key: Hashable, place: str) -> dict[str, Any] | str:
        """Return the frozen globals of a module, or a text saying why it is not there. Raises BuildError."""
        if key in self.loaded:
            return self.loaded[key]
        if any(key == other for other, _ in self.loading):
            start = next(i for i, (other, _) in enumerate(self.loading) if other == key)
            path = [str(other) for other, _ in self.loading[start:]] + [str(key)]
            raise BuildError("load cycle", where=place, notes=path, mend="move the shared symbols to a third file")
        found = self.source.text_of(key)
        if isinstance(found, str):
            self.loaded[key] = found
            return found
        text, file = found
        self.loading.append((key, place))
        bindings = self.source.globals_for(key)
        names: set[str] = set()
        try:
            for stage in prepare(text, file, "bzl", bindings, self.compiler):
                self.bind(stage.loads, key, file, bindings)
                run(stage, file, bindings)
                names |= stage.names
        finally:
            self.loading.pop()
        exported = {name: bindings[name] for name in sorted(names) if name in bindings}
        self.on_loaded(key, exported)
        for value in exported.values():
            freeze(value)
        self.loaded[key] = exported
        return exported

    def bind(self, loads: list[Load], importer: Hashable, file: str, bindings: dict[str, Any]) -> None:
        """Execute load statements into `bindings`. Raises BuildError for a symbol that a present file lacks."""
        for load in loads:
            place = f"{file}:{load.line}"
            key = self.source.resolve(load.label, importer, place)
            self.imported.setdefault(importer, {})[key] = None
            exported = self.load(key, place)
            for local, name in load.names:
                if isinstance(exported, str):
                    bindings[local] = self.source.unavailable(name, key, exported, place)
                elif name in exported:
                    bindings[local] = exported[name]
                else:
                    mend = nearest(name, exported) or "it defines: " + ", ".join(sorted(exported)[:12])
                    raise BuildError(f"file {key} does not contain symbol '{name}'", where=place, mend=mend)

    def reached(self, importer: Hashable) -> list[Hashable]:
        """Return the modules that `importer` has loaded, directly or not, each after one that loads it."""
        found: dict[Hashable, None] = {}
        pending = [importer]
        while pending:
            fresh = [key for key in self.imported.get(pending.pop(), ()) if key not in found]
            found.update(dict.fromkeys(fresh))
            pending += fresh
        return list(found)


def prepare(text: str, file: str, kind: Kind, bindings: dict[str, Any], compiler: Compiler = compile_file) -> list[Stage]:
    """Compile a file whose builtins are the names of `bindings`. Raises BuildError."""
    _FILES.add(file)
    stages = compiler(text, file, kind, bindings.keys())
    bindings.update(RUNTIME)
    bindings["__builtins__"] = {}
    return stages


def run(stage: Stage, file: str, bindings: dict[str, Any]) -> None:
    """Run a stage's code over `bindings`. Raises BuildError with the place and macro stack of a fault."""
    bindings.update({key: function_maker(name, file) for key, name in stage.functions.items()})
    if stage.code is None:
        return
    with located():
        exec(stage.code, bindings)


class located:
    """Context that turns what Starlark code raises into a BuildError with place and macro stack. `where` is the place of what the code
    runs for, a target say; without it the outermost call is the place."""

    def __init__(self, where: str = "") -> None:
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None or (isinstance(error, BuildError) and error.where):
            return
        frames = list(_starlark_frames(trace))
        if isinstance(error, BuildError):
            what, mend, notes = error.what, error.mend, error.notes
        elif isinstance(error, EvalError):
            what, mend, notes = str(error), "", ()
        elif isinstance(error, RecursionError):
            what, mend, notes = "evaluation is nested too deeply", "", ()
        elif isinstance(error, _FAULTS) and frames:
            what, mend, notes = _plain_words(error), "", ()
        else:
            return
        stack = [f"in {name} at {file}:{line}" for file, line, name in (frames if self.where else frames[1:])]
        where = self.where or (f"{frames[0][0]}:{frames[0][1]}" if frames else "")
        raise BuildError(what, where=where, mend=mend, notes=[*notes, *stack]) from error


def _plain_words(error: BaseException) -> str:
    if isinstance(error, NameError):  # every name is bound somewhere: the resolver saw to that
        kind = "global" if not isinstance(error, UnboundLocalError) and str(error).startswith("name ") else "local"
        return f"{kind} variable {_QUOTED.findall(str(error))[0]} is referenced before assignment"
    called = _NOT_CALLABLE.fullmatch(str(error))
    if called:
        return f"'{_TYPES.get(called[1], called[1])}' object is not callable"
    return _PYTHON_NAME.sub("", str(error)) or f"it ended in {type(error).__name__}"


def _starlark_frames(trace: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in _FILES:
            yield code.co_filename, trace.tb_lineno, code.co_name
        trace = trace.tb_next


def call_stack() -> list[tuple[str, int, str]]:
    """Return the Starlark frames that are active now, outermost first: (file, line, function)."""
    frames: list[tuple[str, int, str]] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename in _FILES:
            frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return frames[::-1]
