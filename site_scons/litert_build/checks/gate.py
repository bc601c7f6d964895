"""Owns the gate: all rules that apply to one file, and the report that a person, a bundle and CI read.

report = check_host(Path("libLiteRtLm.so"), TARGETS["linux-x64"], policy, Path("libLiteRtLm.map"))
print(report.text)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litert_build.binaries.facts import BinaryFacts
from litert_build.binaries.linkmap import LinkMap
from litert_build.binaries.reader import read_binary
from litert_build.checks import dependencies, exports, hardening  # noqa: F401  (importing registers the rules)
from litert_build.checks.model import Context, Finding, GatePolicy, LinkMode, Outcome, Rule, Status, Waiver
from litert_build.checks.registry import RULES
from litert_build.policy.targets import Target


@dataclass(frozen=True)
class Result:
    """What one rule said. `open` findings fail the file; each of `waived` stands beside the waiver that covers it."""

    rule: Rule
    outcome: Outcome
    open: tuple[Finding, ...]
    waived: tuple[tuple[Finding, Waiver], ...]

    @property
    def status(self) -> Status:
        return "failed" if self.open else "waived" if self.waived else "passed"


@dataclass(frozen=True)
class GateReport:
    """The verdict on one file."""

    facts: BinaryFacts
    target: str
    link_mode: LinkMode
    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        return bool(self.results) and all(result.status != "failed" for result in self.results)

    @property
    def text(self) -> str:
        """The report for a console: one line a rule; for a broken rule the evidence, its origin and what to do."""
        failed = [result for result in self.results if result.status == "failed"]
        if self.passed:
            how = "in-process LiteRT linkage" if self.link_mode == "static" else f"LiteRT linkage ({self.link_mode} mode)"
            lines = [f"Validated {how} on {self.target}"]
        else:
            lines = [f"Rejected {self.facts.file.name} for {self.target}: {len(failed)} of {len(self.results)} rules broken"]
        for result in sorted(self.results, key=lambda result: result.status != "failed"):
            lines += _result_lines(result)
        return "\n".join(lines)

    def to_json(self) -> str:
        """The content of checks.json: the same bytes for the same file and policy."""
        document = {
            "schema": 1,
            "file": self.facts.file.name,
            "target": self.target,
            "linkMode": self.link_mode,
            "passed": self.passed,
            "facts": _facts_json(self.facts),
            "rules": [_result_json(result) for result in self.results],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def check_host(file: Path, target: Target, policy: GatePolicy, link_map: Path | None = None) -> GateReport:
    """Return the verdict of all rules on a linked file. Raises BuildError where the file or the map cannot be read: no evidence, no
    pass."""
    return check_context(Context(read_binary(file), target, policy, LinkMap.read(link_map) if link_map else None))


def check_context(context: Context) -> GateReport:
    """Return the verdict of all rules that apply to facts already read."""
    results = tuple(_judge(rule, context) for rule in RULES.values() if rule.applies(context))
    return GateReport(context.facts, context.target.name, context.policy.link_mode, results)


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


def _result_lines(result: Result) -> list[str]:
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
