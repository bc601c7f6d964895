"""Owns the small inputs of the bundle tests: a lock, a gate report, and files with the headers of each platform's libraries.

request = sample_request(tmp_path)          # a bundle of the sample for linux-x64
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from litert_build.binaries.facts import BinaryFacts, Symbol
from litert_build.bundles.bundle import BundleRequest, ToolchainUse, is_library
from litert_build.bundles.layout import Layout
from litert_build.checks.model import GatePolicy
from litert_build.policy.targets import Target, find_target
from litert_build.sources.lock import Lock

COMMIT = "924e79c91542761242244e4f1651851f822e4cbb"
REQUIRED = ("litert_lm_engine_create", "litert_lm_asr_abi_version")
TOOLCHAIN = ToolchainUse("gcc", "gcc; g++ 12.2.0 sha256:ab", "libstdc++, static")


def elf(machine: int = 62, kind: int = 3, body: bytes = b"payload") -> bytes:
    """A 64-bit ELF header (System V gABI, figure 4-3) whose section table ends where the file does."""
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    end = 64 + len(body)
    return ident + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 0, end, 0, 64, 0, 0, 0, 0, 0) + body


def pe(machine: int = 0x8664, flags: int = 0x2022) -> bytes:
    """A PE file with one section of 64 bytes."""
    head = b"MZ" + bytes(58) + struct.pack("<I", 64)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, 0, flags)
    section = b".text\0\0\0" + struct.pack("<IIII", 64, 0x1000, 64, 256) + bytes(16)
    return (head + coff + section).ljust(256, b"\0") + b"\xc3" * 64


def macho(cpu: int = 0x0100000C, platform: int = 2, minimum: tuple[int, int] = (16, 0), kind: int = 6) -> bytes:
    """A 64-bit Mach-O library with LC_BUILD_VERSION alone."""
    command = struct.pack("<6I", 0x32, 24, platform, minimum[0] << 16 | minimum[1] << 8, 0, 0)
    return struct.pack("<8I", 0xFEEDFACF, cpu, 0, kind, 1, len(command), 0, 0) + command


LIBRARIES = {
    "android-arm64": elf(183),
    "android-x64": elf(),
    "ios-arm64": macho(),
    "ios-arm64-sim": macho(platform=7),
    "linux-arm64": elf(183),
    "linux-x64": elf(),
    "macos-arm64": macho(platform=1, minimum=(14, 0)),
    "macos-x64": macho(cpu=0x01000007, platform=1, minimum=(14, 0)),
    "windows-x64": pe(),
}


def lock_file(folder: Path, ref: str = "sample", commit: str = "") -> Lock:
    """A lock as small as the schema allows."""
    file = folder / f"{ref}.json"
    document = {
        "schema": 1,
        "ref": ref,
        "commit": commit,
        "main": "litert_lm",
        "repositories": {"litert_lm": {"path": "."}},
        "roots": ["//c:engine"],
        "product": {"kind": "host", "required": list(REQUIRED), "allowed": ["litert_lm_stream_chunk_*"]},
    }
    file.write_text(json.dumps(document), encoding="utf-8")
    return Lock.read(file)


def gate(target: str, host: Path) -> dict[str, Any]:
    """The content of a checks.json that passed."""
    rule = {"id": "imports", "title": "no LiteRT import", "status": "passed", "summary": "4 libraries", "findings": [], "waived": []}
    return {"schema": 1, "file": "lib", "target": target, "passed": True, "facts": _identity(host), "rules": [rule]}


def _identity(host: Path) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(host.read_bytes()).hexdigest(), "bytes": host.stat().st_size}


def facts(file: Path) -> BinaryFacts:
    """Facts of a host that needs two glibc versions."""
    needs = {"libc.so.6": ("GLIBC_2.4", "GLIBC_2.17"), "libgcc_s.so.1": ("GCC_3.0",)}
    exports = tuple(Symbol(name) for name in ("litert_lm_asr_abi_version", "litert_lm_stream_chunk_get_text"))
    size = file.stat().st_size
    return BinaryFacts(file, size, "elf", "x64", "shared", version_needs=needs, sections=((".text", 7), (".data", 2)), exports=exports)


def sample_request(folder: Path, target: Target | None = None, **changes: Any) -> BundleRequest:
    """A request for the sample's bundle, or with `lock=`, `tag=` and so on for another."""
    target = target or find_target("linux-x64")
    host = changes.get("host") or folder / target.library
    if "host" not in changes:
        host.write_bytes(LIBRARIES[target.name])
    values: dict[str, Any] = {
        "target": target,
        "tag": "sample",
        "lock": changes.get("lock") or lock_file(folder),
        "host": host,
        "gate": gate(target.name, host),
        "toolchain": TOOLCHAIN,
        "output": folder / "out",
        "facts": changes.get("facts") or facts(host),
    }
    return BundleRequest(**(values | changes))


def fill(folder: Path, rows: Layout) -> Path:
    """Write every companion of a layout; the pinned ones cannot have their real bytes here."""
    library = LIBRARIES[f"{rows.platform}-{rows.arch}"]
    for row in rows.companions:
        if row.file.endswith(".framework"):
            (folder / row.file).mkdir(parents=True)
            (folder / row.file / "Info.plist").write_bytes(b"<plist/>")
            (folder / row.file / row.file.removesuffix(".framework")).write_bytes(library)
        else:
            folder.mkdir(exist_ok=True)
            (folder / row.file).write_bytes(library)
    return folder


def pin_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any bytes stand for the pinned companions, whose real ones cannot be here."""
    monkeypatch.setattr("litert_build.bundles.bundle.pinned_digests", lambda *_: {})
    monkeypatch.setattr("litert_build.bundles.manifest.overrides", lambda *_: ())


def lenient(folder: Path, target: Target, policy: GatePolicy) -> list[Any]:
    """A gate that passes every library, for files that are headers alone."""
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    return [SimpleNamespace(name=name, passed=True, text="") for name in names if is_library(name)]
