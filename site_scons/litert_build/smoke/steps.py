"""Owns what a walk does: its steps, the values each prints, and the comparison with golden values.

plan = read_plan(Path("third_party/sample/golden.json"))
differences(plan.golden, {"text": "then grows"})      # ["text: 'then grows' instead of 'then grows turns'", ...]
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from litert_build.errors import BuildError, nearest

# The steps of src/smoke/smoke.c and the values that each prints; what is printed beyond golden.json is not compared.
STEPS: Mapping[str, tuple[str, ...]] = {
    "about": ("backend", "link mode", "callback abi", "accelerator", "sampler"),
    "generate": ("text",),
    "stream": ("sampled", "sampled chunks"),
    "direct": ("streamed", "streamed chunks"),
    "endings": tuple(f"{stream}{part}" for stream in ("cancelled", "refused") for part in ("", " chunks", " error")),
    "conversation": ("conversation", "conversation chunks"),
    "embedding": ("embedding", "embedding of other words", "embedding of nothing"),
    "threads": ("workers of 4 threads",),
    "speech": ("speech", "speech windows", "speech queue full"),
}
# Those that the ctypes walk repeats.
CTYPES_STEPS = ("generate", "direct", "embedding")


@dataclass(frozen=True)
class Plan:
    """What is walked on which backend, and the values it has to print."""

    golden: Mapping[str, str]
    backend: str
    steps: tuple[str, ...]

    def expected(self, steps: tuple[str, ...]) -> dict[str, str]:
        """Return the golden values of some steps."""
        names = {name for step in steps for name in STEPS[step]}
        return {name: value for name, value in self.golden.items() if name in names}


def read_plan(file: Path) -> Plan:
    """Return the plan of a golden file: names to values, all text. The steps are those whose values it names; the
    value "backend" is also the backend to walk on.

    Raises BuildError where it cannot be read or names a value that no step prints.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BuildError(f"cannot read the golden values: {error}", where=str(file), mend="name a file of them with golden=PATH") from error
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise BuildError("golden values are an object of texts", where=str(file))
    known = {name: step for step, names in STEPS.items() for name in names}
    for name in content:
        if name not in known:
            raise BuildError(f"no step of the walk prints {name!r}", where=str(file), mend=nearest(name, known))
    steps = tuple(step for step in STEPS if any(known[name] == step for name in content))
    if not steps:
        raise BuildError("names no value", where=str(file), mend="print them once with src/smoke and keep them")
    return Plan(content, content.get("backend", "cpu"), steps)


def read_values(text: str) -> dict[str, str]:
    """Return the values of a walk's output, one "name: value" a line."""
    return {name: value for name, colon, value in (line.partition(": ") for line in text.splitlines()) if colon}


def differences(expected: Mapping[str, str], printed: Mapping[str, str]) -> list[str]:
    """Return a line for each value that is absent or another one."""
    lines = []
    for name, value in expected.items():
        if name not in printed:
            lines.append(f"{name}: not printed")
        elif printed[name] != value:
            lines.append(f"{name}: {_short(printed[name])} instead of {_short(value)}")
    return lines


def _short(value: str) -> str:
    return repr(value if len(value) <= 120 else f"{value[:117]}...")
