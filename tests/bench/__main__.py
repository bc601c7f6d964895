"""Owns the one command of the benchmark: everything that rebuilds are held to, beside Ninja on the same commands.

python -m tests.bench                                          # every row but TensorFlow Lite: about an hour on two idle cores
python -m tests.bench --quick                                  # 1,000 units, a minute
python -m tests.bench --rows synthetic:6000 clang --repeat 5 --json speed.json --plot speed.png
python -m tests.bench --rows bazel --bazel PROGRAM --bazel-rules FOLDER --also speed.json

The rows: synthetic:UNITS (a compiler that takes no time), plain:UNITS (SCons' own decider; minutes at 6,000), clang (LLVM's closure, with
that compiler), xnnpack, abseil and tflite (from nothing, with the real compiler), bazel (abseil). Seconds are medians and a trend; the
tests gate counts (tests/e2e/test_bench_counts.py).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "site_scons")]

from litert_build.errors import BuildError  # noqa: E402

from tests.bench.bazel import Bazel  # noqa: E402
from tests.bench.engines import ninja_program  # noqa: E402
from tests.bench.measure import Row  # noqa: E402
from tests.bench.report import load, machine, plot, read_rows, require_plot, table, write_json  # noqa: E402
from tests.bench.rows import Repeat, check_row, measure_row  # noqa: E402
from tests.bench.targets import verdicts  # noqa: E402
from tests.real.trees import cache_folder  # noqa: E402

ROWS = ("synthetic:1000", "synthetic:3000", "synthetic:6000", "synthetic:12000", "plain:1000", "clang", "xnnpack", "abseil", "bazel")


def main(words: list[str]) -> int:
    """Measure, print and keep; return 1 where a target is not met, 2 where an argument is wrong."""
    options = _parser().parse_args(words)
    names = options.rows or (["synthetic:1000"] if options.quick else ROWS)
    repeat = Repeat(1, 1) if options.quick else Repeat(options.repeat, options.full)
    bazel = Bazel(options.bazel, options.bazel_rules) if options.bazel else None
    rows: list[Row] = []
    try:
        names = [check_row(name) for name in names]
        for file in options.also:
            rows += read_rows(file)
        if options.plot:
            require_plot(options.plot)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    about = machine(ninja_program())
    skipped: dict[str, str] = {}
    for name in names:
        try:
            rows = latest([*rows, *_measured(name, repeat, bazel)])
        except (BuildError, OSError, subprocess.CalledProcessError) as error:  # the other rows can still be measured
            skipped[name] = str(error)
            print(error, file=sys.stderr)
        about["load at the end"] = load()
        if options.json:
            write_json(rows, verdicts(rows), about, skipped, options.json)
    judged = verdicts(rows)
    print(table(rows), *judged, *(f"not measured: {name}" for name in skipped), about, sep="\n")
    if options.plot:
        plot(rows, options.plot)
    return 0 if all(verdict.met for verdict in judged) else 1


def _measured(name: str, repeat: Repeat, bazel: Bazel | None) -> list[Row]:
    place = cache_folder().parent
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=place, ignore_cleanup_errors=True) as folder:
        return measure_row(name, Path(folder), repeat, say, bazel)


def latest(rows: list[Row]) -> list[Row]:
    """Return the last row of each case of an engine: what was measured anew takes the place of an earlier run's."""
    return list({(row.project, row.engine, row.case): row for row in rows}.values())


def say(row: Row) -> None:
    print(table([row]).splitlines()[-1], file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__, formatter_class=layout)
    parser.add_argument("--rows", nargs="+", metavar="ROW", help=f"what to measure (default: {' '.join(ROWS)})")
    parser.add_argument("--repeat", type=int, default=5, help="runs behind a median (default: 5)")
    parser.add_argument("--full", type=int, default=3, help="the same for builds that run everything (default: 3)")
    parser.add_argument("--quick", action="store_true", help="1,000 units, every case once")
    parser.add_argument("--bazel", default=shutil.which("bazel"), help="Bazel 7.7.1 (default: the installed one)")
    parser.add_argument("--bazel-rules", type=Path, default=Path("/usr/share/bazel"), help="folder of Debian's bazel-* packages")
    parser.add_argument("--also", type=Path, nargs="+", default=[], metavar="JSON", help="print rows of earlier runs too")
    parser.add_argument("--json", type=Path, help="keep everything that was measured")
    parser.add_argument("--plot", type=Path, help="draw it, as PNG; needs tests/bench/requirements.txt")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
