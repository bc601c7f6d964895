"""Owns link maps: which objects and archive members a link took in, and which symbol came from which.

LinkMap.read(Path("libLiteRtLm.map")).sources("litert_lm_engine_create")     # ('bazel-out/k8-opt/bin/c/_objs/engine/engine.pic.o',)

Both writers are read: GNU ld (-Map; an object heads its symbols) and lld (-Map; columns VMA LMA Size Align Out In Symbol).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from litert_build.errors import BuildError

_LLD_INPUT = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +\d+ {9}(?P<object>.+?):\((?P<section>[^)]*)\)$")
_LLD_SYMBOL = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +\d+ {17}(?P<symbol>\S.*)$")
_GNU_INPUT = re.compile(r"^ (?P<section>[.\w][^ ]*)?(?: +0x[0-9a-f]+ +0x[0-9a-f]+ (?P<object>\S.*))?$")
_GNU_SYMBOL = re.compile(r"^ +0x[0-9a-f]+ {16}(?P<symbol>\S.*)$")
_GNU_LOAD = re.compile(r"^LOAD (?P<object>.+)$")
_MEMBER = re.compile(r"^(?P<archive>.+\.(?:a|lib))(?:\((?P<member>[^)]*)\)|:(?P<lld>[^:]*))$")


@dataclass(frozen=True)
class LinkMap:
    """`symbols` maps a symbol, as the map spells it, to the objects that hold it; `inputs` are all objects, archives and libraries."""

    inputs: tuple[str, ...]
    symbols: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def read(file: Path) -> LinkMap:
        """Parse a map of GNU ld or lld. Raises BuildError where the file cannot be read or is neither."""
        try:
            text = file.read_text(encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise BuildError(f"cannot read the link map: {error.strerror}", where=str(file), mend="link again") from error
        lines = text.splitlines()
        if lines and lines[0].split()[:3] == ["VMA", "LMA", "Size"]:
            return _read_lld(lines)
        if any(line.startswith(("Memory Configuration", "Linker script and memory map")) for line in lines):
            return _read_gnu(lines)
        raise BuildError("neither a map of GNU ld nor one of lld", where=str(file), mend="link with -Wl,-Map,FILE")

    @cached_property
    def archives(self) -> tuple[str, ...]:
        """The archives that gave at least one member."""
        found = dict.fromkeys(match["archive"] for name in self.inputs if (match := _MEMBER.match(name)))
        return tuple(found)

    def sources(self, name: str) -> tuple[str, ...]:
        """Return the inputs that hold the symbol `name`, or that are the library of that file name."""
        direct = self.symbols.get(name, ())
        return direct or tuple(path for path in self.inputs if path.replace("\\", "/").rsplit("/", 1)[-1] == name)


class _Collector:
    def __init__(self) -> None:
        self.inputs: dict[str, None] = {}
        self.symbols: dict[str, dict[str, None]] = {}

    def symbol(self, name: str, source: str) -> None:
        self.symbols.setdefault(name, {})[source] = None

    def section(self, name: str, source: str) -> None:
        """-ffunction-sections puts the mangled name into the section's, where the map itself prints the demangled one."""
        self.inputs[source] = None
        for prefix in (".text.", ".data.rel.ro.", ".rodata.", ".data.", ".bss."):
            if name.startswith(prefix) and len(name) > len(prefix):
                self.symbol(name[len(prefix) :], source)
                return

    def map(self) -> LinkMap:
        return LinkMap(tuple(self.inputs), {name: tuple(sources) for name, sources in self.symbols.items()})


def _read_lld(lines: list[str]) -> LinkMap:
    found, current = _Collector(), ""
    for line in lines[1:]:
        if match := _LLD_INPUT.match(line):
            current = match["object"]
            if current != "<internal>":
                found.section(match["section"], current)
        elif (match := _LLD_SYMBOL.match(line)) and current and current != "<internal>":
            found.symbol(match["symbol"], current)
    return found.map()


def _read_gnu(lines: list[str]) -> LinkMap:
    found, section, current = _Collector(), "", ""
    start = next((number for number, line in enumerate(lines) if line.startswith("Linker script and memory map")), 0)
    for line in lines[start:]:
        if match := _GNU_LOAD.match(line):
            found.inputs[match["object"]] = None
        elif match := _GNU_SYMBOL.match(line):
            if current and " = " not in match["symbol"]:
                found.symbol(match["symbol"], current)
        elif match := _GNU_INPUT.match(line):
            section = match["section"] or section  # a long name stands on a line of its own
            current = match["object"] or ""
            if current:
                found.section(section, current)
        elif line.startswith("."):
            current = ""
    return found.map()
