"""Owns reading ELF: pyelftools for the file header, plain struct for all tables, which hold hundreds of thousands of entries.

facts = read_elf(window)

What counts is what the dynamic loader reads (System V gABI, "Dynamic Linking"): the dynamic segment, not the section headers,
which a file may lack.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

from litert_build.binaries.facts import BinaryFacts, Symbol
from litert_build.binaries.window import Names, Window, malformed

_ARCH = {"EM_X86_64": "x64", "EM_AARCH64": "arm64", "EM_386": "x86", "EM_ARM": "arm", "EM_RISCV": "riscv64", "EM_HEXAGON": "hexagon"}
_KIND = {0: "notype", 1: "object", 2: "func", 5: "object", 6: "tls", 10: "ifunc"}
_BINDING = {1: "global", 2: "weak", 10: "unique"}
_FLAGS_1 = {0x1: "NOW", 0x2: "GLOBAL", 0x8: "NODELETE", 0x20: "INITFIRST", 0x40: "NOOPEN", 0x80: "ORIGIN", 0x08000000: "PIE"}
_NEEDED, _HASH, _STRTAB, _SYMTAB, _STRSZ, _SONAME, _RPATH, _TEXTREL, _BIND_NOW, _RUNPATH, _FLAGS = 1, 4, 5, 6, 10, 14, 15, 22, 24, 29, 30
_GNU_HASH, _VERSYM, _DF_1, _VERDEF, _VERDEFNUM, _VERNEED, _VERNEEDNUM = (
    0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFB, 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF,
)  # fmt: skip
_DEPAUDIT, _AUDIT, _AUXILIARY, _FILTER = 0x6FFFFEFB, 0x6FFFFEFC, 0x7FFFFFFD, 0x7FFFFFFF
_LOADED = (_NEEDED, _FILTER, _AUXILIARY, _AUDIT, _DEPAUDIT)  # the entries whose libraries the dynamic loader loads, ld.so(8)
_SHN_ABS = 0xFFF1
_MAX_HEADERS = 4096
_MAX_VERSIONS = 20_000
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE, _PT_GNU_STACK, _PT_GNU_RELRO = 1, 2, 4, 0x6474E551, 0x6474E552
SHT_SYMTAB, SHT_DYNSYM = 2, 11
_FAULTS = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)  # what pyelftools lets through on damaged headers


@dataclass(frozen=True)
class _Segment:
    type: int
    flags: int
    offset: int
    address: int
    filesz: int
    align: int


@dataclass(frozen=True)
class _Section:
    name: str
    type: int
    address: int
    offset: int
    size: int
    link: int


class ElfImage:
    """The headers of one ELF file and the dynamic entries by tag."""

    def __init__(self, window: Window) -> None:
        self.window = window
        try:
            elf = ELFFile(window.stream)
            segments, sections, names = elf.num_segments(), elf.num_sections(), elf.get_shstrndx()
        except (ELFError, ConstructError, *_FAULTS) as error:
            raise malformed(window.file, f"its ELF headers cannot be read ({type(error).__name__}: {error})") from error
        if max(segments, sections) > _MAX_HEADERS:
            raise malformed(window.file, f"{segments} segments and {sections} sections are no linked library")
        self.machine, self.type = str(elf["e_machine"]), str(elf["e_type"])
        self.order, self.wide = "<" if elf.little_endian else ">", elf.elfclass == 64
        self.segments = [self._segment(fields) for fields in self._table(elf, "e_ph", segments, "IIQQQQQQ", "8I")]
        self.sections = self._sections(self._table(elf, "e_sh", sections, "IIQQQQIIQQ", "10I"), names)
        end = max((segment.offset + segment.filesz for segment in self.segments), default=0)
        if end > window.size:
            raise malformed(window.file, f"its segments end at {end}, the file at {window.size}")
        self.version_records = _MAX_VERSIONS
        self.dynamic = self._dynamic()
        self.names = self._dynamic_names()

    def _table(self, elf: ELFFile, kind: str, count: int, wide: str, narrow: str) -> list[tuple[int, ...]]:
        """Return the records of the program (`e_ph`) or section (`e_sh`) header table. pyelftools' own objects would parse each hash
        table that a header points at."""
        layout, step = struct.Struct(self.order + (wide if self.wide else narrow)), int(elf[f"{kind}entsize"])
        if count and step < layout.size:
            raise malformed(self.window.file, f"header entries of {step} bytes")
        table = self.window.read(int(elf[f"{kind}off"]), count * step, "a header table") if count else b""
        return [layout.unpack_from(table, index * step) for index in range(count)]

    def _segment(self, fields: tuple[int, ...]) -> _Segment:
        if self.wide:
            kind, flags, offset, address, _, filesz, _, align = fields
        else:
            kind, offset, address, _, filesz, _, flags, align = fields
        return _Segment(kind, flags, offset, address, filesz, align)

    def _sections(self, records: list[tuple[int, ...]], names: int) -> list[_Section]:
        if names >= len(records):
            return []
        strings = Names(self.window.file, self.window.read(records[names][4], records[names][5], "the names of the sections"))
        return [
            _Section(strings[name] if kind else "", kind, address, offset, size, link)
            for name, kind, _, address, offset, size, link, *_ in records
        ]

    def offset(self, address: int, what: str) -> int:
        """Return the file offset of a virtual address (gABI: PT_LOAD maps p_filesz bytes)."""
        for segment in self.segments:
            if segment.type == _PT_LOAD and segment.address <= address < segment.address + segment.filesz:
                return address - segment.address + segment.offset
        raise malformed(self.window.file, f"{what} at address {address:#x} is in no loaded segment")

    def _dynamic(self) -> dict[int, list[int]]:
        entries: dict[int, list[int]] = defaultdict(list)
        for segment in self.segments:
            if segment.type != _PT_DYNAMIC:
                continue
            layout = struct.Struct(self.order + ("QQ" if self.wide else "II"))
            table = self.window.read(segment.offset, segment.filesz - segment.filesz % layout.size, "the dynamic segment")
            for tag, value in layout.iter_unpack(table):
                if tag == 0:
                    break
                entries[tag].append(value)
        return entries

    def first(self, tag: int) -> int | None:
        values = self.dynamic.get(tag)
        return values[0] if values else None

    def _dynamic_names(self) -> Names:
        address, size = self.first(_STRTAB), self.first(_STRSZ)
        if address is None or size is None:
            return Names(self.window.file, b"\0")
        return Names(self.window.file, self.window.read(self.offset(address, "the dynamic string table"), size, "the dynamic string table"))

    def symbol_name(self, index: int) -> str:
        """Return the name of the dynamic symbol `index`."""
        start = self.offset(self.first(_SYMTAB) or 0, "the dynamic symbol table")
        return self.names[self.window.unpack(self.order + "I", start + index * (24 if self.wide else 16), "a dynamic symbol")[0]]

    def strings(self, tag: int) -> tuple[str, ...]:
        return tuple(self.names[value] for value in self.dynamic.get(tag, ()))


def read_elf(window: Window) -> BinaryFacts:
    """Return the facts of an ELF file, byte evidence excepted. Raises BuildError where the file is damaged."""
    image = ElfImage(window)
    flags, flags_1 = image.first(_FLAGS) or 0, image.first(_DF_1) or 0
    stack = [segment for segment in image.segments if segment.type == _PT_GNU_STACK]
    definitions, needs, version_needs = _versions(image)
    imports, exports = _symbols(image, definitions, needs)
    notes = _notes(image)
    return BinaryFacts(
        file=window.file,
        size=window.size,
        format="elf",
        arch=_ARCH.get(image.machine, image.machine),
        kind={"ET_DYN": "shared library", "ET_EXEC": "executable", "ET_REL": "object"}.get(image.type, image.type),
        needed=tuple(path for tag in _LOADED for path in _loaded(image.strings(tag), tag)),
        imports=imports,
        exports=exports,
        version_needs=version_needs,
        soname=next(iter(image.strings(_SONAME)), ""),
        rpath=_paths(image.strings(_RPATH)),
        runpath=_paths(image.strings(_RUNPATH)),
        relro=any(segment.type == _PT_GNU_RELRO for segment in image.segments),
        bind_now=bool(_BIND_NOW in image.dynamic or flags & 0x8 or flags_1 & 0x1),
        nx=bool(stack) and not stack[0].flags & 1,
        pie=bool(flags_1 & 0x08000000),
        text_relocations=bool(_TEXTREL in image.dynamic or flags & 0x4),
        alignments=tuple(segment.align for segment in image.segments if segment.type == _PT_LOAD),
        flags=tuple(name for bit, name in _FLAGS_1.items() if flags_1 & bit),
        platform="android" if "api" in notes else "linux",
        minimum_os=notes.get("api", ""),
        build_id=notes.get("build-id", ""),
        sections=tuple((section.name, section.size) for section in image.sections if section.name),
    )


def _loaded(values: tuple[str, ...], tag: int) -> tuple[str, ...]:
    """Return the libraries of one kind of entry: audit entries are lists with colons, as search paths are."""
    return _paths(values) if tag in (_AUDIT, _DEPAUDIT) else values


def _paths(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for value in values for path in value.split(":"))


def _symbol_count(image: ElfImage, symbols: int, entry: int) -> int:
    """Return the number of dynamic symbols: the larger of what the section table and what the hash table say."""
    count = max(
        (section.size // entry for section in image.sections if section.type == SHT_DYNSYM and section.address == symbols), default=0
    )
    if (address := image.first(_HASH)) is not None:
        return max(count, int(image.window.unpack(image.order + "II", image.offset(address, "DT_HASH"))[1]))
    if (address := image.first(_GNU_HASH)) is not None:
        return max(count, _gnu_hash_count(image, image.offset(address, "DT_GNU_HASH")))
    return count


def _gnu_hash_count(image: ElfImage, start: int) -> int:
    """Return one more than the highest symbol index that the GNU hash table reaches: its last chain ends at an odd value."""
    buckets, first, bloom, _ = image.window.unpack(image.order + "IIII", start, "DT_GNU_HASH")
    table = start + 16 + bloom * (8 if image.wide else 4)
    heads = struct.unpack(f"{image.order}{buckets}I", image.window.read(table, 4 * buckets, "DT_GNU_HASH"))
    last = max(heads, default=0)
    if last < first:
        return int(first)
    chain = table + 4 * buckets + 4 * (last - first)
    while not image.window.unpack(image.order + "I", chain, "DT_GNU_HASH")[0] & 1:
        last, chain = last + 1, chain + 4
    return int(last) + 1


def _symbols(
    image: ElfImage, definitions: dict[int, str], needs: dict[int, tuple[str, str]]
) -> tuple[tuple[Symbol, ...], tuple[Symbol, ...]]:
    """Return (imports, exports). An export is defined, not local, of default or protected visibility, and in no local version."""
    address = image.first(_SYMTAB)
    if address is None:
        return (), ()
    layout = struct.Struct(image.order + ("IBBHQQ" if image.wide else "IIIBBH"))
    count = _symbol_count(image, address, layout.size)
    table = image.window.read(image.offset(address, "the dynamic symbol table"), count * layout.size, "the dynamic symbol table")
    versions = _version_indices(image, count)
    names = image.names
    imports: list[Symbol] = []
    exports: list[Symbol] = []
    for index, fields in enumerate(layout.iter_unpack(table)):
        name_offset, info, other, section = fields[:4] if image.wide else (fields[0], *fields[3:])
        binding = _BINDING.get(info >> 4)
        if binding is None or not name_offset:
            continue
        kind = _KIND.get(info & 15, "notype")
        version = versions[index] & 0x7FFF if versions else 1
        if section == 0:
            library, label = needs.get(version, ("", ""))
            imports.append(Symbol(names[name_offset], kind, binding, label, library))
        elif other & 3 in (0, 3) and version != 0:
            label = definitions.get(version, "")
            if label and versions and not versions[index] & 0x8000:
                label = "@@" + label
            exports.append(Symbol(names[name_offset], "absolute" if section == _SHN_ABS else kind, binding, label))
    return tuple(imports), tuple(exports)


def _version_indices(image: ElfImage, count: int) -> tuple[int, ...]:
    address = image.first(_VERSYM)
    if address is None:
        return ()
    return struct.unpack(f"{image.order}{count}H", image.window.read(image.offset(address, "DT_VERSYM"), 2 * count, "DT_VERSYM"))


def _versions(image: ElfImage) -> tuple[dict[int, str], dict[int, tuple[str, str]], dict[str, tuple[str, ...]]]:
    """Return (defined versions by index, needed (library, version) by index, needed versions by library)."""
    window, order = image.window, image.order
    definitions: dict[int, str] = {}
    needs: dict[int, tuple[str, str]] = {}
    libraries: dict[str, list[str]] = {}
    for at, (_, flags, index, _, _, aux, _) in _chain(image, _VERDEF, image.first(_VERDEFNUM), "HHHHIII"):
        if not flags & 1:
            definitions[index] = image.names[window.unpack(order + "I", at + aux, "DT_VERDEF")[0]]
    for at, (_, count, file, aux, _) in _chain(image, _VERNEED, image.first(_VERNEEDNUM), "HHIII"):
        library = image.names[file]
        for _, (_, _, index, name, _) in _links(image, at + aux, count, "IHHII"):
            needs[index & 0x7FFF] = (library, image.names[name])
            libraries.setdefault(library, []).append(image.names[name])
    return definitions, needs, {library: tuple(versions) for library, versions in libraries.items()}


def _chain(image: ElfImage, tag: int, count: int | None, layout: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the records that the dynamic entry `tag` leads to."""
    if (address := image.first(tag)) is not None:
        yield from _links(image, image.offset(address, "a version table"), count or 0, layout)


