"""Owns the SARIF 2.1.0 form of gate reports, which CI services turn into annotations.

Path("checks.sarif").write_text(to_sarif([report], "build/linux-x64/sample"))

Specification: OASIS SARIF 2.1.0, sections 3.19 (tool), 3.27 (result), 3.35 (suppression).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from litert_build.checks.gate import GateReport, Result
from litert_build.checks.model import Finding, Waiver
from litert_build.checks.registry import RULES

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def to_sarif(reports: Iterable[GateReport], folder: str = "") -> str:
    """Return one SARIF log of all reports; `folder` leads from the repository's root to the files."""
    order = {name: number for number, name in enumerate(RULES)}
    results = [entry for report in reports for result in report.results for entry in _results(report, result, folder, order)]
    driver = {"name": "litert-lm-native gate", "rules": [_rule(name) for name in RULES]}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(name: str) -> dict[str, Any]:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.mend},
        "defaultConfiguration": {"level": "error"},
    }


def _results(report: GateReport, result: Result, folder: str, order: dict[str, int]) -> list[dict[str, Any]]:
    uri = f"{folder}/{report.name}" if folder else report.name
    findings: list[tuple[Finding, Waiver | None]] = [(finding, None) for finding in result.open] + list(result.waived)
    return [
        {
            "ruleId": result.rule.id,
            "ruleIndex": order[result.rule.id],
            "level": "note" if waiver else "error",
            "message": {"text": _message(report, finding)},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}}}],
            "suppressions": [{"kind": "external", "justification": f"{waiver.reason} (until {waiver.until.isoformat()})"}]
            if waiver
            else [],
        }
        for finding, waiver in findings
    ]


def _message(report: GateReport, finding: Finding) -> str:
    origin = "".join(f"\nfrom {line}" for line in finding.origin)
    return f"{report.target}: {finding.subject}: {finding.evidence}{origin}" + (f"\n-> {finding.mend}" if finding.mend else "")
