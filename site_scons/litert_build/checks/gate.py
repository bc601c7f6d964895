"""Owns the gate: all rules that apply to one file or to a folder of them, and the report that a person, a bundle and CI read.

report = check_host(Path("libLiteRtLm.so"), TARGETS["linux-x64"], policy, Path("libLiteRtLm.map"))
print(report.text)
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litert_build.binaries.facts import BinaryFacts
from litert_build.binaries.linkmap import LinkMap
from litert_build.binaries.reader import read_binary
from litert_build.checks import closure, dependencies, exports, hardening, platforms  # noqa: F401  (importing registers the rules)
from litert_build.checks.model import Context, Finding, GatePolicy, LinkMode, Outcome, Role, Rule, Status, Waiver, host_names
from litert_build.checks.registry import RULES
from litert_build.errors import BuildError
from litert_build.policy.exports import API_PATTERNS, expected_signatures, required_exports
from litert_build.policy.targets import Target

_SUFFIXES = (".so", ".dll", ".dylib", ".pyd")
_MAGICS = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"version https://git-lfs")


@dataclass(frozen=True)
class Result:
    """What one rule said. `open` findings fail the file; each of `waived` stands beside the waiver that covers it."""

    rule: Rule
    outcome: Outcome
    open: tuple[Finding, ...] = ()
    waived: tuple[tuple[Finding, Waiver], ...] = ()

    @property
    def status(self) -> Status:
        return "failed" if self.open else "waived" if self.waived else "passed"


@dataclass(frozen=True)
class GateReport:
    """The verdict on one file. `name` is its path within the bundle, or its file name; `facts` is None where it could not be read;
    `sha256` is the file's digest from before it was read, where it was judged alone."""

    name: str
    facts: BinaryFacts | None
    target: str
    link_mode: LinkMode
    role: Role
    results: tuple[Result, ...]
    sha256: str = ""

    @property
    def passed(self) -> bool:
        return bool(self.results) and all(result.status != "failed" for result in self.results)

    @property
    def text(self) -> str:
        """The report for a console: one line a rule; for a broken rule the evidence, its origin and what to do."""
        failed = [result for result in self.results if result.status == "failed"]
        if not self.passed:
            lines = [f"Rejected {self.name} for {self.target}: {len(failed)} of {len(self.results)} rules broken"]
        elif self.role == "companion":
            lines = [f"Validated {self.name} as a companion on {self.target}"]
        elif self.link_mode == "static":
            lines = [f"Validated in-process LiteRT linkage on {self.target}"]
        else:
            lines = [f"Validated LiteRT linkage ({self.link_mode} mode) on {self.target}"]
        for result in sorted(self.results, key=lambda result: result.status != "failed"):
            lines += result_lines(result)
        return "\n".join(lines)

    def to_json(self) -> str:
        """The content of checks.json: the same bytes for the same file and policy."""
        document = {
            "schema": 1,
            "file": self.name,
            "target": self.target,
            "linkMode": self.link_mode,
            "role": self.role,
            "passed": self.passed,
            "facts": {"sha256": self.sha256, **_facts_json(self.facts)} if self.facts else None,
            "rules": [_result_json(result) for result in self.results],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def check_host(file: Path, target: Target, policy: GatePolicy, link_map: Path | None = None) -> GateReport:
    """Return the verdict of all rules on a linked file. Raises BuildError where the file or the map cannot be read: no evidence, no
    pass.

    The libraries it needs are its neighbours where they lie beside it, or where the link map says they came from.
    """
    digest = _sha256(file)
    facts = read_binary(file, target.arch)
    linked = LinkMap.read(link_map, facts.exported_names | facts.imported_names | set(policy.required)) if link_map else None
    neighbours: dict[str, BinaryFacts] = {}
    for name in map(dependencies.base_name, (*facts.needed, *facts.delay_needed)):
        places = [file.parent / name]
        if linked and link_map:
            places += [folder / source for source in linked.sources(name) for folder in link_map.absolute().parents]
        found = next((place for place in places if place.is_file()), None)
        if found and dependencies.is_plugin(name):
            neighbours[name] = read_binary(found, target.arch)
    return dataclasses.replace(check_context(Context(facts, target, policy, linked, neighbours)), sha256=digest)


def _sha256(file: Path) -> str:
    hasher = hashlib.sha256()
    try:
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                hasher.update(chunk)
    except OSError:  # read_binary says so better
        return ""
    return hasher.hexdigest()


def check_file(file: Path, target: Target, policy: GatePolicy | None = None) -> GateReport:
    """Return the verdict on any library, also one that was not built here: a companion by its name, else a host.

    Without a policy it is judged as of the newest release: static, with the C API allowed. Raises BuildError for an unreadable file.
    """
    return check_host(file, target, dataclasses.replace(policy or release_policy("", target), role=role_of(file.name, target)))


def release_policy(version: str, target: Target, link_mode: LinkMode = "static") -> GatePolicy:
    """Return what a published host of release `version` must satisfy on `target`; without a version no function is required."""
    policy = GatePolicy(link_mode, allowed=API_PATTERNS, version=version, glibc_ceiling=target.glibc)
    if not version:
        return policy
    return dataclasses.replace(policy, required=required_exports(version), signatures=expected_signatures(version))


def role_of(name: str, target: Target) -> Role:
    """Return "companion" for a file that hosts of `target` load or ship with, else "host"."""
    return "companion" if name not in host_names(target) and dependencies.is_plugin(name) else "host"


def check_bundle(folder: Path, target: Target, policy: GatePolicy) -> tuple[GateReport, ...]:
    """Return a report on every library below `folder`, hosts first, each judged beside all others. Where the target's own library is
    among them, all others are companions; else names decide.

    An unreadable file, as an LFS pointer, is a report that fails; so is a folder without a library. `policy` is the host's.
    """
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and _is_library(file)]
    read: dict[str, BinaryFacts] = {}
    reports: list[GateReport] = []
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            read[name] = read_binary(file, target.arch)
        except BuildError as error:
            reports.append(_unreadable(name, target, policy, error))
    if not files:
        reports.append(_unreadable(".", target, policy, BuildError("the folder holds no library", mend="pack the libraries first")))
    neighbours = {facts.file.name: facts for facts in read.values()}
    bundled = tuple(file.name for file in files)
    hosts = {name for name in neighbours if name in host_names(target)}
    for name, facts in read.items():
        role: Role = role_of(facts.file.name, target) if not hosts or facts.file.name in hosts else "companion"
        own = dataclasses.replace(policy, role=role, bundled=bundled)
        reports.append(dataclasses.replace(check_context(Context(facts, target, own, neighbours=neighbours)), name=name))
    return tuple(sorted(reports, key=lambda report: (report.role != "host", report.name)))


