"""Damaged files of every format: each read ends in facts, which all rules can judge, or in one BuildError.

GATE_FUZZ=50000 pytest tests/unit/test_binaries_fuzz.py runs that many examples a seed instead of the few that CI affords. A read that
takes five seconds of processor time, or a gigabyte beyond what the process had, fails by a signal or a MemoryError.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from litert_build.binaries.disassembly import call_order
from litert_build.binaries.reader import read_binary
from litert_build.checks.gate import check_context
from litert_build.checks.model import Context, GatePolicy
from litert_build.errors import BuildError
from litert_build.policy.targets import TARGETS

EXAMPLES = int(os.environ.get("GATE_FUZZ", "150"))
SECONDS, BYTES = 5, 1 << 30
with zipfile.ZipFile(Path(__file__).with_name("test_binaries_seeds.zip")) as _archive:
    SEEDS = {name: _archive.read(name) for name in _archive.namelist()}
TARGET = {".so": "linux-x64", ".dll": "windows-x64", ".dylib": "macos-arm64"}
WORDS = [0, 1, 2, 7, 8, 0x7F, 0xFF, 0x100, 0xFFF, 0x1000, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]

positions = st.one_of(st.integers(0, 1023), st.integers(0, 1 << 17))
edits = st.one_of(
    st.tuples(st.just("byte"), positions, st.integers(0, 255)),
    st.tuples(st.just("half"), positions, st.sampled_from(WORDS)),
    st.tuples(st.just("word"), positions, st.sampled_from(WORDS)),
    st.tuples(st.just("wide"), positions, st.sampled_from(WORDS)),
    st.tuples(st.just("offset"), positions, positions),
    st.tuples(st.just("copy"), positions, positions),
    st.tuples(st.just("zero"), positions, st.integers(1, 64)),
    st.tuples(st.just("fill"), positions, st.integers(1, 4096)),
    st.tuples(st.just("cut"), positions, st.just(0)),
)


def damage(data: bytes, changes: list[tuple[str, int, int]]) -> bytes:
    """Apply edits to a copy: fields overwritten, blocks copied, zeroed or filled with letters, the end cut off."""
    out = bytearray(data)
    for kind, place, value in changes:
        at = place % max(len(out), 1)
        if kind == "byte":
            out[at : at + 1] = bytes([value])
        elif kind in ("half", "word", "wide", "offset"):
            size = {"half": 2, "word": 4, "wide": 8, "offset": 4}[kind]
            at -= at % size
            packed = struct.pack("<Q", value % max(len(out), 1) if kind == "offset" else value)[:size]
            out[at : at + size] = packed
        elif kind == "copy":
            start = value % max(len(out), 1)
            out[at : at + 64] = out[start : start + 64]
        elif kind in ("zero", "fill"):
            length = min(value, len(out) - at)
            out[at : at + length] = (b"\0" if kind == "zero" else b"A") * length
        else:
            del out[at:]
    return bytes(out)


@pytest.fixture(autouse=True)
def memory() -> Iterator[None]:
    """Bound the address space to a gigabyte beyond what the process already has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def alarm() -> Iterator[None]:
    """Raise TimeoutError where the body takes more processor time: a busy machine is no hang."""

    def ring(*_: object) -> None:
        raise TimeoutError(f"not done in {SECONDS} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


FOUND = {
    "a chain of version records that never ends": ("small-arm64.so", [("byte", 1794, 1)]),
    "version definitions without the table of indices": (
        "small-arm64.so", [("byte", 2330, 163), ("half", 905, 1), ("byte", 87, 20), ("byte", 1722, 158)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", list(FOUND))
def test_damage_that_was_found_once_stays_harmless(what: str, tmp_path: Path) -> None:
    name, changes = FOUND[what]
    path = tmp_path / name
    path.write_bytes(damage(SEEDS[name], changes))
    with alarm(), contextlib.suppress(BuildError):
        assert read_binary(path).format == "elf"


@pytest.mark.parametrize("name", list(SEEDS))
def test_a_damaged_file_ends_in_facts_or_in_one_error(name: str) -> None:
    counts = {"facts": 0, "error": 0}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder) / name

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(edits, min_size=1, max_size=6))
        def judge(changes: list[tuple[str, int, int]]) -> None:
            path.write_bytes(damage(SEEDS[name], changes))
            with alarm():
                try:
                    facts = read_binary(path, "arm64")
                except BuildError as error:
                    assert error.what and error.where == str(path)
                    counts["error"] += 1
                    return
                context = Context(facts, TARGETS[TARGET[path.suffix]], GatePolicy(required=("plain",)))
                assert check_context(context).text
                if path.suffix == ".so":
                    with contextlib.suppress(BuildError):
                        call_order(path, re.compile("plain"), {"outside": re.compile("outside")})
                counts["facts"] += 1

        judge()
    print(f"{name}: {counts['facts']} ended in facts, {counts['error']} in an error")
    assert counts["facts"] and counts["error"]
