"""Owns actions.json: one record a compile, in the vocabulary of the oracle (what real Bazel would run, normalized).

write_actions(analysis.actions, Path("build/linux-x64/sample/actions.json"))
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from litert_build.actions import Compile


def action_records(compiles: Iterable[Compile]) -> list[dict[str, Any]]:
    """Return the records in the order of the actions: label, source, output, configuration, and in command order the defines, the
    includes as [kind, path], the flags."""
    return [
        {
            "label": action.label,
            "source": action.source,
            "output": action.output,
            "configuration": action.configuration,
            "defines": list(action.defines),
            "includes": [list(include) for include in action.includes],
            "flags": list(action.flags),
        }
        for action in compiles
    ]


def write_actions(compiles: Iterable[Compile], file: Path) -> int:
    """Write the records to `file`; returns how many."""
    records = action_records(compiles)
    file.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    return len(records)
