"""How long BUILD files take to load: nothing kept, compiled files kept, evaluated packages kept. One process a figure, medians.

python -m tests.bench.bench_loading --repeat 5

The figures to hold: all 988 packages of tensorflow in 6 s cold and 1 s from the cache, clang's closure analyzed in 4 s cold.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

PROBE = """
import sys, time
from pathlib import Path
from litert_build.bazel.analysis import Analyzer, on_deep_stack
from litert_build.policy.targets import find_target
from litert_build.sources.trees import materialize
from tests.real.cases import CASES

name, folder, everything = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "packages"
case = CASES[name]
lock = case.lock(case.snapshot().provenance["roots"])
trees = materialize(lock, store=folder / "store", overlays_dir=folder / "overlays", offline=True)
root = trees[case.main]
files = [file for file in root.rglob("BUILD*") if everything and file.name in ("BUILD", "BUILD.bazel")]
names = {file.parent.relative_to(root).as_posix().removeprefix(".") for file in files}

def work():
    analyzer = Analyzer(lock, trees, find_target("linux-x64"), "gcc", "gcc", folder / "cache")
    if everything:
        return sum(len(analyzer.packages.load("", name).targets) for name in sorted(names))
    return len(analyzer.run().actions)

start, busy = time.perf_counter(), time.process_time()
found = on_deep_stack(work)
print(time.perf_counter() - start, time.process_time() - busy, found)
"""
CASES = (("tflite", "packages", "tensorflow, 988 packages, targets"), ("clang", "closure", "clang, its closure analyzed, actions"))
STATES = {"nothing kept": ("code", "packages"), "code kept": ("packages",), "packages kept": ()}  # what is removed before each run


def main() -> None:
    """Print one line a case and state: wall and CPU seconds, and what was found."""
    top = Path(__file__).resolve().parents[2]
    paths = {**os.environ, "PYTHONPATH": f"{top / 'site_scons'}{os.pathsep}{top}"}
    parser = argparse.ArgumentParser(description="Times the loading of BUILD files.")
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print(f"{'case':38} {'state':14} {'seconds':>8} {'of CPU':>7} {'found':>6}")
    for name, what, label in CASES:
        times: dict[str, list[list[float]]] = {state: [] for state in STATES}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(repeat):
                for state, removed in STATES.items():
                    for part in removed:
                        shutil.rmtree(Path(folder, "cache", part), ignore_errors=True)
                    run = subprocess.run(
                        [sys.executable, "-c", PROBE, name, folder, what], check=True, capture_output=True, text=True, env=paths
                    )
                    times[state].append([float(word) for word in run.stdout.split()])
        for state, runs in times.items():
            wall, busy, found = map(median, zip(*runs))
            print(f"{label:38} {state:14} {wall:8.2f} {busy:7.2f} {found:6.0f}")


if __name__ == "__main__":
    main()