def _links(image: ElfImage, at: int, count: int, layout: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield (offset, record) of a chain whose records end with the distance to the next, 0 at the last (gABI, "Symbol Versioning")."""
    for _ in range(count):
        image.version_records -= 1
        if image.version_records < 0:
            raise malformed(image.window.file, "its version tables have no end")
        record = image.window.unpack(image.order + layout, at, "a version table")
        yield at, record
        if not record[-1]:
            return
        at += record[-1]


def _notes(image: ElfImage) -> dict[str, str]:
    """Return `build-id` and, for Android, `api` from the PT_NOTE segments (gABI "Note Section"; NDK's crtbegin note)."""
    found: dict[str, str] = {}
    for segment in image.segments:
        if segment.type != _PT_NOTE or segment.filesz > 1 << 16:
            continue
        data, at = image.window.read(segment.offset, segment.filesz, "PT_NOTE"), 0
        while at + 12 <= len(data):
            name_size, size, kind = struct.unpack_from(image.order + "III", data, at)
            owner, start = data[at + 12 : at + 12 + name_size].rstrip(b"\0"), at + 12 + -(-name_size // 4) * 4
            payload = data[start : start + size]
            if owner == b"GNU" and kind == 3:
                found["build-id"] = payload.hex()
            elif owner == b"Android" and kind == 1 and len(payload) >= 4:
                found["api"] = str(struct.unpack_from(image.order + "I", payload)[0])
            at = start + -(-size // 4) * 4
    return found
