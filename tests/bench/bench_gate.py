"""How long all rules take on real hosts, and how much memory: one process a file, best of three.

python -m tests.bench.bench_gate

The figures to hold: a 131 MB ELF with 218,294 symbols, a 50 MB DLL and a 66 MB dylib in 1.5 s and 200 MB each.
"""

from __future__ import annotations

import subprocess
import sys

from tests.real import wheels

HOSTS = (
    ("litert_lm_api-0.18.1-py3-none-manylinux_2_27_x86_64", "liblitert-lm.so"),
    ("litert_lm_api-0.18.1-py3-none-manylinux_2_27_aarch64", "liblitert-lm.so"),
    ("litert_lm_api-0.18.1-py3-none-android_23_arm64_v8a", "liblitert-lm.so"),
    ("litert_lm_api-0.18.1-py3-none-win_amd64", "litert-lm.dll"),
    ("litert_lm_api-0.18.1-py3-none-macosx_12_0_arm64", "liblitert-lm.dylib"),
    ("litert_lm_api_nightly-0.19.0.dev20261026-py3-none-manylinux_2_27_x86_64", "liblitert-lm.so"),
)
PROBE = """
import resource, sys, time
from pathlib import Path
start = time.perf_counter()
from litert_build.checks.gate import check_host, release_policy
from litert_build.policy.targets import find_target
ready, busy = time.perf_counter(), time.process_time()
target = find_target(sys.argv[2])
report = check_host(Path(sys.argv[1]), target, release_policy("v0.18.1", target))
len(report.text), len(report.to_json())
wall, cpu = time.perf_counter() - ready, time.process_time() - busy
print(wall, cpu, ready - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(report.results))
"""


def main() -> None:
    """Print one line a host: seconds for all rules (wall and CPU), seconds to import, megabytes at the peak, number of rules."""
    print(f"{'library':55} {'MB':>6} {'seconds':>8} {'of CPU':>7} {'import':>7} {'peak MB':>8} {'rules':>5}")
    for wheel, name in HOSTS:
        path = wheels.library(wheel, name)
        argv = [sys.executable, "-c", PROBE, str(path), wheels.target_of(wheel)]
        runs = [[float(word) for word in subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()] for _ in range(3)]
        seconds, busy, start, peak, rules = min(runs)
        label = f"{wheel.split('-')[1]} {wheels.target_of(wheel)}/{name}"
        print(f"{label:55} {path.stat().st_size / 1e6:6.1f} {seconds:8.2f} {busy:7.2f} {start:7.2f} {peak:8.0f} {rules:5.0f}")


if __name__ == "__main__":
    main()
