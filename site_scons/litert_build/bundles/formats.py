"""Owns the refusal of files that are no library of their target: Git LFS pointers, truncated files, other formats and architectures.

check_library(Path("libLiteRt.so"), "linux", "x64")

Only headers are read here: ELF (System V gABI, figure 4-3), PE (PE/COFF 3 and 4), Mach-O (loader.h). The rules over what a library
imports and exports are litert_build.checks'.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from litert_build.binaries.reader import lfs_error
from litert_build.errors import BuildError

LFS_MAGIC = b"version https://git-lfs.github.com/spec/"
FORMAT = {"linux": "ELF", "android": "ELF", "windows": "PE", "macos": "Mach-O", "ios": "Mach-O"}
_ELF_MACHINES = {62: "x64", 183: "arm64", 3: "x86", 40: "arm", 243: "riscv64"}
_PE_MACHINES = {0x8664: "x64", 0xAA64: "arm64", 0x14C: "x86"}
_MACHO_CPUS = {0x01000007: "x64", 0x0100000C: "arm64"}
_HEAD = 4096


@dataclass(frozen=True)
class Format:
    """What the headers say: format and architectures (several in a universal Mach-O), and the size in bytes the file must at least have."""

    name: str
    arches: tuple[str, ...]
    least: int


def check_library(path: Path, platform: str, arch: str) -> None:
    """Raise BuildError where `path` is a Git LFS pointer, is truncated, or is not a library for `platform` and `arch`."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        size = path.stat().st_size
    except OSError as error:
        raise BuildError(f"cannot read: {error.strerror}", where=str(path)) from error
    if head.startswith(LFS_MAGIC):
        raise lfs_error(path, head)
    found = read_format(head)
    wanted = f"{FORMAT[platform]} library for {arch}"
    if found is None:
        raise BuildError(f"is no library: it starts with {head[:8].hex(' ') or 'nothing'}", where=str(path), mend=f"supply the {wanted}")
    if found.name != FORMAT[platform] or arch.partition("-")[0] not in found.arches:
        raise BuildError(
            f"is {found.name} for {', '.join(found.arches)}, not {FORMAT[platform]} for {arch}",
            where=str(path),
            mend=f"supply the {wanted}",
        )
    if size < found.least:
        raise BuildError(f"is truncated: {size} bytes of at least {found.least}", where=str(path), mend="fetch or build it again")


def read_format(head: bytes) -> Format | None:
    """Return what the first bytes of a file say of it, or None where they are those of no library."""
    try:
        if head[:5] == b"\x7fELF\x02":
            return _elf(head)
        if head[:2] == b"MZ":
            return _pe(head)
        if head[:4] in (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"):
            return _macho(head)
    except struct.error:
        return None
    return None


def _elf(head: bytes) -> Format:
    kind, machine = struct.unpack_from("<HH", head, 16)
    (sections,) = struct.unpack_from("<Q", head, 40)
    entry, count = struct.unpack_from("<HH", head, 58)
    name = "ELF" if kind == 3 else f"ELF of type {kind}"
    return Format(name, (_ELF_MACHINES.get(machine, f"machine {machine}"),), sections + entry * count)


def _pe(head: bytes) -> Format | None:
    (start,) = struct.unpack_from("<I", head, 0x3C)
    signature, machine, count = struct.unpack_from("<4sHH", head, start)
    if signature != b"PE\0\0":
        return None
    optional, flags = struct.unpack_from("<HH", head, start + 20)
    table = start + 24 + optional
    ends = [sum(struct.unpack_from("<II", head, table + 40 * index + 16)) for index in range(count)]
    name = "PE" if flags & 0x2000 else "PE program"
    return Format(name, (_PE_MACHINES.get(machine, f"machine {machine:#x}"),), max(ends, default=0))


def _macho(head: bytes) -> Format:
    if head[:4] == b"\xca\xfe\xba\xbe":
        (count,) = struct.unpack_from(">I", head, 4)
        slices = [struct.unpack_from(">IIIII", head, 8 + 20 * index) for index in range(min(count, 100))]
        return Format("Mach-O", tuple(_cpu(row[0]) for row in slices), max((row[2] + row[3] for row in slices), default=0))
    _, cpu, _, kind, count, _, _, _ = struct.unpack_from("<8I", head)
    least, offset = 0, 32
    for _ in range(count):
        if offset + 56 > len(head):
            break
        command, size = struct.unpack_from("<II", head, offset)
        if command == 0x19:
            least = max(least, sum(struct.unpack_from("<QQ", head, offset + 40)))
        offset += size
    return Format("Mach-O" if kind == 6 else f"Mach-O of type {kind}", (_cpu(cpu),), least)


def _cpu(cpu: int) -> str:
    return _MACHO_CPUS.get(cpu, f"cpu {cpu:#x}")
