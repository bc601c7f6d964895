"""Which steps something is made of."""

from __future__ import annotations

import pytest
from litert_build.incremental.commands import Command
from litert_build.incremental.steps import Step, needed

STEPS = ("tool < tool.o", "gen.h < tool", "a.o < gen.h", "b.o < b.cc", "libx.so < a.o b.o", "c.o < c.cc")


def step(line: str) -> Step:
    output, inputs = line.split(" < ")
    return Step(output, tuple(inputs.split()), (output,), b"", Command("process", ("true",), (output,)))


@pytest.mark.parametrize(
    ("outputs", "keys"),
    [
        (("a.o", "b.o"), ["tool", "gen.h", "a.o", "b.o"]),
        (("libx.so",), ["tool", "gen.h", "a.o", "b.o", "libx.so"]),
        (("c.o",), ["c.o"]),
        (("b.cc",), []),
        ((), []),
    ],
)
def test_only_what_the_outputs_are_made_of_is_needed(outputs: tuple[str, ...], keys: list[str]) -> None:
    assert [found.key for found in needed([step(line) for line in STEPS], outputs)] == keys
