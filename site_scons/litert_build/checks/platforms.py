"""Owns the rules that hold on one platform: versions of the system that a library asks for, Android, Apple, Windows.

RULES["page-size"].check(context).findings
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from packaging.version import InvalidVersion, Version

from litert_build.binaries.facts import BinaryFacts, Symbol
from litert_build.binaries.reader import read_binary
from litert_build.checks.dependencies import base_name, listed
from litert_build.checks.model import Context, Finding, Outcome
from litert_build.checks.registry import rule, with_facts
from litert_build.errors import BuildError

_INITIALIZE = re.compile(r"14GpuEnvironment10InitializeE")
_CALLS = {
    "CreateGpuEnvironmentOptions": re.compile(r"27CreateGpuEnvironmentOptionsE"),
    "LoadOpenCL": re.compile(r"(?:10LoadOpenCL|16InitializeOpenCl)E"),
}
_PROVIDER = "GemmaModelConstraintProvider"


def _ceiling(context: Context, prefix: str, limit: str) -> Outcome:
    """Return the outcome of a rule that no version of a symbol family is above `limit`; an empty limit is none."""
    needs = {
        (Version(version.removeprefix(prefix)), library, version)
        for library, versions in context.facts.version_needs.items()
        for version in versions
        if re.fullmatch(rf"{prefix}[\d.]+", version)
    }
    highest = max(needs)[2] if needs else "none"
    over = sorted(entry for entry in needs if limit and entry[0] > Version(limit))
    findings = []
    for _, library, version in over:
        symbols = tuple(symbol.name for symbol in context.facts.imports if symbol.version == version and symbol.library == library)
        origin = tuple(line for symbol in symbols[:1] for line in context.blame(symbol))
        findings.append(
            Finding(version, f"needed of {library} by {listed(symbols, 'no symbol')}; the limit is {prefix}{limit}", origin=origin)
        )
    return Outcome(f"highest need {highest}, limit {limit or 'none'}", tuple(findings))


def _newer_glibc(good: Context) -> Context:
    symbol = Symbol("arc4random", "func", "global", "GLIBC_2.36", "libc.so.6")
    facts = dataclasses.replace(good.facts, version_needs={"libc.so.6": ("GLIBC_2.17", "GLIBC_2.36")}, imports=(symbol,))
    return dataclasses.replace(good, facts=facts, policy=dataclasses.replace(good.policy, glibc_ceiling="2.28"))


@rule(
    "glibc-ceiling",
    title="No glibc symbol newer than the oldest supported system",
    why="A library that asks for a newer GLIBC_ version than the user's system has does not load there; the builder's machine hides it.",
    mend="build with the release toolchain (zig c++ -target ...-gnu.<version>), or in a system with that glibc",
    formats=("elf",),
    systems=("linux",),
    example=_newer_glibc,
)
def glibc_ceiling(context: Context) -> Outcome:
    return _ceiling(context, "GLIBC_", context.policy.glibc_ceiling)


@rule(
    "libstdcxx-ceiling",
    title="No libstdc++ symbol newer than the oldest supported system",
    why="The same for GLIBCXX_ versions, where a library uses the system's libstdc++.",
    mend="link libstdc++ statically, or build with the compiler of the oldest supported system",
    formats=("elf",),
    systems=("linux",),
    example=lambda good: dataclasses.replace(
        with_facts(version_needs={"libstdc++.so.6": ("GLIBCXX_3.4.30",)})(good),
        policy=dataclasses.replace(good.policy, glibcxx_ceiling="3.4.25"),
    ),
)
def libstdcxx_ceiling(context: Context) -> Outcome:
    return _ceiling(context, "GLIBCXX_", context.policy.glibcxx_ceiling)


@rule(
    "page-size",
    title="Segments aligned to the largest page",
    why="Devices with 16 KiB pages refuse a library whose loaded segments are aligned to 4 KiB.",
    mend="link with -Wl,-z,max-page-size=16384 -Wl,-z,common-page-size=16384",
    formats=("elf",),
    systems=("android",),
    example=with_facts(alignments=(0x1000, 0x1000)),
)
def page_size(context: Context) -> Outcome:
    need = context.target.page_size
    findings = tuple(
        Finding(f"{alignment:#x}", f"a PT_LOAD segment is aligned to {alignment} bytes, {need} are needed")
        for alignment in dict.fromkeys(context.facts.alignments)
        if alignment < need
    )
    return Outcome(f"PT_LOAD aligned to {min(context.facts.alignments, default=0)} bytes", findings)


@rule(
    "global-flag",
    title="DF_1_GLOBAL",
    why="Sampler plug-ins that Android opens later resolve the host's symbols only where the host was loaded into the global group.",
    mend="link the host with -Wl,-z,global",
    formats=("elf",),
    systems=("android",),
    roles=("host",),
    example=with_facts(flags=("NOW",)),
)
def global_flag(context: Context) -> Outcome:
    found = "GLOBAL" in context.facts.flags
    return Outcome("DF_1_GLOBAL set", () if found else (Finding("DF_1_GLOBAL", f"DT_FLAGS_1 holds {listed(context.facts.flags)}"),))


@rule(
    "gpu-teardown-order",
    title="The GPU environment's options are made before OpenCL is loaded",
    why="In the other order, where OpenCL does not load, the environment has no destroy callback: the engine leaks 2 GB of GPU memory.",
    mend="apply the carried patch of the GPU environment's destroy callback, and check the library before it is stripped",
    formats=("elf",),
    systems=("android",),
    roles=("host",),
    example=lambda good: dataclasses.replace(good, call_order=lambda _: ["LoadOpenCL", "CreateGpuEnvironmentOptions"]),
)
def gpu_teardown_order(context: Context) -> Outcome:
    try:
        order = context.call_order(context.facts.file) if context.call_order else _call_order(context)
    except BuildError as error:
        return Outcome("unknown", (Finding("GpuEnvironment::Initialize", error.what, error.mend),))
    findings = [Finding(name, "GpuEnvironment::Initialize never calls it") for name in _CALLS if name not in order]
    if not findings and order != list(_CALLS):
        findings = [Finding("GpuEnvironment::Initialize", f"calls {order[0]} before {order[1]}")]
    return Outcome("GpuEnvironment::Initialize calls " + " before ".join(order), tuple(findings))


def _call_order(context: Context) -> list[str]:
    # capstone is a library of 10 MB, which only this rule needs.
    from litert_build.binaries.disassembly import call_order

    return call_order(_with_symbols(context.facts), _INITIALIZE, _CALLS)


def _with_symbols(facts: BinaryFacts) -> Path:
    """Return the unstripped twin that debug_symbols=split keeps beside a library, where it is of the same build; else the library."""
    twin = facts.file.with_name(f"{facts.file.name}.debug")
    return twin if facts.build_id and twin.is_file() and read_binary(twin).build_id == facts.build_id else facts.file


@rule(
    "constraint-provider",
    title="No constraint provider on iOS",
    why="From v0.17 the prebuilt provider is left out on iOS; a host that still names it does not load, or is refused by the store.",
    mend="build with --define=LITERT_LM_FST_CONSTRAINTS_DISABLED=1",
    systems=("ios",),
    since="v0.17",
    example=with_facts(imports=(Symbol(f"_LiteRtLm{_PROVIDER}_Create"),)),
)
def constraint_provider(context: Context) -> Outcome:
    facts = context.facts
    places = [("load command", name) for name in (*facts.needed, *facts.delay_needed) if _PROVIDER in name]
    places += [("undefined symbol", symbol.name) for symbol in facts.imports if _PROVIDER in symbol.name]
    places += [("file name", name) for name in (facts.file.name, *context.neighbours) if _PROVIDER in name]
    findings = tuple(Finding(name, f"{place} {name}", origin=context.blame(facts.c_name(name))) for place, name in places)
    return Outcome(f"no load command, undefined symbol or file of {_PROVIDER}", findings)


@rule(
    "minimum-os",
    title="Platform and minimum OS",
    why="A store refuses, and an older device cannot load, a library built for a newer system; one of another platform loads nowhere.",
    mend="set the deployment target: -mmacosx-version-min, -miphoneos-version-min or the NDK's API level in the compiler's target",
    systems=("ios", "macos", "android"),
    example=with_facts(minimum_os="26.2"),
)
def minimum_os(context: Context) -> Outcome:
    facts, target = context.facts, context.target
    wanted = "ios-simulator" if target.name.endswith("-sim") else target.os
    if facts.platform != wanted:
        return Outcome(facts.platform, (Finding(facts.platform or "none", f"built for {facts.platform or 'no platform'}, not {wanted}"),))
    limit = target.minimum_os_limit
    try:
        above = bool(limit) and Version(facts.minimum_os) > Version(limit)
    except InvalidVersion:
        finding = Finding(facts.minimum_os or "none", "the minimum OS is missing or ambiguous")
        return Outcome("unknown", (finding,))
    finding = Finding(facts.minimum_os, f"minimum OS {facts.minimum_os}, the limit for {target.name} is {limit}")
    return Outcome(f"{facts.platform} {facts.minimum_os}, limit {limit or 'none'}", (finding,) if above else ())


@rule(
    "pe-hardening",
    title="ASLR, high entropy and NX",
    why="A DLL without them is loaded at a predictable address, or turns data execution prevention off for its pages.",
    mend="link with /DYNAMICBASE /HIGHENTROPYVA /NXCOMPAT (GNU ld: --dynamicbase --high-entropy-va --nxcompat)",
    formats=("pe",),
    systems=("windows",),
    example=with_facts(flags=("NX_COMPAT",)),
)
def pe_hardening(context: Context) -> Outcome:
    needed = ("DYNAMIC_BASE", "HIGH_ENTROPY_VA", "NX_COMPAT")
    findings = tuple(Finding(name, f"DllCharacteristics lacks {name}") for name in needed if name not in context.facts.flags)
    return Outcome(f"DllCharacteristics {listed(context.facts.flags)}", findings)


@rule(
    "own-exports",
    title="What is exported is defined here, under a name",
    why="An ordinal without a name cannot be looked up by a binding; a forwarder or a re-export hands the call to another library.",
    mend="name each export in the .def or export list, and link its object into the host",
    formats=("pe", "macho"),
    roles=("host",),
    example=with_facts(exports=(Symbol("litert_lm_engine_create", "forwarder", library="libLiteRt.litert_lm_engine_create"),)),
)
def own_exports(context: Context) -> Outcome:
    facts = context.facts
    if not facts.exports_found:
        return Outcome("none", (Finding("export directory", "the file has no export directory"),))
    words = {"forwarder": "forwarded to", "reexport": "re-exported from", "ordinal": "an ordinal without a name"}
    findings = [Finding(symbol.name, f"{words[symbol.kind]} {symbol.library}".rstrip()) for symbol in facts.exports if symbol.kind in words]
    findings += [Finding(base_name(name), f"every symbol of {name} is re-exported") for name in facts.reexported]
    return Outcome(f"{len(facts.exports)} named exports, all defined here", tuple(findings))