def _is_library(file: Path) -> bool:
    if file.suffix in _SUFFIXES or ".so." in file.name:
        return True
    with file.open("rb") as stream:
        return stream.read(64).startswith(_MAGICS)


def _unreadable(name: str, target: Target, policy: GatePolicy, error: BuildError) -> GateReport:
    rule = RULES["library-file"]
    finding = Finding(name, error.what, error.mend or rule.mend, error.notes)
    return GateReport(name, None, target.name, policy.link_mode, role_of(Path(name).name, target), (Result(rule, Outcome(""), (finding,)),))


def check_context(context: Context) -> GateReport:
    """Return the verdict of all rules that apply to facts already read."""
    results = tuple(_judge(rule, context) for rule in RULES.values() if rule.applies(context))
    policy = context.policy
    return GateReport(context.facts.file.name, context.facts, context.target.name, policy.link_mode, policy.role, results)


def _judge(rule: Rule, context: Context) -> Result:
    outcome, policy = rule.check(context), context.policy
    open_findings: list[Finding] = []
    waived: list[tuple[Finding, Waiver]] = []
    for finding in outcome.findings:
        covering = [waiver for waiver in policy.waivers if waiver.covers(rule.id, finding.subject, context.target.name)]
        valid = [waiver for waiver in covering if policy.today <= waiver.until]
        if valid:
            waived.append((finding, valid[0]))
            continue
        expired = tuple(f"a waiver for this ended on {waiver.until.isoformat()}: {waiver.reason}" for waiver in covering)
        open_findings.append(Finding(finding.subject, finding.evidence, finding.mend or rule.mend, (*finding.origin, *expired)))
    return Result(rule, outcome, tuple(open_findings), tuple(waived))


def result_lines(result: Result) -> list[str]:
    """Return the lines of one rule in GateReport.text."""
    if result.status == "passed":
        return [f"  ok      {result.rule.id}: {result.outcome.summary}"]
    lines = [f"  {'BROKEN' if result.open else 'waived'}  {result.rule.id}: {result.rule.title}"]
    for finding in result.open:
        lines.append(f"            {finding.subject}: {finding.evidence}")
        lines += [f"              from {origin}" for origin in finding.origin]
    lines += [f"            -> {mend}" for mend in dict.fromkeys(finding.mend for finding in result.open)]
    for finding, waiver in result.waived:
        lines.append(f"            {finding.subject}: {finding.evidence}")
        lines.append(f"              waived until {waiver.until.isoformat()}: {waiver.reason}")
    return lines


def _result_json(result: Result) -> dict[str, Any]:
    return {
        "id": result.rule.id,
        "title": result.rule.title,
        "status": result.status,
        "summary": result.outcome.summary if result.status == "passed" else result.rule.title,
        "findings": [_finding_json(finding) for finding in result.open],
        "waived": [
            {**_finding_json(finding), "reason": waiver.reason, "until": waiver.until.isoformat()} for finding, waiver in result.waived
        ],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {"subject": finding.subject, "evidence": finding.evidence, "origin": list(finding.origin), "mend": finding.mend}


def _facts_json(facts: BinaryFacts) -> dict[str, Any]:
    return {
        "bytes": facts.size,
        "format": facts.format,
        "arch": facts.arch,
        "needed": [*facts.needed, *facts.delay_needed],
        "soname": facts.soname,
        "exports": len(facts.exports),
        "imports": len(facts.imports),
        "cxxRuntimes": sorted(facts.evidence.families),
        "buildId": facts.build_id,
    }
