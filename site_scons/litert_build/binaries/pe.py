"""Owns reading PE: pefile for headers and sections, plain struct for the export, import and delay-import directories.

facts = read_pe(window)

pefile's own parse of these directories stops at 8,192 exports and takes 23 s on a real host (PE format, sections 5.8 ".edata",
6.4 ".idata").
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pefile  # type: ignore[import-untyped]

from litert_build.binaries.facts import BinaryFacts, Symbol
from litert_build.binaries.window import Window, malformed

_ARCH = {0x8664: "x64", 0xAA64: "arm64", 0x14C: "x86", 0x1C4: "arm", 0xA641: "arm64ec"}
_FLAGS = {
    0x0020: "HIGH_ENTROPY_VA", 0x0040: "DYNAMIC_BASE", 0x0080: "FORCE_INTEGRITY", 0x0100: "NX_COMPAT", 0x0400: "NO_SEH", 0x4000: "GUARD_CF",
}  # fmt: skip
_EXPORT, _IMPORT, _DEBUG, _DELAY = 0, 1, 6, 13
_EXECUTE = 0x20000000
_MAX_IMPORTS = 200_000
_MAX_EXPORTS = 1 << 16  # ordinals have 16 bits


class _Image:
    """The headers of one PE file, and reads by relative virtual address."""

    def __init__(self, window: Window) -> None:
        self.window = window
        try:
            pe = pefile.PE(name=str(window.file), fast_load=True)
        except (pefile.PEFormatError, struct.error, AttributeError, IndexError, ValueError, TypeError, OverflowError) as error:
            raise malformed(window.file, f"its PE headers cannot be read ({type(error).__name__}: {error})") from error
        if len(pe.sections) != pe.FILE_HEADER.NumberOfSections:
            raise malformed(window.file, f"it has {len(pe.sections)} of {pe.FILE_HEADER.NumberOfSections} sections")
        with pe:
            self.machine = int(pe.FILE_HEADER.Machine)
            self.characteristics = int(pe.FILE_HEADER.Characteristics)
            self.wide = int(pe.OPTIONAL_HEADER.Magic) == 0x20B
            self.image_base = int(pe.OPTIONAL_HEADER.ImageBase)
            self.alignment = int(pe.OPTIONAL_HEADER.SectionAlignment)
            self.system = f"{pe.OPTIONAL_HEADER.MajorSubsystemVersion}.{pe.OPTIONAL_HEADER.MinorSubsystemVersion}"
            self.flags = int(pe.OPTIONAL_HEADER.DllCharacteristics)
            self.directories = [(int(entry.VirtualAddress), int(entry.Size)) for entry in pe.OPTIONAL_HEADER.DATA_DIRECTORY]
            self.sections = [
                (s.Name.rstrip(b"\0").decode("latin-1"), int(s.VirtualAddress), int(s.Misc_VirtualSize), int(s.SizeOfRawData),
                 int(s.PointerToRawData) & ~0x1FF, int(s.Characteristics))
                for s in pe.sections
            ]  # fmt: skip

        end = max((pointer + raw for _, _, _, raw, pointer, _ in self.sections), default=0)
        if end > window.size:
            raise malformed(window.file, f"its sections end at {end}, the file at {window.size}")

    def offset(self, rva: int, what: str) -> int:
        for _, address, _, raw, pointer, _ in self.sections:
            if address <= rva < address + raw:
                return rva - address + pointer
        raise malformed(self.window.file, f"{what} at RVA {rva:#x} is in no section")

    def is_code(self, rva: int) -> bool:
        return any(
            address <= rva < address + max(raw, virtual) and flags & _EXECUTE for _, address, virtual, raw, _, flags in self.sections
        )

    def text(self, rva: int, what: str) -> str:
        return self.window.text(self.offset(rva, what), what)

    def directory(self, index: int) -> tuple[int, int] | None:
        """Return (RVA, size) of a data directory, or None where the file has none."""
        if index >= len(self.directories) or not self.directories[index][0]:
            return None
        return self.directories[index]


def read_pe(window: Window) -> BinaryFacts:
    """Return the facts of a PE file, byte evidence excepted. Raises BuildError where the file is damaged."""
    image = _Image(window)
    imports, needed = _imports(image, _descriptors(image))
    delayed, delay_needed = _imports(image, _delay_descriptors(image))
    flags = tuple(name for bit, name in _FLAGS.items() if image.flags & bit)
    return BinaryFacts(
        file=window.file,
        size=window.size,
        format="pe",
        arch=_ARCH.get(image.machine, f"machine {image.machine:#x}"),
        kind="shared library" if image.characteristics & 0x2000 else "executable",
        needed=needed,
        delay_needed=delay_needed,
        imports=imports + delayed,
        exports=_exports(image),
        exports_found=image.directory(_EXPORT) is not None,
        nx="NX_COMPAT" in flags,
        pie="DYNAMIC_BASE" in flags,
        alignments=(image.alignment,),
        flags=flags,
        platform="windows",
        minimum_os=image.system,
        build_id=_build_id(image),
        sections=tuple((name, virtual) for name, _, virtual, _, _, _ in image.sections),
    )


def _exports(image: _Image) -> tuple[Symbol, ...]:
    """Return named exports, then those reachable by ordinal only (`#12`). An address inside the directory is a forwarder's name."""
    directory = image.directory(_EXPORT)
    if directory is None:
        return ()
    start, size = directory
    header = image.window.unpack("<IIHHIIIIIII", image.offset(start, "the export directory"), "the export directory")
    base, addresses, names, functions_at, names_at, ordinals_at = header[5:11]
    if max(addresses, names) > _MAX_EXPORTS:
        raise malformed(image.window.file, f"{addresses} exports under {names} names")
    functions = _words(image, "I", addresses, functions_at, "the export address table")
    named: set[int] = set()
    exports: list[Symbol] = []
    name_rvas = _words(image, "I", names, names_at, "the export name table")
    for rva, index in zip(name_rvas, _words(image, "H", names, ordinals_at, "the export ordinal table"), strict=True):
        if index >= addresses:
            raise malformed(image.window.file, f"an export name points at entry {index} of {addresses}")
        named.add(index)
        exports.append(_export(image, image.text(rva, "an export name"), functions[index], start, size))
    exports += [
        _export(image, f"#{base + index}", rva, start, size)._replace(kind="ordinal")
        for index, rva in enumerate(functions)
        if rva and index not in named
    ]
    return tuple(exports)


