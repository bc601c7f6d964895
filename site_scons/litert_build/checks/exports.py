"""Owns the rules on the export table: what a client must find there, and what it must not.

RULES["required-exports"].check(context).findings
"""

from __future__ import annotations

import dataclasses
import heapq
import re
from collections import Counter

from litert_build.binaries.facts import Symbol
from litert_build.binaries.linkmap import LinkMap
from litert_build.checks.headers import read_api
from litert_build.checks.model import Context, Finding, Outcome
from litert_build.checks.registry import rule, with_policy

_SHOWN = 12
_KINDS = {"object": "data", "tls": "thread-local data", "absolute": "a number"}
_NAMESPACE = re.compile(r"_ZT?[A-Z]*?(?:N[VK]*)?(?P<length>\d+)(?P<rest>.+)")


@rule(
    "required-exports",
    title="Required functions are exported",
    why="Bindings look these names up at run time. A name elsewhere in the file (a string table, a local symbol) is not found there.",
    mend="link the object that defines it, and name it in the version script, .def or export list",
    roles=("host",),
    example=with_policy(required=("litert_lm_engine_create", "litert_lm_session_cancel")),
)
def required_exports(context: Context) -> Outcome:
    exported = context.facts.exported_names
    missing = [name for name in context.policy.required if name not in exported]
    findings = [Finding(name, "not in the export table", origin=context.blame(name)) for name in missing]
    facts = context.facts
    required = frozenset(context.policy.required)
    reasons: dict[str, list[str]] = {}
    for symbol in facts.exports:
        if (name := facts.c_name(symbol.name)) in required:
            reasons.setdefault(name, []).append(_unusable(symbol))
    findings += [Finding(name, found[0], origin=context.blame(name)) for name, found in reasons.items() if all(found)]
    return Outcome(f"all {len(context.policy.required)} required functions among {len(exported)} exports", tuple(findings))


def _unusable(symbol: Symbol) -> str:
    """Return why a client that looks the symbol up gets no function, or nothing: dlsym(3) finds no version but the default one."""
    if symbol.kind in ("object", "tls", "absolute"):
        return f"exported, but as {_KINDS[symbol.kind]} and not as a function"
    if symbol.version and not symbol.version.startswith("@@"):
        return f"exported in version {symbol.version} alone, which is not its default"
    return ""


def _leak(good: Context) -> Context:
    leaked = (*good.facts.exports, Symbol("_ZN4absl7DurationC1Ev", "func", "weak"))
    return dataclasses.replace(good, facts=dataclasses.replace(good.facts, exports=leaked))


@rule(
    "only-exports",
    title="Nothing else is exported",
    why="A leaked C++ symbol can be bound to, or replaced by, another library of the process: that joins two C++ runtimes again. Hidden "
    "visibility leaves weak and UNIQUE template statics, so only an export list is safe.",
    mend="generate the version script, .def or -exported_symbols_list from the allowed exports and link with it",
    roles=("host",),
    example=_leak,
)
def only_exports(context: Context) -> Outcome:
    policy = context.policy
    extra = [name for name in context.facts.exported_names if not policy.allows(name)]
    shown = heapq.nsmallest(_SHOWN, extra)
    findings = [Finding(name, "exported, but not allowed", origin=context.blame(name)) for name in shown]
    if len(extra) > _SHOWN:
        families = sorted(Counter(map(namespace, extra)).items(), key=lambda item: (-item[1], item[0]))[:8]
        findings.append(
            Finding(
                f"{len(extra) - _SHOWN} more",
                f"{len(extra)} in all, by namespace: " + ", ".join(f"{name} {count}" for name, count in families),
            )
        )
    return Outcome(f"{len(context.facts.exported_names)} exports, all allowed", tuple(findings))


def namespace(name: str) -> str:
    """Return the outermost namespace of an Itanium-mangled name, `C` for plain C, `C++` where it is in none."""
    if not name.startswith("_Z"):
        return "C"
    if name.startswith(("_ZNSt", "_ZNKSt", "_ZSt", "_ZTISt", "_ZTSSt", "_ZTVSt", "_ZTINSt", "_ZTSNSt", "_ZTVNSt")):
        return "std"
    match = _NAMESPACE.match(name)
    return match["rest"][: int(match["length"])] if match else "C++"


@rule(
    "c-abi",
    title="The C functions have the signatures the bridge was written for",
    why="A function that keeps its name and changes its parameters (from 0.19 on, constructors return a status and fill an out-pointer) "
    "crashes every client, and no export table shows it. So the headers of the ref are read.",
    mend="write the bridge and the bindings for the new signature, then record it in policy/exports.py",
    roles=("host",),
    example=lambda good: dataclasses.replace(good, api={"litert_lm_engine_create": "i32(ptr, ptr)"}),
)
def c_abi(context: Context) -> Outcome:
    expected = context.policy.signatures
    found = context.api if context.api is not None else read_api(context.policy.headers)
    if not context.policy.headers and context.api is None:
        return Outcome("no headers of the ref were given")
    findings = [
        Finding(name, f"declared as {found[name]}, the bridge was written for {signature}" if name in found else "no header declares it")
        for name, signature in expected.items()
        if found.get(name) != signature
    ]
    compared = f"{len(expected)} signatures as expected" if expected else "no signatures are recorded for this ref"
    return Outcome(f"{compared}, {len(found)} functions declared", tuple(findings))


@rule(
    "registrations",
    title="Every library that registers itself is in the link",
    why="A static accelerator registers itself from a constructor that nothing calls: as an archive member it is dropped without "
    "a word, and the GPU with it.",
    mend="link its objects directly, or its archive whole: the label is alwayslink",
    roles=("host",),
    example=lambda good: dataclasses.replace(
        good,
        link_map=LinkMap(("bazel-out/k8-opt/bin/c/_objs/engine/engine.pic.o",)),
        policy=dataclasses.replace(good.policy, registrations={"bazel-out/k8-opt/bin/gpu/_objs/webgpu/registration.pic.o": "//gpu:webgpu"}),
    ),
)
def registrations(context: Context) -> Outcome:
    wanted = context.policy.registrations
    if not wanted:
        return Outcome("none is required")
    if context.link_map is None:
        return Outcome(
            "unknown", (Finding("link map", "no link map shows what was linked", "link with -Wl,-Map and hand the map to the gate"),)
        )
    inputs = set(context.link_map.inputs)
    findings = tuple(
        Finding(label, f"{source} is not in the link", origin=tuple(context.label_path(source)))
        for source, label in wanted.items()
        if source not in inputs
    )
    return Outcome(f"all {len(wanted)} are in the link", findings)
