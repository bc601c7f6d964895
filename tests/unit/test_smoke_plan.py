"""The plan of a walk: which ABI a release has, which steps a golden file asks for, and what differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.policy.exports import expected_signatures
from litert_build.smoke.abi import FUNCTIONS, abi_of
from litert_build.smoke.steps import STEPS, differences, read_plan, read_values

SAMPLE = Path(__file__).parents[2] / "third_party/sample"


@pytest.mark.parametrize(
    ("release", "abi"),
    [
        ("v0.0.1", "pointer"), ("v0.16.0", "pointer"), ("v0.18.1", "pointer"), ("v0.19.0", "status"), ("0.19.0.dev20261026", "status"),
        ("v0.19.0-2", "status"), ("v0.18.0-1", "pointer"), ("v1.0.0", "status"), ("g0123456789ab", "status"), ("main", "status"),
    ],
)  # fmt: skip
def test_the_abi_changes_with_0_19(release: str, abi: str) -> None:
    assert abi_of(release) == abi


@pytest.mark.parametrize("version", ["v0.18.0", "v0.19.0"])
def test_the_table_agrees_with_the_signatures_that_the_gate_knows(version: str) -> None:
    """Both were read from the same declarations; an object or text is a pointer, and the last one by status."""
    words = {
        "object": "ptr",
        "text": "ptr",
        "pointer": "ptr",
        "callback": "ptr",
        "int": "i32",
        "size": "size",
        "bool": "bool",
        "none": "void",
    }
    for name, text in expected_signatures(version).items():
        if name not in FUNCTIONS:
            continue
        row = FUNCTIONS[name]
        takes = [words[kind] for kind in row.takes]
        if row.plain or abi_of(version) == "pointer":
            assert text == f"{words[row.makes]}({', '.join(takes)})", name
        else:
            assert text == f"i32({', '.join([*takes, 'ptr'])})", name


def test_the_sample_asks_for_every_step() -> None:
    plan = read_plan(SAMPLE / "golden.json")
    assert plan.steps == tuple(STEPS)
    assert plan.backend == "gpu"
    assert plan.expected(("generate",)) == {"text": "then grows turns beside river bright letter again"}
    assert plan.expected(plan.steps) == plan.golden


def test_the_program_knows_the_steps_of_the_table() -> None:
    source = (SAMPLE.parents[1] / "src/smoke/smoke.c").read_text(encoding="utf-8")
    assert f'steps = "{",".join(STEPS)}"' in source
    for step, names in STEPS.items():
        assert f'has_step("{step}")' in source
        assert names


def test_a_golden_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text("text: a")
    with pytest.raises(
        BuildError, match=r"g\.json: cannot read the golden values: Expecting value.*\n  -> name a file of them with golden=PATH"
    ):
        read_plan(tmp_path / "g.json")


def test_an_absent_golden_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"cannot read the golden values: .*No such file"):
        read_plan(tmp_path / "g.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"txt": "a"}, "no step of the walk prints 'txt'\n  -> did you mean text?"),
        ({"text": 1}, "golden values are an object of texts"),
        (["text"], "golden values are an object of texts"),
        ({}, "names no value"),
    ],
)
def test_what_no_walk_can_print_is_refused(tmp_path: Path, content: object, message: str) -> None:
    (tmp_path / "g.json").write_text(json.dumps(content))
    with pytest.raises(BuildError) as refused:
        read_plan(tmp_path / "g.json")
    assert message in str(refused.value)


def test_differences_name_what_is_absent_and_what_is_another() -> None:
    printed = read_values("text: a: b\nstreamed: \nnoise\nfurther: 1\n")
    assert printed == {"text": "a: b", "streamed": "", "further": "1"}
    assert differences({"text": "a: b", "streamed": "x", "speech": "y"}, printed) == ["streamed: '' instead of 'x'", "speech: not printed"]
    assert differences({"text": "z" * 500}, {"text": "y" * 500})[0].count("y") == 117
