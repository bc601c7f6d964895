"""Owns what is said where a link ends with undefined symbols: which, of which object and label, and what a select() left out.

read_undefined("ld.lld: error: undefined symbol: f()\\n>>> referenced by o/a.pic.o:(g())\\n")      # {'f()': ('o/a.pic.o',)}
explain_undefined(step, outcome, steps, paths)      # the outcome, the explanation after the linker's own words
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from litert_build.errors import BuildError
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.steps import Step

if TYPE_CHECKING:
    from litert_build.gating import Paths
    from litert_build.reports.branches import Dropped

_SHOWN = 20  # symbols that are explained
_NAMED = 3  # labels and branches that are named for one
# "o/a.o", "lib.a(a.o)": the object's own name.
_OBJECT = re.compile(r"([^\s:()]+\.(?:o|obj))\b")
# What names a symbol: GNU ld and gold; lld, lld-link and zig; link.exe, which adds the mangled name; ld64.
_SYMBOL = re.compile(
    r"""undefined\ reference\ to\ [`'](?P<gnu>.+)'$
    |   undefined\ (?:\w+\ )?symbol:\ (?P<lld>.+)$
    |   unresolved\ external\ symbol\ (?:"(?P<cl>.+?)"\ \(|(?P<c>\S+))
    |   ^\s*"(?P<ld64>.+)",\ referenced\ from:$""",
    re.VERBOSE,
)


def read_undefined(output: str) -> dict[str, tuple[str, ...]]:
    """Return the undefined symbols of a linker's output as it spells them, each with the objects that need it, as far as it names any."""
    found: dict[str, dict[str, None]] = {}
    symbol = place = ""
    for line in output.splitlines():
        match = _SYMBOL.search(line)
        named = _OBJECT.search(line, 0, match.start() if match else len(line))
        user = named[1] if named else ""
        if match:
            symbol = next(filter(None, match.groups()), "")
            if match["gnu"]:
                user = user or place
        elif ": in function" in line:  # GNU ld names the object once, before what is undefined in it
            place, user = user, ""
        elif not line.startswith((" ", ">>>")):
            symbol = ""
        if symbol:
            found.setdefault(symbol, {}).update({user: None} if user else {})
    return {name: tuple(objects) for name, objects in found.items()}


def demangled(symbols: Iterable[str]) -> dict[str, str]:
    """Return symbols as C++ spells them where a demangler is installed; most linkers write them so themselves."""
    spelled = {symbol: symbol for symbol in symbols}
    mangled = {symbol: symbol[symbol.startswith("__Z") :] for symbol in spelled if symbol.startswith(("_Z", "__Z"))}
    program = shutil.which("c++filt") or shutil.which("llvm-cxxfilt")
    if mangled and program:
        done = subprocess.run([program], input="\n".join(mangled.values()), capture_output=True, text=True, check=False)
        spelled.update(zip(mangled, done.stdout.splitlines(), strict=False))
    return spelled


def words_of(symbol: str) -> tuple[str, ...]:
    """Return the words that a source which defines the symbol holds: its name, and the class or namespace around it.

    >>> words_of("int lm::Engine::get<int>(char) const")
    ('Engine', 'get')
    """
    text = symbol.replace("(anonymous namespace)::", "")
    while text != (text := re.sub(r"<[^<>]*>", "", text)):
        pass
    scoped = text.partition("(")[0].split()
    return tuple(re.findall(r"\w+", scoped[-1] if scoped else text)[-2:])


def explain_undefined(step: Step, outcome: Outcome, steps: Iterable[Step], paths: Paths) -> Outcome:
    """Return the outcome of a link, where it ended with undefined symbols with an explanation after the linker's words. The objects that
    need them are found among those of `steps`; the closure is evaluated anew, for only blame asks."""
    found = read_undefined(outcome.output) if outcome.code else {}
    if not found:
        return outcome
    configuration = "/".join(step.outputs[0].split("/")[:2])
    compiles = {made.key: made for made in steps if made.reports_inputs and made.key.startswith(f"{configuration}/")}
    names = demangled(list(found)[:_SHOWN])
    branches = cache(partial(_dropped, paths))
    blocks: dict[tuple[str, ...], list[str]] = {}
    for symbol, name in names.items():
        blocks.setdefault(tuple(_reasons(name, found[symbol], compiles, branches)), []).append(name)
    lines = [f"\n{len(found)} undefined symbol{'s' if len(found) > 1 else ''} in {step.outputs[0]}:"]
    for reasons, symbols in blocks.items():
        lines += [*(f"  {symbol}" for symbol in symbols), *(f"    {reason}" for reason in reasons)]
    lines += [f"  and {len(found) - len(names)} more"] if len(found) > len(names) else []
    return replace(outcome, output=f"{outcome.output.rstrip()}\n" + "\n".join(lines) + "\n")


def _dropped(paths: Paths, label: str, configuration: str) -> list[Dropped]:
    from litert_build.bazel.analysis import on_deep_stack
    from litert_build.reports.branches import dropped_branches

    dropped: list[Dropped] = on_deep_stack(lambda: dropped_branches(paths.analyzer, label, configuration))
    return dropped


def _reasons(symbol: str, objects: Iterable[str], compiles: Mapping[str, Step], branches: Callable[[str, str], list[Dropped]]) -> list[str]:
    owners = list(dict.fromkeys(owner for name in objects for owner in _owners(name, compiles)))
    if not owners:
        return ["the linker names no object of this build that needs it"]
    users = [(PurePosixPath(output).name, compiles[output]) for output in owners[:_NAMED]]
    lines = [f"needed by {name} of {step.label} ({step.location})" for name, step in users]
    try:
        return [*lines, *_left_out(symbol, users[0][1].label, branches(users[0][1].label, owners[0].split("/")[1]))]
    except BuildError as error:  # the linker's failure is the one to tell
        return [*lines, f"the closure cannot be evaluated to say more: {error.what}"]


def _owners(name: str, compiles: Mapping[str, Step]) -> list[str]:
    """Return the outputs that a linker may mean: an exec path, or the bare name of an archive's member."""
    path = posixpath.normpath(name)
    while path.startswith("../"):  # a thin archive's member, as lld names it: from the archive's folder
        path = path[3:]
    return [path] if path in compiles else [output for output in compiles if output.endswith(f"/{path}")]


def _left_out(symbol: str, label: str, branches: list[Dropped]) -> list[str]:
    words = words_of(symbol)
    defining = [(branch, file) for branch in branches if (file := branch.source_with(words))]
    if defining:
        return [f"{file} has its name: {branch}" for branch, file in defining[:_NAMED]]
    own = [f"  {branch}" for branch in branches if branch.label == label]
    if own:
        return ["no source that a select() left out has its name; those of this label:", *own[:_NAMED]]
    return [f"no select() left out a source that has its name: add what defines it to deps (scons explain={label})"]
