"""Owns the figures that rebuilds are held to, and whether rows reach them.

for verdict in verdicts(rows):
    print(verdict)              # 'ok       no-op, 6,000 units: CPU over Ninja\'s: 1.71x (at most 2x)'

A target whose rows were not measured is no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench.measure import Row

Found = dict[tuple[str, str, str], Row]
Value = Callable[[Found], float]
SIX = "synthetic:6000"


@dataclass(frozen=True)
class Target:
    """`value` of the rows is to be at most `limit`; it raises KeyError where it lacks a row."""

    title: str
    limit: float
    unit: str
    value: Value


@dataclass(frozen=True)
class Verdict:
    """One target over measured rows."""

    title: str
    value: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        return f"{'ok     ' if self.met else 'NOT MET'} {self.title}: {self.value:.3g}{self.unit} (at most {self.limit:g}{self.unit})"


def ours(field: str, case: str, project: str = SIX) -> Value:
    return lambda found: float(getattr(found[project, "scons", case], field))


def ratio(field: str, case: str, project: str = SIX) -> Value:
    return lambda found: float(getattr(found[project, "scons", case], field) / getattr(found[project, "ninja", case], field))


def beyond(field: str, case: str, project: str = SIX) -> Value:
    """Seconds that this build takes beyond Ninja's."""
    return lambda found: float(getattr(found[project, "scons", case], field) - getattr(found[project, "ninja", case], field))


def each(value: Value, case: str, project: str = SIX) -> Value:
    """Milliseconds for each command that ran."""
    return lambda found: 1000 * value(found) / max(1, found[project, "scons", case].ran)


def growth(field: str, case: str) -> Value:
    large, small = ours(field, case, "synthetic:12000"), ours(field, case, "synthetic:3000")
    return lambda found: large(found) / small(found)


def miscounted(found: Found) -> float:
    """How many commands too many or too few ran, over all cases in which the number is known."""
    return float(sum(abs(row.ran - row.expected) for row in found.values() if row.engine == "scons" and row.expected is not None))


TARGETS = (
    Target("no-op, 6,000 units: CPU over Ninja's", 2, "x", ratio("cpu", "no-op")),
    Target("no-op, 6,000 units: wall", 0.4, " s", ours("wall", "no-op")),
    Target("one source, 6,000 units: wall, the compile in it takes no time", 0.6, " s", ours("wall", "one source")),
    Target("deep header, 6,000 units: CPU over Ninja's", 1.5, "x", ratio("cpu", "deep header")),
    Target("deep header, 6,000 units: wall over Ninja's", 1.5, "x", ratio("wall", "deep header")),
    Target("full build, 6,000 units: CPU a unit beyond Ninja's", 2, " ms", each(beyond("cpu", "full build"), "full build")),
    Target("full build, 6,000 units: wall a unit beyond Ninja's", 2, " ms", each(beyond("wall", "full build"), "full build")),
    Target("no-op, 6,000 units: peak memory", 80, " MB", ours("megabytes", "no-op")),
    Target("full build, 6,000 units: peak memory", 300, " MB", ours("megabytes", "full build")),
    Target("no-op, 12,000 over 3,000 units: wall", 3, "x", growth("wall", "no-op")),
    Target("no-op, 12,000 over 3,000 units: CPU", 3, "x", growth("cpu", "no-op")),
    Target("warm cache, 6,000 units: wall a hit", 1.5, " ms", each(ours("wall", "warm cache"), "warm cache")),
    Target("warm cache, 6,000 units: CPU a hit", 1.5, " ms", each(ours("cpu", "warm cache"), "warm cache")),
    Target("LLVM's clang, no-op: wall", 0.8, " s", ours("wall", "no-op", "clang")),
    Target("XNNPACK from nothing: wall over Ninja's", 1, "x", ratio("wall", "full build", "xnnpack")),
    Target("abseil from nothing: wall over Ninja's", 1, "x", ratio("wall", "full build", "abseil")),
    Target("commands that ran needlessly, or did not run", 0, "", miscounted),
)


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Return the verdict on every target whose rows are there, in the order of the table."""
    found = {(row.project, row.engine, row.case): row for row in rows}
    made = []
    for target in TARGETS:
        try:
            made.append(Verdict(target.title, target.value(found), target.limit, target.unit))
        except KeyError:
            continue
    return made
