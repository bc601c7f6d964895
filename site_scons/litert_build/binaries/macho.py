"""Owns reading Mach-O: load commands, symbol table, export trie and chained imports, also of one slice of a fat file.

facts = read_macho(window, "arm64")

A reader of our own, of fixed-size records: on the 66 MB host macholib reads every section into memory (3.2 s, 357 MB) and LIEF
takes 287 MB and reports weak local definitions as imports. Sources: <mach-o/loader.h>, <mach-o/nlist.h>, <mach-o/fixup-chains.h>.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from litert_build.binaries.facts import BinaryFacts, Symbol
from litert_build.binaries.trie import read_trie
from litert_build.binaries.window import Names, Window, malformed

_ARCH = {0x0100000C: "arm64", 0x01000007: "x64", 7: "x86", 12: "arm", 0x0200000C: "arm64_32"}
_KIND = {1: "object", 2: "executable", 6: "shared library", 8: "bundle", 9: "stub"}
_FLAGS = {0x1: "NOUNDEFS", 0x4: "DYLDLINK", 0x80: "TWOLEVEL", 0x8000: "WEAK_DEFINES", 0x10000: "BINDS_TO_WEAK", 0x200000: "PIE"}
_PLATFORMS = {1: "macos", 2: "ios", 3: "tvos", 4: "watchos", 5: "bridgeos", 6: "maccatalyst", 7: "ios-simulator", 11: "visionos"}
_VERSION_MIN = {0x24: "macos", 0x25: "ios", 0x2F: "tvos", 0x30: "watchos"}
_SEGMENT, _SYMTAB, _ID, _SEGMENT_64, _UUID, _LAZY, _BUILD_VERSION = 0x1, 0x2, 0xD, 0x19, 0x1B, 0x20, 0x32
_LOAD, _WEAK, _REEXPORT, _UPWARD, _RPATH = 0xC, 0x80000018, 0x8000001F, 0x80000023, 0x8000001C
_DYLD_INFO, _DYLD_INFO_ONLY, _EXPORTS_TRIE, _CHAINED = 0x22, 0x80000022, 0x80000033, 0x80000034
_MAX_COMMANDS = 4096
_WEAK_LOOKUP = 0xFD


class _Image:
    """Header and load commands of one thin Mach-O."""

    def __init__(self, window: Window) -> None:
        self.window = window
        magic = window.read(0, 4, "the Mach-O header")
        self.order = "<" if magic[:1] in (b"\xce", b"\xcf") else ">"
        self.wide = b"\xcf" in magic
        _, self.cpu, _, self.filetype, count, size, self.flags = self.unpack("7I", 0, "the Mach-O header")
        if count > _MAX_COMMANDS:
            raise malformed(window.file, f"{count} load commands")
        self.commands = list(self._commands(32 if self.wide else 28, count, size))
        self.libraries = [self.text(body, 8) for kind, body in self.commands if kind in (_LOAD, _WEAK, _REEXPORT, _UPWARD, _LAZY)]

    def unpack(self, layout: str, offset: int, what: str) -> tuple[int, ...]:
        return self.window.unpack(self.order + layout, offset, what)

    def _commands(self, at: int, count: int, size: int) -> Iterator[tuple[int, bytes]]:
        table, end = at, at + size
        for _ in range(count):
            kind, length = self.unpack("II", at, "a load command")
            if length < 8 or at + length > end:
                raise malformed(self.window.file, f"the load command at {at - table:#x} is {length} bytes long")
            yield kind, self.window.read(at, length, "a load command")
            at += length

    def fields(self, body: bytes, layout: str, at: int = 8) -> tuple[int, ...]:
        try:
            return struct.unpack_from(self.order + layout, body, at)
        except struct.error as error:
            raise malformed(self.window.file, f"a load command of {len(body)} bytes is too short") from error

    def text(self, body: bytes, at: int) -> str:
        """Return the string whose offset in the command stands at `at` (lc_str)."""
        (start,) = self.fields(body, "I", at)
        return body[start:].split(b"\0", 1)[0].decode("utf-8", "backslashreplace")

    def bodies(self, *kinds: int) -> list[bytes]:
        return [body for kind, body in self.commands if kind in kinds]

    def library(self, ordinal: int) -> str:
        """Return the install name behind a two-level library ordinal; special ordinals have none."""
        return self.libraries[ordinal - 1] if 0 < ordinal <= len(self.libraries) else ""


def slices(window: Window) -> dict[str, Window]:
    """Return the thin windows of a file by architecture: one of a thin file, all of a fat one."""
    magic = window.read(0, 4, "the Mach-O header")
    if magic not in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"):
        order = "<" if magic[:1] in (b"\xce", b"\xcf") else ">"
        (cpu,) = window.unpack(order + "I", 4, "the Mach-O header")
        return {_ARCH.get(cpu, f"cpu {cpu:#x}"): window}
    (count,) = window.unpack(">I", 4, "the fat header")
    if not 0 < count <= 32:
        raise malformed(window.file, f"a fat file of {count} architectures")
    layout, size = (">IIIII", 20) if magic[3] == 0xBE else (">IIQQII", 32)
    found = {}
    for index in range(count):
        cpu, _, offset, length, *_ = window.unpack(layout, 8 + index * size, "the fat header")
        found[_ARCH.get(cpu, f"cpu {cpu:#x}")] = window.slice(offset, length)
    return found


def read_macho(window: Window) -> BinaryFacts:
    """Return the facts of one thin Mach-O, byte evidence excepted. Raises BuildError where the file is damaged."""
    image = _Image(window)
    platform, minimum = _platform(image)
    return BinaryFacts(
        file=window.file,
        size=window.size,
        format="macho",
        arch=_ARCH.get(image.cpu, f"cpu {image.cpu:#x}"),
        kind=_KIND.get(image.filetype, f"file type {image.filetype}"),
        needed=tuple(image.libraries),
        reexported=tuple(image.text(body, 8) for body in image.bodies(_REEXPORT)),
        imports=_imports(image),
        exports=_exports(image),
        soname=next((image.text(body, 8) for body in image.bodies(_ID)), ""),
        runpath=tuple(image.text(body, 8) for body in image.bodies(_RPATH)),
        nx=True,
        pie=True,
        flags=tuple(name for bit, name in _FLAGS.items() if image.flags & bit),
        platform=platform,
        minimum_os=minimum,
        build_id=next((body[8:24].hex() for body in image.bodies(_UUID)), ""),
        sections=tuple(_sections(image)),
    )


def _platform(image: _Image) -> tuple[str, str]:
    """Return (platform, minos); two commands that disagree are joined by `and`, so that no rule takes either for granted."""
    found = [
        (_VERSION_MIN[kind], image.fields(body, "I")[0]) for kind, body in image.commands if kind in _VERSION_MIN
    ] + [(_PLATFORMS.get(number, f"platform {number}"), minimum) for number, minimum in (
        image.fields(body, "II") for body in image.bodies(_BUILD_VERSION))]  # fmt: skip
    names = dict.fromkeys(name for name, _ in found)
    versions = dict.fromkeys(
        f"{minimum >> 16}.{minimum >> 8 & 0xFF}" + (f".{minimum & 0xFF}" if minimum & 0xFF else "") for _, minimum in found
    )
    return " and ".join(names), " and ".join(versions)


def _sections(image: _Image) -> Iterator[tuple[str, int]]:
    for kind, body in image.commands:
        if kind not in (_SEGMENT, _SEGMENT_64):
            continue
        wide = kind == _SEGMENT_64
        header, step = (72, 80) if wide else (56, 68)
        end = sum(image.fields(body, "QQ" if wide else "II", 40 if wide else 32))
        if end > image.window.size:
            raise malformed(image.window.file, f"a segment ends at {end}, the file at {image.window.size}")
        (count,) = image.fields(body, "I", header - 8)
        for at in range(header, min(len(body), header + count * step) - step + 1, step):
            name, segment = (body[start : start + 16].rstrip(b"\0").decode("latin-1") for start in (at, at + 16))
            yield f"{segment},{name}", image.fields(body, "Q" if wide else "I", at + (40 if wide else 36))[0]


def _exports(image: _Image) -> tuple[Symbol, ...]:
    """Return what the export trie holds; a file without any trie exports by its symbol table, as dyld did before 10.6."""
    places = [image.fields(body, "II") for body in image.bodies(_EXPORTS_TRIE)]
    places += [image.fields(body, "II", 40) for body in image.bodies(_DYLD_INFO, _DYLD_INFO_ONLY)]
    for offset, size in places:
        if size:
            return tuple(read_trie(image.window.file, image.window.read(offset, size, "the export trie"), image.library))
    return () if places else tuple(symbol for symbol, defined in _symbol_table(image) if defined)


def _symbol_table(image: _Image) -> Iterator[tuple[Symbol, bool]]:
    """Yield (symbol, whether it is defined here) for external entries of LC_SYMTAB; N_STAB and private external ones are not."""
    for body in image.bodies(_SYMTAB):
        at, count, strings_at, strings_size = image.fields(body, "IIII")
        layout = struct.Struct(image.order + ("IBBHQ" if image.wide else "IBBHI"))
        table = image.window.read(at, count * layout.size, "the symbol table")
        names = Names(image.window.file, image.window.read(strings_at, strings_size, "the string table"))
        for offset, kind, _, description, value in layout.iter_unpack(table):
            if not kind & 1 or kind & 0xF0:
                continue
            if kind & 0x0E == 0 and not value:
                binding = "weak" if description & 0x40 else "global"
                yield Symbol(names[offset], "notype", binding, library=image.library(description >> 8)), False
            elif kind & 0x0E:
                yield Symbol(names[offset], "notype", "weak" if description & 0x80 else "global"), True


def _imports(image: _Image) -> tuple[Symbol, ...]:
    """Return the undefined symbols of the symbol table and of the chained fixups, which dyld reads where the table was stripped."""
    found = {symbol.name: symbol for symbol, defined in _symbol_table(image) if not defined}
    for symbol in _chained(image):
        found.setdefault(symbol.name, symbol)
    return tuple(found.values())


def _chained(image: _Image) -> Iterator[Symbol]:
    for body in image.bodies(_CHAINED):
        start, size = image.fields(body, "II")
        if size < 28:
            continue
        _, _, imports_at, names_at, count, style, packed = image.unpack("7I", start, "the chained fixups")
        if packed or style not in (1, 2, 3) or names_at > size:
            raise malformed(image.window.file, f"chained fixups of format {style} with names packed as {packed}")
        names = Names(image.window.file, image.window.read(start + names_at, size - names_at, "the names of the chained fixups"))
        layout = struct.Struct(image.order + {1: "I", 2: "Ii", 3: "QQ"}[style])
        for entry, *_ in layout.iter_unpack(image.window.read(start + imports_at, count * layout.size, "the chained imports")):
            ordinal, weak, name = (
                (entry & 0xFF, entry >> 8 & 1, entry >> 9) if style < 3 else (entry & 0xFFFF, entry >> 16 & 1, entry >> 32)
            )
            if ordinal & 0xFF != _WEAK_LOOKUP:
                yield Symbol(names[name], "notype", "weak" if weak else "global", library=image.library(ordinal))
