"""Owns link maps: which objects and archive members a link took in, and which symbol came from which.

LinkMap.read(Path("libLiteRtLm.map")).sources("litert_lm_engine_create")     # ('bazel-out/k8-opt/bin/c/_objs/engine/engine.pic.o',)

Every linker's map is read, line by line, since that of a real host has half a million: GNU ld (-Map; an object heads its symbols), lld
(-Map; fixed columns VMA LMA Size Align Out In Symbol), Apple's ld and ld64.lld (-map; objects by number), link.exe and lld-link (/map).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from litert_build.errors import BuildError

_LLD_HEADER = ["VMA", "LMA", "Size", "Align"]
_LLD_OUT, _LLD_IN, _LLD_SYMBOL = 49, 57, 65
_GNU_START = "Linker script and memory map"
_GNU_INPUT = re.compile(r"^ (?P<section>[.\w][^ ]*)?(?: +0x[0-9a-f]+ +0x[0-9a-f]+ (?P<object>\S.*))?$")
_GNU_SYMBOL = re.compile(r"^ +0x[0-9a-f]+ {16}(?P<symbol>\S.*)$")
_APPLE_START, _APPLE_FILE = "# Path:", re.compile(r"^\[ *(?P<number>\d+)\] (?P<object>.+)$")
_APPLE_SYMBOL = re.compile(r"^0x[0-9A-Fa-f]+\t0x[0-9A-Fa-f]+\t\[ *(?P<number>\d+)\] _?(?P<symbol>.+)$")
_MICROSOFT = re.compile(r"^ [0-9a-f]{4}:[0-9a-f]{8} +(?P<symbol>\S+) +[0-9a-f]{8,16} (?:[ fi]+ )?(?P<object>\S.*)$")
_MICROSOFT_START = " Timestamp is "
_MEMBER = re.compile(r"^(?P<archive>.+\.(?:a|lib))(?:(?:\[\d+\])?\((?P<member>[^)]*)\)|:(?P<lld>[^:]*))$")
_NAMED_SECTIONS = (".text.", ".data.rel.ro.", ".rodata.", ".data.", ".bss.")


@dataclass(frozen=True)
class LinkMap:
    """`inputs` are all objects, archive members and libraries of a link, `symbols` the inputs by symbol. `file` is the map itself."""

    inputs: tuple[str, ...]
    symbols: dict[str, tuple[str, ...]] = field(default_factory=dict)
    file: Path | None = None

    @staticmethod
    def read(file: Path, wanted: Container[str] | None = None) -> LinkMap:
        """Parse a map, keeping the symbols (in C's spelling) that are `wanted`. Raises BuildError where the file cannot be read or is
        none of a known linker."""
        inputs: dict[str, None] = {}
        symbols: dict[str, dict[str, None]] = {}
        for source, name in _entries(file):
            inputs[source] = None
            if name and (wanted is None or name in wanted):
                symbols.setdefault(name, {})[source] = None
        return LinkMap(tuple(inputs), {name: tuple(sources) for name, sources in symbols.items()}, file)

    @cached_property
    def archives(self) -> tuple[str, ...]:
        """The archives that gave at least one member."""
        return tuple(dict.fromkeys(match["archive"] for name in self.inputs if (match := _MEMBER.match(name))))

    def sources(self, name: str) -> tuple[str, ...]:
        """Return the inputs that hold the symbol `name`, or that are the library of that file name."""
        return self.symbols.get(name) or tuple(path for path in self.inputs if path.replace("\\", "/").rsplit("/", 1)[-1] == name)

    def first_with(self, marks: tuple[str, ...]) -> str | None:
        """Return the first input that holds a symbol with one of `marks` in its name."""
        entries = _entries(self.file) if self.file else ((source, name) for name, sources in self.symbols.items() for source in sources)
        return next((source for source, name in entries if any(mark in name for mark in marks)), None)


def _entries(file: Path) -> Iterator[tuple[str, str]]:
    """Yield (input, symbol) in the order of the map; an empty symbol says that the input is there."""
    try:
        with file.open(encoding="utf-8", errors="backslashreplace") as stream:
            for line in stream:
                if line.split()[:4] == _LLD_HEADER:
                    yield from _lld(stream)
                elif line.startswith(_GNU_START):
                    yield from _gnu(stream)
                elif line.startswith(_APPLE_START):
                    yield from _apple(stream)
                elif line.startswith(_MICROSOFT_START):
                    yield from _microsoft(stream)
                else:
                    continue
                return
        raise BuildError("not a map of GNU ld, lld, Apple's ld or link.exe", where=str(file), mend="link with -Wl,-Map,FILE or /map")
    except OSError as error:
        raise BuildError(f"cannot read the link map: {error.strerror}", where=str(file), mend="link again") from error


def _lld(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    current = ""
    for line in lines:
        rest = line[_LLD_OUT:].rstrip("\n")
        if rest[: _LLD_SYMBOL - _LLD_OUT].isspace():
            if current:
                yield current, rest[_LLD_SYMBOL - _LLD_OUT :]
        elif rest[: _LLD_IN - _LLD_OUT].isspace():
            source, _, section = rest[_LLD_IN - _LLD_OUT :].rpartition(":(")
            current = source if source != "<internal>" else ""
            if current:
                yield current, _section_symbol(section.rstrip(")"))


def _gnu(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    section = current = ""
    for raw in lines:
        line = raw.rstrip("\n")
        if line.startswith("LOAD "):
            yield line[5:], ""
        elif line.startswith("."):
            current = ""
        elif match := _GNU_SYMBOL.match(line):
            if current and " = " not in match["symbol"]:
                yield current, match["symbol"]
        elif match := _GNU_INPUT.match(line):
            section = match["section"] or section  # a long name stands on a line of its own
            current = match["object"] or ""
            if current:
                yield current, _section_symbol(section)


def _apple(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    files: dict[str, str] = {}
    for line in lines:
        if match := _APPLE_FILE.match(line.rstrip("\n")):
            files[match["number"]] = match["object"]
            if match["number"] != "0":
                yield match["object"], ""
        elif (match := _APPLE_SYMBOL.match(line.rstrip("\n"))) and match["number"] in files and match["number"] != "0":
            yield files[match["number"]], match["symbol"]


def _microsoft(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if match := _MICROSOFT.match(line.rstrip("\n")):
            yield match["object"], match["symbol"]


def _section_symbol(section: str) -> str:
    """Return the mangled name that -ffunction-sections puts into a section's name, where the map itself prints the demangled one."""
    for prefix in _NAMED_SECTIONS:
        if section.startswith(prefix):
            return section[len(prefix) :]
    return ""
