"""Owns opening a binary of unknown format.

read_binary(Path("libLiteRtLm.dylib"), "arm64").format      # 'macho'
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from litert_build.binaries.elf import read_elf
from litert_build.binaries.evidence import find_evidence
from litert_build.binaries.facts import BinaryFacts
from litert_build.binaries.macho import read_macho, slices
from litert_build.binaries.pe import read_pe
from litert_build.binaries.window import Window
from litert_build.errors import BuildError

_LFS = b"version https://git-lfs.github.com/spec/"
_MACHO = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")


def read_binary(file: Path, arch: str = "") -> BinaryFacts:
    """Return the facts of a linked file; of a fat Mach-O the slice of `arch`, or its first where it has none of that name.

    Raises BuildError for a damaged file, a Git LFS pointer (with its oid) and everything else that is no ELF, PE or Mach-O.
    """
    with Window.open(file) as window:
        head = window.read(0, min(window.size, 1024))
        if head.startswith(_LFS):
            raise lfs_error(file, head)
        if head.startswith(b"\x7fELF"):
            facts = read_elf(window)
        elif head.startswith(b"MZ"):
            facts = read_pe(window)
        elif head[:4] in _MACHO:
            parts = slices(window)
            window = parts.get(arch, next(iter(parts.values())))
            facts = dataclasses.replace(read_macho(window), slices=tuple(parts))
        else:
            raise BuildError(
                f"not a linked library: {window.size} bytes that begin with {head[:8].hex(' ') or 'nothing'}",
                where=str(file),
                mend="name an ELF, PE or Mach-O file",
            )
        return dataclasses.replace(facts, evidence=find_evidence(window, facts))


def lfs_error(file: Path, pointer: bytes) -> BuildError:
    """Return the error for a Git LFS pointer that stands where a library should (LFS spec: `version`, `oid`, `size` lines)."""
    fields = dict(line.split(" ", 1) for line in pointer.decode("utf-8", "replace").splitlines() if " " in line)
    return BuildError(
        "a Git LFS pointer stands in place of the library",
        where=str(file),
        mend="fetch the object with git lfs pull, or from the media address of the pinned commit",
        notes=[f"oid {fields.get('oid', 'missing')}", f"size {fields.get('size', 'missing')}"],
    )