def _export(image: _Image, name: str, rva: int, start: int, size: int) -> Symbol:
    if start <= rva < start + size:
        return Symbol(name, "forwarder", library=image.text(rva, "a forwarder"))
    return Symbol(name, "func" if image.is_code(rva) else "object")


def _words(image: _Image, code: str, count: int, rva: int, what: str) -> tuple[int, ...]:
    layout = f"<{count}{code}"
    return image.window.unpack(layout, image.offset(rva, what), what) if count else ()


def _descriptors(image: _Image) -> Iterator[tuple[int, int, int]]:
    """Yield (name RVA, lookup table RVA, base to subtract) of each import descriptor; binding tools may zero the lookup table."""
    directory = image.directory(_IMPORT)
    at = image.offset(directory[0], "the import directory") if directory else 0
    while directory:
        lookup, _, _, name, addresses = image.window.unpack("<IIIII", at, "the import directory")
        if not name:
            return
        yield name, lookup or addresses, 0
        at += 20


def _delay_descriptors(image: _Image) -> Iterator[tuple[int, int, int]]:
    """Yield the same of each delay-load descriptor; attribute bit 0 says that addresses are relative, as since Visual C++ 7."""
    directory = image.directory(_DELAY)
    at = image.offset(directory[0], "the delay import directory") if directory else 0
    while directory:
        attributes, name, _, _, lookup, *_ = image.window.unpack("<8I", at, "the delay import directory")
        if not name:
            return
        yield name, lookup, 0 if attributes & 1 else image.image_base
        at += 32


def _imports(image: _Image, descriptors: Iterator[tuple[int, int, int]]) -> tuple[tuple[Symbol, ...], tuple[str, ...]]:
    layout, ordinal = ("<Q", 1 << 63) if image.wide else ("<I", 1 << 31)
    step = struct.calcsize(layout)
    symbols: list[Symbol] = []
    libraries: list[str] = []
    for name, lookup, base in descriptors:
        library = image.text(name - base, "the name of an imported library")
        libraries.append(library)
        at = image.offset(lookup - base, "an import lookup table") if lookup else None
        while at is not None and (entry := image.window.unpack(layout, at, "an import lookup table")[0]):
            if entry & ordinal:
                symbols.append(Symbol(f"#{entry & 0xFFFF}", "ordinal", library=library))
            else:
                symbols.append(Symbol(image.text((entry & 0x7FFFFFFF) - base + 2, "an import name"), "func", library=library))
            at += step
            if len(symbols) > _MAX_IMPORTS:
                raise malformed(image.window.file, f"more than {_MAX_IMPORTS} imports")
        if len(libraries) > _MAX_IMPORTS:
            raise malformed(image.window.file, f"more than {_MAX_IMPORTS} imported libraries")
    return tuple(symbols), tuple(dict.fromkeys(libraries))


def _build_id(image: _Image) -> str:
    """Return GUID and age of the CodeView record, as symbol servers spell them, or the empty string."""
    directory = image.directory(_DEBUG)
    if directory is None or directory[1] > 28 * 64:
        return ""
    start = image.offset(directory[0], "the debug directory")
    for at in range(start, start + directory[1] - 27, 28):
        *_, kind, size, _, pointer = image.window.unpack("<IIHHIIII", at, "the debug directory")
        if kind == 2 and size >= 24:
            mark, one, two, three, rest, age = image.window.unpack("<4sIHH8sI", pointer, "the CodeView record")
            if mark == b"RSDS":
                return f"{one:08X}{two:04X}{three:04X}{rest.hex().upper()}{age:X}"
    return ""
