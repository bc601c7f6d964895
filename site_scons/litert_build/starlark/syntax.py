"""Owns the step from text to code: parse with Python's grammar, admit only what Starlark has, resolve names, rewrite operators.

    stages = compile_file("x = [1] + [2]\n", "pkg/BUILD", "build", builtins={"glob"})

This is no security boundary: only sources that a lock pins by digest are evaluated.
Rules: the Starlark specification ("Lexical elements" to "Statements"), Bazel's "Differences with Python" page.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from types import CodeType

from litert_build.errors import BuildError
from litert_build.starlark.grammar import ESCAPE_MEND, Kind, Load, Validator, is_load, load_of
from litert_build.starlark.resolver import bound_at_top, resolve
from litert_build.starlark.rewriter import Rewriter

MAX_BYTES = 4_000_000


@dataclass
class Stage:
    """Loads, then the code that may use them, the global `names` the code binds, and the names of its `functions` by what the code
    calls their makers.

    BUILD and .bzl files have one stage; a WORKSPACE one per block of loads.
    """

    loads: list[Load] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    code: CodeType | None = None
    functions: dict[str, str] = field(default_factory=dict)


def compile_file(text: str, file: str, kind: Kind, builtins: Collection[str]) -> list[Stage]:
    """Return the stages of a file. Raises BuildError with file:line for text that is not Starlark or uses an undefined name."""
    if len(text) > MAX_BYTES:
        raise BuildError(f"the file is larger than {MAX_BYTES} characters", where=file, mend="a build description of that size is refused")
    if "\0" in text:
        raise BuildError("the file holds a NUL byte", where=f"{file}:{text.count(chr(10), 0, text.index(chr(0))) + 1}")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tree = _parse(text, file)
    try:
        Validator(text, file, kind).check(tree)
        resolve(tree, file, kind, builtins)
        rewriter = Rewriter()
        return [_compile_stage(loads, body, file, rewriter) for loads, body in _stages(tree, kind)]
    except SyntaxError as error:  # what Python only finds as it compiles: a parameter that stands twice, too many nested loops
        raise BuildError(f"syntax error: {error.msg}", where=f"{file}:{error.lineno or 1}") from None
    except RecursionError:
        raise BuildError("the file is nested too deeply", where=file, mend="flatten its expressions") from None


def _parse(text: str, file: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes, which the validator refuses itself
            return ast.parse(text, file)
    except SyntaxError as error:
        where = f"{file}:{error.lineno or 1}"
        if error.msg.startswith("(unicode error)"):  # Python decodes them before anything of ours can look
            raise BuildError(r"invalid escape sequence: there is no \x, \u, \U or \N", where=where, mend=ESCAPE_MEND) from None
        raise BuildError(f"syntax error: {error.msg}", where=where) from None
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError | MemoryError) else str(error)
        raise BuildError(f"the file cannot be parsed: {reason}", where=file) from None


def _stages(tree: ast.Module, kind: Kind) -> Iterable[tuple[list[ast.stmt], list[ast.stmt]]]:
    if kind != "workspace":
        return [([n for n in tree.body if is_load(n)], [n for n in tree.body if not is_load(n)])]
    stages: list[tuple[list[ast.stmt], list[ast.stmt]]] = [([], [])]
    for node in tree.body:
        if is_load(node) and stages[-1][1]:
            stages.append(([], []))
        stages[-1][0 if is_load(node) else 1].append(node)
    return stages


def _compile_stage(loads: list[ast.stmt], body: list[ast.stmt], file: str, rewriter: Rewriter) -> Stage:
    names = frozenset(name for node in body for name in bound_at_top(node))
    module = ast.Module(body=[rewriter.visit(node) for node in body], type_ignores=[])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(module, file, "exec", dont_inherit=True)
    return Stage([load_of(node) for node in loads], names, code, rewriter.functions)
