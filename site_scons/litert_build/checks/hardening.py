"""Owns the rules on the file itself: its platform, and what the linker was told to protect.

RULES["bind-now"].check(context).findings
"""

from __future__ import annotations

from litert_build.checks.model import Context, Finding, Outcome
from litert_build.checks.registry import rule, with_facts

_WORDS = {"elf": "ELF", "pe": "PE", "macho": "Mach-O"}


@rule(
    "library-file",
    title="The file is a readable library",
    why="A Git LFS pointer, a truncated download or a text file packs and uploads like a library.",
    mend="fetch or build the library again",
    example=with_facts(size=0),
)
def library_file(context: Context) -> Outcome:
    facts = context.facts
    return Outcome(f"{facts.size} bytes", () if facts.size else (Finding(facts.file.name, "the file is empty"),))


@rule(
    "architecture",
    title="The file is of the target's format and architecture",
    why="An Intel library in an arm64 bundle packs, uploads and fails only on the user's machine.",
    mend="build or fetch the library for the target that the bundle is named after",
    example=with_facts(arch="arm64"),
)
def architecture(context: Context) -> Outcome:
    facts, target = context.facts, context.target
    found = f"{_WORDS[facts.format]} {facts.arch} {facts.kind}"
    findings = []
    if (facts.arch, facts.format, facts.kind) != (target.arch, target.format, "shared library"):
        findings.append(Finding(found, f"{target.name} asks for {_WORDS[target.format]} {target.arch} shared library"))
    if context.policy.role == "host" and len(facts.slices) > 1:
        findings.append(Finding(", ".join(facts.slices), "a fat file: the host of one target has one architecture"))
    return Outcome(found, tuple(findings))


def _flag(holds: bool, name: str, good: str, bad: str) -> Outcome:
    return Outcome(good, () if holds else (Finding(name, bad),))


@rule(
    "relro",
    title="RELRO",
    why="Without it the tables of function pointers stay writable while the process runs.",
    mend="link with -Wl,-z,relro",
    formats=("elf",),
    example=with_facts(relro=False),
)
def relro(context: Context) -> Outcome:
    return _flag(context.facts.relro, "RELRO", "PT_GNU_RELRO present", "no PT_GNU_RELRO segment")


@rule(
    "bind-now",
    title="BIND_NOW",
    why="Lazy binding keeps the global offset table writable, and turns a missing symbol into a crash at the first call.",
    mend="link with -Wl,-z,now",
    formats=("elf",),
    roles=("host",),
    example=with_facts(bind_now=False),
)
def bind_now(context: Context) -> Outcome:
    return _flag(context.facts.bind_now, "BIND_NOW", "bound at load", "neither DT_BIND_NOW, DF_BIND_NOW nor DF_1_NOW is set")


@rule(
    "text-relocations",
    title="No text relocations",
    why="They make code pages writable and private to each process; Android and SELinux refuse to load them.",
    mend="compile every object with -fPIC; -Wl,-z,text names the object that is not",
    formats=("elf",),
    example=with_facts(text_relocations=True),
)
def text_relocations(context: Context) -> Outcome:
    return _flag(not context.facts.text_relocations, "TEXTREL", "none", "DT_TEXTREL or DF_TEXTREL is set")


@rule(
    "executable-stack",
    title="No executable stack",
    why="One assembly file without .note.GNU-stack makes each stack of the process executable; recent glibc refuses to dlopen it.",
    mend="add .note.GNU-stack to the assembly file, or link with -Wl,-z,noexecstack",
    formats=("elf",),
    example=with_facts(nx=False),
)
def executable_stack(context: Context) -> Outcome:
    return _flag(context.facts.nx, "PT_GNU_STACK", "stack not executable", "PT_GNU_STACK is missing or executable")
