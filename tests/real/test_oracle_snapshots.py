"""Our evaluation of real trees against what real Bazel 7.7.1 says: the same units, defines, includes and flags, in the same order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.actions import ActionList
from litert_build.bazel.analysis import analyze
from litert_build.policy.targets import find_target
from litert_build.reports.oracle import ALLOWED, ALLOWED_FOR_TOOLS, commands_of, compare, compare_commands, records_of
from litert_build.sources.trees import materialize

from tests.real.cases import CASES
from tests.real.trees import find_tree, optional_trees_skip

UNITS = {
    "abseil-20220623": 118,
    "abseil-20240722": 153,
    "abseil-20260526": 156,
    "xnnpack": 1032,
    "re2": 139,
    "flatbuffers": 40,
    "protobuf": 168,
    "proto-user": 88,
    "highway": 12,
    "tflite": 233,
    "benchmark": 20,
    "brotli": 32,
    "gemmlowp": 1,
    "googletest": 15,
    "snappy": 3,
    "clang": 3138,
    "mlir-opt": 3187,
}

TARGET, EXEC = "k8-opt", "k8-opt-exec"
MEND = "Where the case itself was changed on purpose: tests/real/regenerate_oracle.py asks Bazel again."


def test_every_case_of_pinned_trees_has_its_count() -> None:
    assert set(UNITS) == {name for name, case in CASES.items() if case.trees}


@pytest.mark.parametrize("name", UNITS)
def test_snapshot_is_of_the_pinned_trees(name: str) -> None:
    snapshot = CASES[name].snapshot()
    assert len(snapshot.records) == UNITS[name]
    assert snapshot.provenance["trees"] == {tree: find_tree(tree).sha256 for tree in CASES[name].trees.values()}


def test_units_of_xnnpack_come_from_three_repositories() -> None:
    labels = [record.label.split("//")[0] for record in CASES["xnnpack"].snapshot().records]
    assert {name: labels.count(name) for name in set(labels)} == {"": 1008, "@cpuinfo": 20, "@pthreadpool": 4}


def evaluated(name: str, scratch: Path) -> ActionList:
    """Return our actions for the roots of a case's snapshot. Skips the test where an optional tree cannot be had."""
    case = CASES[name]
    with optional_trees_skip():
        lock = case.lock(case.snapshot().provenance["roots"])
    trees = materialize(lock, store=scratch / "store", overlays_dir=scratch / "overlays", offline=True)
    return analyze(lock, trees, find_target("linux-x64")).actions


@pytest.mark.parametrize("name", CASES)
def test_closure_is_bazels(name: str, tmp_path: Path) -> None:
    snapshot, actions = CASES[name].snapshot(), evaluated(name, tmp_path)
    report = compare(records_of(actions, TARGET), snapshot.records).report()
    assert not report, f"{report}\n{MEND}"
    tools = records_of(actions, EXEC)
    report = compare(tools, snapshot.tools, ALLOWED_FOR_TOOLS).report() if tools or snapshot.tools else ""
    assert not report, f"tools: {report}\n{MEND}"
    report = compare_commands(commands_of(actions), snapshot.commands).report()
    assert not report, f"commands: {report}\n{MEND}"


def test_no_difference_is_allowed_that_does_not_occur(tmp_path: Path) -> None:
    binaries = compare(records_of(evaluated("brotli", tmp_path), TARGET), CASES["brotli"].snapshot().records)
    tools = compare(records_of(evaluated("sample", tmp_path), EXEC), CASES["sample"].snapshot().tools, ALLOWED_FOR_TOOLS)
    assert set(binaries.used) == set(ALLOWED)
    assert set(binaries.used | tools.used) == set(ALLOWED_FOR_TOOLS)


@pytest.mark.parametrize("side", [TARGET, EXEC])
def test_one_flag_too_many_in_a_real_closure_is_seen(side: str, tmp_path: Path) -> None:
    snapshot = CASES["sample"].snapshot()
    theirs = snapshot.records if side == TARGET else snapshot.tools
    ours = records_of(evaluated("sample", tmp_path), side)
    ours[3] = replace(ours[3], flags=(*ours[3].flags, "-mavx2"))
    report = compare(ours, theirs, ALLOWED_FOR_TOOLS if side == EXEC else ALLOWED).report()
    assert report.startswith("1 flags\n")
    assert f"{ours[3].label} {ours[3].source}\n    only ours: -mavx2" in report
