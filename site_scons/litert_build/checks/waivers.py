"""Owns the file of waivers: what is tolerated, why, and until when.

waivers = read_waivers(Path("third_party/waivers.json"))

[{"rule": "bind-now", "subject": "*", "target": "linux-*", "reason": "upstream's plug-in is lazy, issue 12", "until": "2027-03-31"}]
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from litert_build.checks.model import Waiver
from litert_build.checks.registry import RULES
from litert_build.errors import BuildError, nearest

_FIELDS = ("rule", "reason", "until", "subject", "target")


def read_waivers(file: Path) -> tuple[Waiver, ...]:
    """Return the waivers of `file`; none where it does not exist. Raises BuildError for a waiver without a known rule, a reason of at
    least ten letters or an end date (YYYY-MM-DD)."""
    if not file.exists():
        return ()
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BuildError(f"cannot read the waivers: {error}", where=str(file), mend="write a JSON list of objects") from error
    if not isinstance(entries, list):
        raise BuildError("the waivers are no list", where=str(file), mend="write a JSON list of objects")
    return tuple(_waiver(f"{file}: waiver {number}", entry) for number, entry in enumerate(entries, 1))


def _waiver(where: str, entry: Any) -> Waiver:
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise BuildError("a waiver is an object of texts", where=where, mend=f"give it {', '.join(_FIELDS)}")
    for name in entry:
        if name not in _FIELDS:
            raise BuildError(f"unknown field {name!r}", where=where, mend=nearest(name, _FIELDS) or f"one of {', '.join(_FIELDS)}")
    if entry.get("rule") not in RULES:
        raise BuildError(
            f"no rule is called {entry.get('rule')!r}", where=where, mend=nearest(entry.get("rule", ""), RULES) or "see docs/gate.md"
        )
    if len(entry.get("reason", "").strip()) < 10:
        raise BuildError("a waiver needs a reason", where=where, mend='say why in "reason", with an issue')
    try:
        until = date.fromisoformat(entry.get("until", ""))
    except ValueError as error:
        raise BuildError("a waiver needs an end date", where=where, mend='set "until" to a day, as 2027-03-31') from error
    return Waiver(entry["rule"], entry["reason"], until, entry.get("subject", "*"), entry.get("target", "*"))
