"""Owns the vocabulary of the gate: a rule, what it looks at, what it found, and the policy that it is asked to hold.

policy = GatePolicy(link_mode="static", required=("litert_lm_engine_create",), allowed=("stream_proxy_*",), version="v0.19.1")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Literal

from packaging.version import InvalidVersion, Version

from litert_build.binaries.facts import BinaryFacts, Format
from litert_build.binaries.linkmap import LinkMap
from litert_build.policy.targets import Target

LinkMode = Literal["static", "dynamic", "none"]
Role = Literal["host", "companion"]
Status = Literal["passed", "failed", "waived"]


@dataclass(frozen=True)
class Waiver:
    """A finding that is tolerated until the end of a day, for a written reason. `subject` and `target` may hold wildcards."""

    rule: str
    reason: str
    until: date
    subject: str = "*"
    target: str = "*"

    def covers(self, rule: str, subject: str, target: str) -> bool:
        return self.rule == rule and fnmatchcase(subject, self.subject) and fnmatchcase(target, self.target)


@dataclass(frozen=True)
class GatePolicy:
    """What a library must satisfy beyond its target's row.

    `required` and `allowed` are C names (allowed also takes a trailing `*`; what is required is allowed). `version` is the ref; one
    that is no version number, as `sample`, counts as the newest. `bundled` names the files that stand beside the library in its
    bundle. `glibc_ceiling` and `glibcxx_ceiling` are the highest symbol versions that may be needed ("2.28"); empty is no ceiling.
    `registrations` maps an object that must be in the link to its label; `dependency_path` returns the labels from the root to the
    one that made an object. `headers` are the ref's C headers, `signatures` what the bridge was written for (checks.headers).
    """

    link_mode: LinkMode = "static"
    required: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    version: str = ""
    waivers: tuple[Waiver, ...] = ()
    role: Role = "host"
    bundled: tuple[str, ...] = ()
    glibc_ceiling: str = ""
    glibcxx_ceiling: str = ""
    registrations: Mapping[str, str] = field(default_factory=dict)
    headers: tuple[Path, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    dependency_path: Callable[[str], Sequence[str]] | None = None
    today: date = field(default_factory=date.today)

    def at_least(self, version: str) -> bool:
        """Return whether the ref is `version` or newer."""
        try:
            return Version(self.version.lstrip("v")).release >= Version(version.lstrip("v")).release
        except InvalidVersion:
            return True

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        return tuple(pattern[:-1] for pattern in self.allowed if pattern.endswith("*"))

    @cached_property
    def _exact(self) -> frozenset[str]:
        return frozenset((*self.required, *self.allowed))

    def allows(self, name: str) -> bool:
        """Return whether a host may export `name`."""
        return name in self._exact or name.startswith(self._prefixes)


@dataclass(frozen=True)
class Finding:
    """One thing that breaks a rule: what (`subject`, a symbol, library or field), where it shows, who brought it, what mends it."""

    subject: str
    evidence: str
    mend: str = ""
    origin: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a rule says about one file: a sentence, and the findings that make it fail."""

    summary: str
    findings: tuple[Finding, ...] = ()


def host_names(target: Target) -> tuple[str, str]:
    """Return the file names of a host of `target`: the library's, and that of a framework's binary."""
    return target.library, target.library.removeprefix("lib").split(".")[0]


@dataclass(frozen=True)
class Context:
    """All that a rule may look at. `neighbours` are the libraries of the same bundle by file name, the judged one among them;
    `call_order` and `api` stand in for the disassembly and for parsing the headers."""

    facts: BinaryFacts
    target: Target
    policy: GatePolicy
    link_map: LinkMap | None = None
    neighbours: Mapping[str, BinaryFacts] = field(default_factory=dict)
    call_order: Callable[[Path], list[str]] | None = None
    api: Mapping[str, str] | None = None

    def same_name(self, library: str) -> str:
        """Return the file name of a needed library as it is compared: Mach-O records whole install names, Windows ignores case."""
        name = library.rsplit("/", 1)[-1]
        return name.lower() if self.facts.format == "pe" else name

    def neighbour(self, library: str) -> BinaryFacts | None:
        """Return the facts of a needed library of the same bundle."""
        return self._by_name.get(self.same_name(library))

    @property
    def host(self) -> BinaryFacts | None:
        """The facts of the bundle's host: the target's library, or the binary of its framework."""
        return next((facts for name in host_names(self.target) if (facts := self.neighbour(name))), None)

    def is_bundled(self, library: str) -> bool:
        """Return whether the bundle has a needed library, read or not."""
        return self.same_name(library) in {self.same_name(name) for name in self.policy.bundled}

    @cached_property
    def _by_name(self) -> dict[str, BinaryFacts]:
        return {self.same_name(name): facts for name, facts in self.neighbours.items()}

    def label_path(self, source: str) -> tuple[str, ...]:
        """Return a line with the labels from the root to the one that made `source`, or nothing where they are unknown."""
        path = self.policy.dependency_path(source) if self.policy.dependency_path else ()
        return ("label: " + " -> ".join(path),) if path else ()

    def blame(self, name: str) -> tuple[str, ...]:
        """Return who brought `name` (a symbol or a library) into the link: the object, and the labels that lead to it."""
        if self.link_map is None:
            return ()
        lines: list[str] = []
        for source in self.link_map.sources(name):
            lines += [source, *self.label_path(source)]
        return tuple(lines)


@dataclass(frozen=True)
class Rule:
    """One registered rule. `example` breaks a sound library the way the rule must notice; docs/gate.md shows what it then says."""

    id: str
    title: str
    why: str
    mend: str
    check: Callable[[Context], Outcome]
    example: Callable[[Context], Context]
    formats: tuple[Format, ...] = ("elf", "pe", "macho")
    systems: tuple[str, ...] = ("linux", "android", "windows", "macos", "ios")
    roles: tuple[Role, ...] = ("host", "companion")
    modes: tuple[LinkMode, ...] = ("static", "dynamic", "none")
    since: str = ""

    def applies(self, context: Context) -> bool:
        policy = context.policy
        return (
            context.facts.format in self.formats
            and context.target.os in self.systems
            and policy.role in self.roles
            and policy.link_mode in self.modes
            and (not self.since or policy.at_least(self.since))
        )
