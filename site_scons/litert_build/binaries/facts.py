"""Owns BinaryFacts: what a linked file says about itself, in one vocabulary for ELF, PE and Mach-O.

facts = read_binary(Path("libLiteRtLm.so"))          # binaries.reader
facts.needed, facts.exported_names, facts.evidence.families
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

Format = Literal["elf", "pe", "macho"]


class Symbol(NamedTuple):
    """One entry of a dynamic symbol table, an export directory or an export trie.

    `name` is spelled as in the file. `kind` is func, object, tls, ifunc, notype, absolute, reexport, forwarder or ordinal;
    `binding` global, weak or unique (STB_GNU_UNIQUE). `version` is the ELF symbol version, with `@@` before a default one.
    `library` is the file that provides an import, where the format records it, or the target of a forwarded export.
    """

    name: str
    kind: str = "notype"
    binding: str = "global"
    version: str = ""
    library: str = ""


@dataclass(frozen=True)
class Evidence:
    """What a pass over the bytes found. `families` maps a C++ standard library to the sentences that show it, `providers` a
    statically linked one to its proof; `libraries` are the shared library names that stand in the file as text."""

    families: dict[str, tuple[str, ...]] = field(default_factory=dict)
    providers: dict[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class BinaryFacts:
    """One linked file. A field that a format does not have keeps its empty value.

    `alignments` are the alignments of the loaded segments in bytes; `flags` are DF_1_* names (ELF), DllCharacteristics (PE) or
    header flags (Mach-O) without their prefix; `minimum_os` is minos (Mach-O) or the API level of the note (Android);
    `sections` are (name, bytes) pairs; `slices` are all architectures of a fat Mach-O; `exports_found` is false where a PE has no
    export directory at all.
    """

    file: Path
    size: int
    format: Format
    arch: str
    kind: str
    slices: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    delay_needed: tuple[str, ...] = ()
    reexported: tuple[str, ...] = ()
    imports: tuple[Symbol, ...] = ()
    exports: tuple[Symbol, ...] = ()
    version_needs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    soname: str = ""
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    relro: bool = False
    bind_now: bool = False
    nx: bool = False
    pie: bool = False
    text_relocations: bool = False
    alignments: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    platform: str = ""
    minimum_os: str = ""
    build_id: str = ""
    sections: tuple[tuple[str, int], ...] = ()
    exports_found: bool = True
    evidence: Evidence = field(default_factory=Evidence)

    def c_name(self, name: str) -> str:
        """Return `name` as C spells it: Mach-O writes an underscore before every C symbol."""
        return name[1:] if self.format == "macho" and name.startswith("_") else name

    @cached_property
    def exported_names(self) -> frozenset[str]:
        """The C names that a client can look up."""
        return frozenset(self.c_name(symbol.name) for symbol in self.exports)

    @cached_property
    def imported_names(self) -> frozenset[str]:
        """The C names that other libraries must provide; weak ones may stay undefined and are left out."""
        return frozenset(self.c_name(symbol.name) for symbol in self.imports if symbol.binding != "weak")
