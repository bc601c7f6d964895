"""Owns what is measured of each project, the engines in turns.

rows = measure_row("synthetic:6000", folder, Repeat(often=5, full=3), say=print)      # [Row(...), ...]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from litert_build.errors import BuildError, nearest

from tests.bench.bazel import Bazel
from tests.bench.engines import CachedScons, Ninja, PlainScons, Scons
from tests.bench.measure import Row, Run
from tests.bench.projects import Project, edit, real, synthetic

FULL, NOTHING, SOURCE, DEEP, WARM, EVALUATED = "full build", "no-op", "one source", "deep header", "warm cache", "evaluation"
REAL = ("clang", "xnnpack", "abseil", "tflite")
KINDS = ("synthetic:UNITS", "plain:UNITS", *REAL, "bazel")
Say = Callable[[Row], None]


class Engine(Protocol):
    """One build tool over one project."""

    name: str

    def run(self) -> Run: ...

    def forget(self) -> None: ...


@dataclass(frozen=True)
class Repeat:
    """How many runs a median is of: of builds that run little, and of those that run everything."""

    often: int
    full: int


def check_row(name: str) -> str:
    """Return the name of a row. Raises BuildError that names the nearest."""
    kind, _, units = name.partition(":")
    if (kind in ("synthetic", "plain") and units.isdigit() and int(units)) or (name in REAL) or name == "bazel":
        return name
    kinds = {kind.partition(":")[0]: kind for kind in KINDS}
    raise BuildError(f"no row {name!r}", where="--rows", mend=nearest(kind, kinds) or f"one of {', '.join(KINDS)}")


def measure_row(name: str, folder: Path, repeat: Repeat, say: Say, bazel: Bazel | None = None) -> list[Row]:
    """Measure one row in an empty folder. Raises BuildError where it cannot be: a tree or a tool is missing, or a build fails."""
    kind, _, units = check_row(name).partition(":")
    if kind == "bazel":
        if bazel is None:
            raise BuildError("Bazel is not here", where=name, mend="name it with --bazel PATH --bazel-rules FOLDER")
        return _said(bazel.measure(folder, repeat.full, repeat.often), say)
    if kind == "plain":
        project = synthetic(folder, int(units))
        return _Turns(project, [PlainScons(project)], say).all(Repeat(1, 1))
    project = synthetic(folder, int(units)) if kind == "synthetic" else real(folder, name)
    rows = _Turns(project, [Scons(project), Ninja(project)], say).all(repeat)
    if kind == "synthetic":
        rows += _said([warm_cache(project, repeat)], say)
    elif project.source:
        rows += _said([evaluation(project, repeat)], say)
    return rows


def warm_cache(project: Project, repeat: Repeat) -> Row:
    """All objects from the shared cache, into an empty build folder."""
    engine = CachedScons(project)
    engine.forget()
    runs = [engine.run()]
    for _ in range(repeat.full):
        engine.forget()
        runs.append(engine.run())
    return Row.of(project.name, engine.name, WARM, runs[1:], len(project.steps))


def evaluation(project: Project, repeat: Repeat) -> Row:
    """BUILD files to commands from nothing, and no command run: compile_commands.json is all that is made."""
    engine = Scons(project)
    engine.build = project.folder / "evaluated"
    runs = []
    for _ in range(repeat.often):
        engine.forget()
        runs.append(engine.run("compiledb"))
    return Row.of(project.name, engine.name, EVALUATED, runs)


class _Turns:
    """Measures the cases of a project; within each the engines take turns, and who begins alternates."""

    def __init__(self, project: Project, engines: Sequence[Engine], say: Say) -> None:
        self.project = project
        self.engines = engines
        self.say = say
        self.rows: list[Row] = []

    def all(self, repeat: Repeat) -> list[Row]:
        source, deep = self.project.source, self.project.deep
        everything = len(self.project.steps)
        self._case(FULL, repeat.full, everything, before=lambda engine: engine.forget())
        for engine in self.engines:  # a first run after everything was built settles what the build itself moved
            engine.run()
        self._case(NOTHING, repeat.often, 0)
        if source:
            self._case(SOURCE, repeat.often, 1 if deep else None, turn=lambda: edit(source))
        if deep:
            self._case(DEEP, repeat.full, self.project.readers, turn=lambda: edit(deep))
        return self.rows

    def _case(
        self,
        case: str,
        times: int,
        expected: int | None,
        turn: Callable[[], object] = lambda: None,
        before: Callable[[Engine], object] = lambda engine: None,
    ) -> None:
        runs: dict[str, list[Run]] = {engine.name: [] for engine in self.engines}
        for number in range(times):
            turn()
            for engine in self.engines if number % 2 == 0 else reversed(self.engines):
                before(engine)
                runs[engine.name].append(engine.run())
        self.rows += _said([Row.of(self.project.name, name, case, made, expected) for name, made in runs.items()], self.say)


def _said(rows: list[Row], say: Say) -> list[Row]:
    for row in rows:
        say(row)
    return rows
