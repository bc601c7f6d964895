"""The plan of a walk: which ABI a release has, which steps a golden file asks for, and what differs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from litert_build.errors import BuildError
from litert_build.incremental.steps import Step
from litert_build.options import read_options
from litert_build.policy.exports import expected_signatures
from litert_build.policy.targets import Target, find_target, host_target
from litert_build.smoke.abi import FUNCTIONS, abi_of
from litert_build.smoke.step import smoke_step
from litert_build.smoke.steps import STEPS, differences, read_plan, read_values
from litert_build.sources.lock import Lock
from litert_build.toolchains.base import Toolchain

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


# ---- the step of a build

LOCK = Lock.read(SAMPLE.parent / "refs/sample.json")


@dataclass(frozen=True)
class Compiler:
    """As much of a toolchain as the planning of a walk looks at."""

    target: Target
    identity: str = "none"


def step_of(lock: Lock, target: str = host_target(), **options: str) -> Step:
    toolchain = cast(Toolchain, Compiler(find_target(target)))
    return smoke_step(read_options({"target": target, **options}, ["smoke"]), lock, toolchain, Path("build"), "bundle/a.tar.gz")


def test_the_step_depends_on_the_archive_the_model_and_the_values() -> None:
    step = step_of(LOCK)
    assert step.inputs[0] == "bundle/a.tar.gz"
    for file in ("models/tiny.model", "models/tiny.asr", "models/tiny.words", "golden.json"):
        assert str(SAMPLE / file) in step.inputs
    assert any(path.endswith("src/bridge/asr/asr.h") for path in step.inputs)
    assert step.outputs == ("smoke.txt",)


def test_a_ref_without_a_model_is_refused() -> None:
    with pytest.raises(BuildError, match="model=: there is no model to walk the C API with\n  -> name one with model=PATH"):
        step_of(replace(LOCK, ref="v0.19.1"))


def test_golden_values_lie_beside_another_model(tmp_path: Path) -> None:
    (tmp_path / "m.litertlm").write_bytes(b"")
    (tmp_path / "m.golden.json").write_text('{"text": "a"}')
    step = step_of(replace(LOCK, ref="v0.19.1"), model=str(tmp_path / "m.litertlm"))
    assert str(tmp_path / "m.golden.json") in step.inputs


def test_a_target_that_cannot_run_here_is_refused_before_anything_is_built() -> None:
    with pytest.raises(BuildError, match="ios-arm64 cannot be run on this machine"):
        step_of(LOCK, "ios-arm64")


def test_steps_over_chunks_are_refused_where_streams_have_none() -> None:
    older = replace(LOCK, release="v0.14.0", defines={})
    with pytest.raises(BuildError) as refused:
        step_of(older)
    assert refused.value.what == "the steps direct and endings read chunks, which streams of v0.14.0 do not have"


def test_another_abi_or_compiler_walks_again() -> None:
    assert step_of(LOCK).signature == step_of(LOCK).signature
    assert step_of(LOCK).signature != step_of(replace(LOCK, policy="v0.19.1")).signature
