"""Owns one sound library a platform, as facts: what the examples of the rules break, for docs/gate.md and the tests.

sound("android-arm64").facts.flags      # ('NOW', 'GLOBAL')
"""

from __future__ import annotations

import dataclasses
from datetime import date
from pathlib import Path

from litert_build.binaries.facts import BinaryFacts, Evidence, Symbol
from litert_build.checks.model import Context, GatePolicy, Rule
from litert_build.policy.targets import find_target

_EXPORT = "litert_lm_engine_create"
_TARGETS = {"linux": "linux-x64", "android": "android-arm64", "windows": "windows-x64", "macos": "macos-arm64", "ios": "ios-arm64"}


def sound(target: str) -> Context:
    """Return a context of a small host for `target` that every rule passes."""
    row = find_target(target)
    policy = GatePolicy(required=(_EXPORT,), signatures={_EXPORT: "ptr(ptr)"}, version="v0.19.1", today=date(2026, 12, 1))
    facts = {"elf": _elf, "pe": _pe, "macho": _macho}[row.format](row.library, row.os, row.arch)
    return Context(facts, row, policy, call_order=lambda _: ["CreateGpuEnvironmentOptions", "LoadOpenCL"], api={_EXPORT: "ptr(ptr)"})


def _elf(library: str, os: str, arch: str) -> BinaryFacts:
    android = os == "android"
    return BinaryFacts(
        file=Path(library), size=1 << 20, format="elf", arch=arch, kind="shared library",
        needed=("libc.so",) if android else ("libm.so.6", "libc.so.6"),
        exports=(Symbol(_EXPORT, "func"),), soname=library, runpath=("$ORIGIN",), relro=True, bind_now=True, nx=True,
        alignments=(0x4000,), flags=("NOW", "GLOBAL") if android else ("NOW",), platform=os, minimum_os="24" if android else "",
        evidence=Evidence({"libc++": ("St3__1 in 412 names",)}, {"libc++": "the text 'libc++abi: ', which only the library itself holds"}),
    )  # fmt: skip


def _pe(library: str, _: str, arch: str) -> BinaryFacts:
    return BinaryFacts(
        file=Path(library), size=1 << 20, format="pe", arch=arch, kind="shared library", needed=("KERNEL32.dll",),
        exports=(Symbol(_EXPORT, "func"),), nx=True, pie=True, flags=("HIGH_ENTROPY_VA", "DYNAMIC_BASE", "NX_COMPAT"),
        platform="windows", minimum_os="6.0", evidence=Evidence({"libc++": ("@__1@std@@ in 97 names",)}),
    )  # fmt: skip


def _macho(library: str, os: str, arch: str) -> BinaryFacts:
    return BinaryFacts(
        file=Path(library), size=1 << 20, format="macho", arch=arch, kind="shared library", slices=(arch,),
        needed=("/usr/lib/libSystem.B.dylib", "/usr/lib/libc++.1.dylib"), exports=(Symbol("_" + _EXPORT),),
        soname=f"@rpath/{library}", nx=True, pie=True, platform=os, minimum_os="14.0" if os == "macos" else "13.0",
        evidence=Evidence({"libc++": ("needs /usr/lib/libc++.1.dylib",)}),
    )  # fmt: skip


def example_context(rule: Rule, *, broken: bool = True) -> Context:
    """Return a sound library of the rule's first platform, in the rule's first role; broken by the rule's own example unless asked not to.

    Example: example_context(RULES["page-size"]).target.name is "android-arm64".
    """
    system = next(system for system in rule.systems if find_target(_TARGETS[system]).format in rule.formats)
    good = sound(_TARGETS[system])
    good = dataclasses.replace(good, policy=dataclasses.replace(good.policy, role=rule.roles[0]))
    return rule.example(good) if broken else good
