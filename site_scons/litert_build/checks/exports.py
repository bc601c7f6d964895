"""Owns the rules on the export table: what a client must find there, and what it must not.

RULES["required-exports"].check(context).findings
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter

from litert_build.binaries.facts import Symbol
from litert_build.checks.model import Context, Finding, Outcome
from litert_build.checks.registry import rule, with_policy

_SHOWN = 12
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
    findings = tuple(Finding(name, "not in the export table", origin=context.blame(name)) for name in missing)
    return Outcome(f"all {len(context.policy.required)} required functions among {len(exported)} exports", findings)


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
    extra = sorted(name for name in context.facts.exported_names if not policy.allows(name))
    findings = [Finding(name, "exported, but not allowed", origin=context.blame(name)) for name in extra[:_SHOWN]]
    if len(extra) > _SHOWN:
        families = Counter(map(namespace, extra)).most_common(8)
        findings.append(Finding(f"{len(extra) - _SHOWN} more", "by namespace: " + ", ".join(f"{name} {count}" for name, count in families)))
    return Outcome(f"{len(context.facts.exported_names)} exports, all allowed", tuple(findings))


def namespace(name: str) -> str:
    """Return the outermost namespace of an Itanium-mangled name, `C` for plain C, `C++` where it is in none."""
    if not name.startswith("_Z"):
        return "C"
    if name.startswith(("_ZNSt", "_ZNKSt", "_ZSt", "_ZTISt", "_ZTSSt", "_ZTVSt", "_ZTINSt", "_ZTSNSt", "_ZTVNSt")):
        return "std"
    match = _NAMESPACE.match(name)
    return match["rest"][: int(match["length"])] if match else "C++"
