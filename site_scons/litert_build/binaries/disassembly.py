"""Owns call orders: which of some functions a compiled function calls first, read from its machine code by capstone.

call_order(Path("libLiteRtLm.so"), re.compile(r"14GpuEnvironment10InitializeE"), {"options": re.compile(r"27CreateGpuEnvironmentOptionsE")})

ELF only, arm64 and x86-64. A call through the PLT is followed to the symbol of its GOT slot (AAELF64, psABI x86-64).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import capstone  # type: ignore[import-untyped]

from litert_build.binaries.elf import SHT_DYNSYM, SHT_SYMTAB, ElfImage
from litert_build.binaries.window import Names, Window
from litert_build.errors import BuildError

_JMPREL, _PLTRELSZ = 23, 2
_FUNC = 2
_STUB = 32
_LONGEST = 1 << 20


@dataclass(frozen=True)
class Function:
    """A function of the symbol tables."""

    name: str
    address: int
    size: int


class _Code:
    """The functions of one ELF file, and its disassembler."""

    def __init__(self, window: Window) -> None:
        self.image = ElfImage(window)
        arch = {
            "EM_AARCH64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
            "EM_X86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        }.get(self.image.machine)
        if arch is None:
            raise BuildError(f"no disassembler for {self.image.machine}", where=str(window.file), mend="check an arm64 or x64 library")
        self.machine = capstone.Cs(*arch)
        self.machine.detail = True
        self.functions = list(_functions(self.image))
        self.by_address = {function.address: function.name for function in self.functions}
        self.slots = _plt_slots(self.image)

    def bytes_at(self, address: int, size: int) -> bytes:
        return self.image.window.read(self.image.offset(address, "code"), min(size, _LONGEST), "code")

    def calls(self, function: Function) -> Iterator[str]:
        """Yield the names of what `function` calls or jumps to outside itself, in the order of the code."""
        for step in self.machine.disasm(self.bytes_at(function.address, function.size), function.address):
            if step.mnemonic not in ("bl", "b", "call", "jmp") or step.operands[0].type != capstone.CS_OP_IMM:
                continue
            target = step.operands[0].imm
            if not function.address <= target < function.address + function.size:
                yield self.by_address.get(target) or self._stub(target)

    def _stub(self, address: int) -> str:
        """Return the symbol behind a PLT stub: `adrp x16; ldr x17, [x16, n]` or `jmp [rip + n]`; the empty string for other code."""
        page: int | None = None
        for step in self.machine.disasm(self.bytes_at(address, _STUB), address):
            if step.mnemonic == "adrp":
                page = step.operands[1].imm
            elif step.mnemonic == "ldr" and page is not None:
                return self.slots.get(page + step.operands[1].mem.disp, "")
            elif step.mnemonic in ("jmp", "bnd jmp") and step.operands[0].type == capstone.CS_OP_MEM:
                return self.slots.get(step.address + step.size + step.operands[0].mem.disp, "")
        return ""


def call_order(file: Path, caller: re.Pattern[str], callees: Mapping[str, re.Pattern[str]]) -> list[str]:
    """Return the keys of `callees` in the order of their first call in the function whose mangled name `caller` finds.

    Raises BuildError where there is no such function, as in a stripped file, or more than one.
    """
    with Window.open(file) as window:
        code = _Code(window)
        found = {function.address: function for function in code.functions if caller.search(function.name) and function.size}
        if len(found) != 1:
            raise BuildError(
                f"{len(found)} functions match {caller.pattern}",
                where=str(file),
                mend="check the library before it is stripped: its symbol table names the function",
            )
        (function,) = found.values()
        order: dict[str, None] = {}
        for name in code.calls(function):
            order.update((key, None) for key, pattern in callees.items() if pattern.search(name))
        return list(order)


def _functions(image: ElfImage) -> Iterator[Function]:
    """Yield the functions of .symtab and .dynsym."""
    layout = struct.Struct(image.order + ("IBBHQQ" if image.wide else "IIIBBH"))
    for section in image.sections:
        if section.type not in (SHT_SYMTAB, SHT_DYNSYM) or section.link >= len(image.sections):
            continue
        strings = image.sections[section.link]
        names = Names(image.window.file, image.window.read(strings.offset, strings.size, "a string table"))
        table = image.window.read(section.offset, section.size - section.size % layout.size, "a symbol table")
        for fields in layout.iter_unpack(table):
            name, info, _, index, address, size = fields if image.wide else (fields[0], *fields[3:], *fields[1:3])
            if info & 15 == _FUNC and index:
                yield Function(names[name], address, size)


def _plt_slots(image: ElfImage) -> dict[int, str]:
    """Return the symbol of each GOT slot of the PLT (DT_JMPREL, Elf64_Rela)."""
    address, size = image.first(_JMPREL), image.first(_PLTRELSZ)
    if address is None or size is None or not image.wide:
        return {}
    entries = image.window.read(image.offset(address, "DT_JMPREL"), size - size % 24, "DT_JMPREL")
    return {slot: image.symbol_name(info >> 32) for slot, info, _ in struct.iter_unpack(image.order + "QQq", entries)}
