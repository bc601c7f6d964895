"""Owns the measuring of one process tree, and medians.

run = measured(["ninja"], cwd=folder, environment={})      # Run(wall=0.11, cpu=0.11, megabytes=74.2, ran=0)
row = Row.of("synthetic:6000", "ninja", "no-op", [run, run, run])
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litert_build.errors import BuildError

LAUNCHER = Path(__file__).with_name("launch.py")
_SCONS = re.compile(r"(\d+) actions run")
_NINJA = re.compile(r"^\[(\d+)/\d+\]", re.MULTILINE)
_BAZEL = re.compile(r"([\d,]+) process(?:es)?: (?:[\d,]+ action cache hit, )?([\d,]+) internal")
_RESTORED = re.compile(r"cache +(\d+) hits")


@dataclass(frozen=True)
class Run:
    """One run: seconds on the clock, seconds of processor time of the process and all it waited for, the largest process in MB, the
    commands that it says to have run (or taken from a cache)."""

    wall: float
    cpu: float
    megabytes: float
    ran: int


@dataclass(frozen=True)
class Row:
    """The medians of one case of one engine over one project, and the runs behind them. `expected` is how many commands had to run."""

    project: str
    engine: str
    case: str
    wall: float
    cpu: float
    megabytes: float
    ran: int
    expected: int | None = None
    runs: tuple[Run, ...] = ()

    @staticmethod
    def of(project: str, engine: str, case: str, runs: Sequence[Run], expected: int | None = None) -> Row:
        """Raises BuildError where there is no run, or where runs of the same case did different work."""
        where = f"{project}, {case}, {engine}"
        if not runs:
            raise BuildError("nothing was measured", where=where)
        counts = {run.ran for run in runs}
        if len(counts) > 1:
            raise BuildError(f"runs of one case ran {' and '.join(map(str, sorted(counts)))} commands", where=where)
        wall, cpu, megabytes = (statistics.median(getattr(run, field) for run in runs) for field in ("wall", "cpu", "megabytes"))
        return Row(project, engine, case, wall, cpu, megabytes, counts.pop(), expected, tuple(runs))


def measured(argv: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None) -> Run:
    """Run a build to its end. Raises BuildError with its last lines where it fails."""
    command = [sys.executable, "-I", str(LAUNCHER), shutil.which(argv[0]) or argv[0], *argv[1:]]
    done = subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    printed = done.stderr.decode(errors="replace")
    report = json.loads(done.stdout or '{"code": "none at all"}')
    if report["code"]:
        lines = printed.strip().splitlines()[-12:]
        raise BuildError(f"{argv[0]} ended with exit code {report['code']}", where=str(cwd), notes=lines)
    return Run(report["wall"], report["cpu"], report["megabytes"], commands_of(printed))


def commands_of(printed: str) -> int:
    """Return how many commands a build says to have run or restored: scons and Bazel in a summary, Ninja by its last status line."""
    if summary := _SCONS.search(printed):
        restored = _RESTORED.search(printed)
        return int(summary[1]) + (int(restored[1]) if restored else 0)
    if summary := _BAZEL.search(printed):
        processes, internal = (int(number.replace(",", "")) for number in summary.groups())
        return processes - internal
    return int((_NINJA.findall(printed) or ["0"])[-1])
