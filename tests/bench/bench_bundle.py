"""Times a bundle of a 130 MB host, made and verified, beside tar, gzip -6 and sha256sum on the same file.

    .venv/bin/python tests/bench/bench_bundle.py [rounds]

The host is a real library that passes the real gate; its bulk is machine code of this machine's own programs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "site_scons"), str(ROOT)]

from litert_build.bundles.bundle import make_bundle  # noqa: E402
from litert_build.bundles.verify import verify_bundle  # noqa: E402
from litert_build.checks.gate import check_host  # noqa: E402
from litert_build.checks.model import GatePolicy  # noqa: E402
from litert_build.policy.targets import find_target  # noqa: E402

from tests.unit.bundle_samples import lock_file, sample_request  # noqa: E402

SIZE = 130_000_000
SOURCE = """
#include <string>
#include <unordered_map>
__asm__(".section .rodata\\n.incbin \\"bulk\\"\\n.previous\\n");
static std::unordered_map<std::string, int> seen;
extern "C" int litert_lm_engine_create(const char* name) { return ++seen[name]; }
extern "C" int litert_lm_asr_abi_version() { return 1; }
"""
FLAGS = [
    "-static-libstdc++",
    "-static-libgcc",
    "-Wl,-z,now",
    "-Wl,-rpath,$ORIGIN",
    "-Wl,-soname,libLiteRtLm.so",
    "-Wl,--version-script=map",
]


def bulk() -> bytes:
    """Bytes of programs and libraries of this machine, SIZE of them."""
    content = bytearray()
    for folder in ("/usr/lib/gcc", "/usr/lib/x86_64-linux-gnu", "/usr/bin"):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and not path.is_symlink() and path.stat().st_size > 200_000 and path.suffix != ".a":
                content += path.read_bytes()
            if len(content) >= SIZE:
                return bytes(content[:SIZE])
    return bytes((content * (SIZE // len(content) + 1))[:SIZE])


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "bulk").write_bytes(bulk())
        (folder / "map").write_text("{ global: litert_lm_*; local: *; };")
        argv = ["g++", "-O1", "-fPIC", "-shared", "-x", "c++", "-", "-o", "libLiteRtLm.so", *FLAGS]
        subprocess.run(argv, cwd=folder, input=SOURCE, text=True, check=True)
        host, lock = folder / "libLiteRtLm.so", lock_file(folder)
        report = check_host(host, find_target("linux-x64"), GatePolicy(required=lock.product.required))
        request = sample_request(folder, lock=lock, host=host, facts=report.facts, gate=json.loads(report.to_json()))
        script = "tar cf - libLiteRtLm.so | gzip -6 > x.tar.gz && sha256sum libLiteRtLm.so x.tar.gz > sums"
        rows: dict[str, list[float]] = {"make": [], "verify": [], "tar, gzip -6, sha256sum": []}
        for _ in range(rounds):
            rows["make"].append(timed(lambda: make_bundle(request)))
            rows["verify"].append(timed(lambda: verify_bundle(request.output / "litert-lm-native-runtime-linux-x64-sample.tar.gz")))
            rows["tar, gzip -6, sha256sum"].append(timed(lambda: subprocess.run(["sh", "-c", script], cwd=folder, check=True)))
        sizes = {path.name: path.stat().st_size for path in (host, folder / "x.tar.gz", *request.output.glob("*.tar.gz"))}
    for name, seconds in rows.items():
        print(f"{name:<26} median {statistics.median(seconds):6.2f} s   {' '.join(f'{second:.2f}' for second in seconds)}")
    medians = {name: statistics.median(seconds) for name, seconds in rows.items()}
    print(f"make + verify is {(medians['make'] + medians['verify']) / medians['tar, gzip -6, sha256sum']:.2f} of the shell's time")
    print(f"{os.cpu_count()} cores; " + "; ".join(f"{name} {size:,} bytes" for name, size in sizes.items()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
