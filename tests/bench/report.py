"""Owns what the benchmark prints and keeps: the table, the verdicts, JSON and the plot.

print(table(rows))
write_json(rows, verdicts(rows), machine(), Path("speed.json"))
plot(rows, Path("speed.png"))          # needs tests/bench/requirements.txt
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from litert_build.errors import BuildError

from tests.bench.measure import Row, Run
from tests.bench.targets import Verdict

COLUMNS = "| project | case | engine | wall s | CPU s | peak MB | ran | wall over Ninja's | CPU over Ninja's |"
ENGINES = {"scons": "#2a6f97", "ninja": "#e07a5f", "plain scons": "#8d99ae", "bazel 7.7.1": "#81b29a"}
LABELS = {"scons": "this build", "ninja": "Ninja", "plain scons": "plain SCons", "bazel 7.7.1": "Bazel 7.7.1"}
CASES = ("no-op", "one source", "deep header", "full build", "warm cache")


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table, each beside Ninja's row of the same case."""
    found = {(row.project, row.case): row for row in rows if row.engine == "ninja"}
    lines = [COLUMNS, "|---" * (COLUMNS.count("|") - 1) + "|"]
    for row in rows:
        ninja = None if row.engine == "ninja" else found.get((row.project, row.case))
        ratios = [_ratio(getattr(row, field), getattr(ninja, field)) if ninja else "" for field in ("wall", "cpu")]
        measured = f"{row.wall:.2f} | {row.cpu:.2f} | {row.megabytes:.0f} | {row.ran}"
        lines.append(f"| {row.project} | {row.case} | {row.engine} | {measured} | {ratios[0]} | {ratios[1]} |")
    return "\n".join(lines)


def _ratio(value: float, other: float) -> str:
    return f"{value / other:.2f}" if other else ""


def machine(ninja: str) -> dict[str, Any]:
    """Return what the figures depend on: the processors and their load at the start, the versions."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load": load(),
        "python": platform.python_version(),
        "scons": version("scons"),
        "ninja": subprocess.run([ninja, "--version"], capture_output=True, text=True, check=False).stdout.strip(),
        "gcc": subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip(),
    }


def load() -> list[float]:
    return [round(value, 2) for value in os.getloadavg()]


def write_json(rows: Sequence[Row], judged: Sequence[Verdict], about: dict[str, Any], skipped: dict[str, str], file: Path) -> None:
    """Write everything: each row with all its runs, the verdicts, the machine, and why a row is missing."""
    targets = [{**asdict(verdict), "met": verdict.met} for verdict in judged]
    document = {"machine": about, "rows": [asdict(row) for row in rows], "targets": targets, "skipped": skipped}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read_rows(file: Path) -> list[Row]:
    """Return the rows that write_json kept. Raises BuildError where the file holds none."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))["rows"]
        return [Row(**{**row, "runs": tuple(Run(**run) for run in row["runs"])}) for row in kept]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BuildError("no rows of an earlier run", where=str(file), mend="name a file that --json has made") from error


def require_plot(file: Path) -> None:
    """Raises BuildError where matplotlib is not installed: better now than after an hour."""
    if importlib.util.find_spec("matplotlib") is None:
        mend = "pip install --require-hashes -r tests/bench/requirements.txt"
        raise BuildError("matplotlib is not installed", where=str(file), mend=mend)


def plot(rows: Sequence[Row], file: Path) -> None:
    """Draw the cases of the largest synthetic project that has six thousand units or fewer, how a null build grows, and the real trees."""
    import matplotlib
    from PIL import Image  # one of matplotlib's own requirements

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    sizes = sorted({int(row.project.partition(":")[2]) for row in rows if row.project.startswith("synthetic:")})
    chosen = max((size for size in sizes if size <= 6000), default=0)
    figure, axes = pyplot.subplot_mosaic("AAB;CCC", figsize=(10, 7), layout="constrained")
    synthetic = [row for row in rows if row.project == f"synthetic:{chosen}"]
    _bars(axes["A"], synthetic, f"{chosen:,} units of 300 headers each, a compiler that takes no time")
    null = [row for row in rows if row.case == "no-op" and row.project.startswith("synthetic:")]
    _lines(axes["B"], null, sizes)
    trees = [Row(**{**_fields(row), "case": _title(row)}) for row in rows if ":" not in row.project]
    _bars(axes["C"], sorted(trees, key=lambda row: row.case.splitlines()[0]), "real trees; clang with a compiler that takes no time")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=100)
    pyplot.close(figure)
    Image.open(file).convert("RGB").quantize(64).save(file, optimize=True)  # a quarter of the size


def _fields(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("project", "engine", "wall", "cpu", "megabytes", "ran")}


def _title(row: Row) -> str:
    project = "abseil" if row.project == "bazel" else row.project
    return f"{project}\n{row.case.replace('full build', 'from nothing').replace(', ', chr(10))}"


def _bars(axis: Any, rows: Sequence[Row], title: str) -> None:
    """Draw a group of bars for each case, a bar an engine; seconds on a logarithmic scale, written over each bar."""
    present = dict.fromkeys(row.case for row in rows)
    names = sorted(present, key=lambda name: CASES.index(name) if name in CASES else 0)
    engines = [engine for engine in ENGINES if any(row.engine == engine for row in rows)]
    beside = {name: [engine for engine in engines if any((row.engine, row.case) == (engine, name) for row in rows)] for name in names}
    width = 0.8 / max(1, *map(len, beside.values())) if beside else 0.8
    for engine in engines:
        found = {row.case: row.wall for row in rows if row.engine == engine}
        places = [names.index(case) + (beside[case].index(engine) - (len(beside[case]) - 1) / 2) * width for case in found]
        bars = axis.bar(places, list(found.values()), width, color=ENGINES[engine], label=LABELS[engine])
        axis.bar_label(bars, [f"{value:.3g}" for value in found.values()], fontsize=7, padding=1)
    axis.set_xticks(range(len(names)), names, fontsize=8)
    axis.set_yscale("log")
    axis.margins(y=0.2)
    axis.set_ylabel("seconds on the clock")
    axis.set_title(title, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    if engines:
        axis.legend(fontsize=8, frameon=False)


def _lines(axis: Any, rows: Sequence[Row], sizes: Sequence[int]) -> None:
    """Draw what a null build takes over the number of units, both on logarithmic scales."""
    for engine in ENGINES:
        points = sorted((int(row.project.partition(":")[2]), row.wall) for row in rows if row.engine == engine)
        if points:
            axis.plot(*zip(*points), marker="o", color=ENGINES[engine], label=LABELS[engine])
            axis.annotate(f"{points[-1][1]:.2f}", points[-1], textcoords="offset points", xytext=(4, 4), fontsize=7)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8)
    axis.xaxis.minorticks_off()
    axis.set_xlabel("units")
    axis.set_ylabel("seconds on the clock")
    axis.set_title("no-op", fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    if rows:
        axis.legend(fontsize=8, frameon=False)
