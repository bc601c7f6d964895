"""Owns docs/gate.md: the reference of all rules, written from the registry, with what each says about its own example.

python -m litert_build.checks.reference docs/gate.md
"""

from __future__ import annotations

import sys
from pathlib import Path

from litert_build.checks.gate import check_context, result_lines
from litert_build.checks.model import Rule
from litert_build.checks.registry import RULES
from litert_build.checks.samples import example_context

_INTRODUCTION = """\
# The gate

Generated from the rules: `PYTHONPATH=site_scons python -m litert_build.checks.reference docs/gate.md`. A test holds it up to date.

The gate judges a linked library by what the file itself says (ELF dynamic segment, PE directories, Mach-O load commands and export
trie, traces in its bytes) and by the link map. It runs

- in the link of the host: a host that breaks a rule is moved to `<name>.rejected`, the build fails, and no bundle exists;
- over every library of a bundle, companions among them, each beside all others;
- alone, on any library: `scons check file=PATH target=linux-x64 ref=v0.19.1` (`lock=PATH` for a lock's own rules; without either those
  of the newest release, but for the functions it must export). The exit code is 1 where a rule is broken;
- from Python: `litert_build.checks.gate.check_file(Path("libLiteRtLm.so"), find_target("linux-x64")).text`.

It writes `checks.json` (the facts in short, one entry a rule) and, for CI annotations, SARIF 2.1.0 (`litert_build.checks.sarif`). What it
cannot read it refuses. A finding is waived only in `third_party/waivers.json`, with a reason and an end date; a waiver is printed, stands
in `checks.json` and in the bundle's manifest, and stops to count after its last day:

```json
[{"rule": "bind-now", "subject": "*", "target": "linux-*", "reason": "upstream links lazily, issue 12", "until": "2027-03-31"}]
```

A library that passes is reported as `Validated in-process LiteRT linkage on <target>` with one line a rule. What follows is each rule, with
the report on a library that was broken to show it.
"""


def reference() -> str:
    """Return the whole text of docs/gate.md."""
    return "\n".join([_INTRODUCTION, _table(), *(_section(rule) for rule in RULES.values())])


def _table() -> str:
    rows = [f"| [{rule.id}](#{rule.id}) | {rule.title} | {_platforms(rule)} | {rule.since or 'all'} |" for rule in RULES.values()]
    return "\n".join(["| rule | demands | on | versions |", "|---|---|---|---|", *rows, ""])


def _platforms(rule: Rule) -> str:
    formats = {"linux": "elf", "android": "elf", "windows": "pe", "macos": "macho", "ios": "macho"}
    systems = [system for system in rule.systems if formats[system] in rule.formats]
    text = "all platforms" if len(systems) == len(formats) else ", ".join(systems)
    return text + ("" if len(rule.roles) > 1 else f" ({rule.roles[0]}s)") + ("" if len(rule.modes) > 1 else f", {rule.modes[0]} mode")


def _section(rule: Rule) -> str:
    report = check_context(example_context(rule))
    (result,) = [result for result in report.results if result.rule.id == rule.id]
    lines = [
        f"## {rule.id}",
        f"{rule.title}. {rule.why}\n",
        f"Mend: {rule.mend}.\n",
        "```",
        f"Rejected {report.name} for {report.target}",
        *result_lines(result),
        "```\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
