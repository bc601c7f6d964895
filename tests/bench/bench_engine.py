"""Owns the comparison of the build engine with Ninja on the same commands: null builds, one edit, a deep header, everything, a warm cache.

python -m tests.bench.bench_engine --units 1000 6000 --repeat 5 --json results.json --plot results.png

Both run the commands of compile_commands.json with the same stub compiler, so that what is measured is the engine. Seconds are medians
and a trend; the tests gate counts (tests/e2e/test_bench_counts.py).
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.synthetic import Synthetic
from tests.e2e.engine import REPOSITORY


@dataclass(frozen=True)
class Run:
    """One measured process tree: seconds on the clock and of processor time, and the largest process in MB."""

    wall: float
    cpu: float
    megabytes: float


@dataclass(frozen=True)
class Row:
    """The medians of one case."""

    units: int
    engine: str
    case: str
    wall: float
    cpu: float
    megabytes: float


class Engine:
    """One build tool over a synthetic project."""

    name = ""

    def __init__(self, project: Synthetic) -> None:
        self.project = project

    def argv(self) -> list[str]:
        raise NotImplementedError

    def cwd(self) -> Path:
        raise NotImplementedError

    def forget(self) -> None:
        raise NotImplementedError

    def run(self) -> Run:
        """Run one build. Raises CalledProcessError where it fails."""
        begin = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(self.argv(), cwd=self.cwd(), stdout=output, stderr=output)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                output.seek(0)
                raise RuntimeError(f"{self.name} failed:\n{output.read().decode()[-2000:]}")
        return Run(time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


class Scons(Engine):
    """This project's SCons."""

    name = "scons"
    extra: tuple[str, ...] = ()

    def argv(self) -> list[str]:
        folder = self.project.folder
        tools = (f"cc={folder / 'bin/gcc'}", f"cxx={folder / 'bin/g++'}", f"lock={folder / 'lock.json'}", f"build_dir={folder / 'build'}")
        return [sys.executable, "-m", "SCons", "-Q", "-j2", "offline=yes", f"store={folder / 'store'}", *tools, *self.extra]

    def cwd(self) -> Path:
        return REPOSITORY

    @property
    def root(self) -> Path:
        return self.project.folder / "build" / "linux-x64" / "bench"

    def forget(self) -> None:
        shutil.rmtree(self.project.folder / "build", ignore_errors=True)


class PlainScons(Scons):
    """SCons with its own scanner, signatures and content decider."""

    name = "plain scons"
    extra = ("incremental=off",)


class CachedScons(Scons):
    """The same with all objects in the shared cache."""

    name = "scons, warm cache"

    def argv(self) -> list[str]:
        return [*super().argv(), f"cache={self.project.folder / 'cache'}"]


class Ninja(Engine):
    """Ninja over the commands that the project's compile_commands.json lists."""

    name = "ninja"

    def argv(self) -> list[str]:
        return [shutil.which("ninja") or "ninja", "-j2", "-f", str(self.project.folder / "build.ninja")]

    def cwd(self) -> Path:
        return self.project.folder / "ninja"

    def forget(self) -> None:
        """Write the Ninja file and the links of the execution root anew."""
        root = self.cwd()
        shutil.rmtree(root, ignore_errors=True)
        (root / "bazel-out").mkdir(parents=True)
        for entry in self.project.tree.iterdir():
            (root / entry.name).symlink_to(entry)
        entries = json.loads((self.project.folder / "compile_commands.json").read_text())
        lines = ["rule cxx", "  command = $argv", "  depfile = $out.d", "  deps = gcc"]
        for entry in entries:
            argv = list(entry["arguments"])
            argv[argv.index("-MF") + 1] = f"{entry['output']}.d"
            lines += [f"build {entry['output']}: cxx {entry['file']}", f"  argv = {shlex.join(argv).replace('$', '$$')}"]
        (self.project.folder / "build.ninja").write_text("\n".join(lines) + "\n")


def measure(project: Synthetic, engine: Engine, repeat: int, *, full: int = 1) -> list[Row]:
    """Return the medians of every case of one engine."""
    count = len(project.units)
    source, deep = project.tree / project.units[count // 2], project.tree / project.deep_header

    def edit(file: Path) -> None:
        file.write_text(file.read_text() + f"// {time.time_ns()}\n")

    rows = []

    def case(name: str, before: Callable[[], object], times: int) -> None:
        runs = []
        for _ in range(times):
            before()
            runs.append(engine.run())
        medians = (statistics.median(getattr(run, field) for run in runs) for field in ("wall", "cpu", "megabytes"))
        rows.append(Row(count, engine.name, name, *medians))
        print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)

    case("full build", engine.forget, full)
    engine.run()
    case("no-op", lambda: None, repeat)
    case("one source", lambda: edit(source), repeat)
    case("deep header", lambda: edit(deep), full)
    return rows


def compare(folder: Path, units: int, repeat: int, *, plain: bool) -> list[Row]:
    """Make a project of `units` units and measure the engines side by side."""
    project = Synthetic.make(folder, units)
    scons = Scons(project)
    subprocess.run([*scons.argv(), "compiledb"], cwd=scons.cwd(), check=True, stdout=subprocess.DEVNULL)
    rows = measure(project, scons, repeat)
    rows += measure(project, Ninja(project), repeat)
    cached = CachedScons(project)
    cached.forget()
    cached.run()
    cached.forget()
    run = cached.run()
    rows.append(Row(units, cached.name, "full build", run.wall, run.cpu, run.megabytes))
    if plain:
        rows += measure(project, PlainScons(project), 1)
    return rows


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| units | engine | case | wall s | CPU s | MB |", "|---|---|---|---|---|---|"]
    lines += [f"| {row.units} | {row.engine} | {row.case} | {row.wall:.2f} | {row.cpu:.2f} | {row.megabytes:.0f} |" for row in rows]
    return "\n".join(lines)


def plot(rows: list[Row], file: Path) -> None:
    """Draw the wall time of each case over the number of units."""
    import matplotlib.pyplot as pyplot

    cases = list(dict.fromkeys(row.case for row in rows))
    figure, axes = pyplot.subplots(1, len(cases), figsize=(4 * len(cases), 3.5))
    for axis, case in zip(axes, cases):
        for engine in dict.fromkeys(row.engine for row in rows):
            points = [(row.units, row.wall) for row in rows if (row.engine, row.case) == (engine, case)]
            axis.plot(*zip(*points), marker="o", label=engine) if points else None
        axis.set(title=case, xlabel="units", ylabel="s", ylim=(0, None))
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[1000])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--plain", action="store_true", help="measure plain SCons too: minutes at 6,000 units")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    for units in options.units:
        with tempfile.TemporaryDirectory() as folder:
            rows += compare(Path(folder), units, options.repeat, plain=options.plain)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
