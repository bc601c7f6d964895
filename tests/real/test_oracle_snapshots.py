"""Our evaluation of real trees against what real Bazel 7.7.1 says: the same units, defines, includes and flags, in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.bazel.analysis import analyze
from litert_build.policy.targets import find_target
from litert_build.reports.oracle import ALLOWED_FOR_TOOLS, commands_of, compare, compare_commands, records_of
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
    "highway": 12,
    "tflite": 233,
    "sample": 74,
    "benchmark": 20,
    "brotli": 32,
    "gemmlowp": 1,
    "googletest": 15,
    "snappy": 3,
    "clang": 3138,
    "mlir-opt": 3187,
}

MEND = "Where the case itself was changed on purpose: tests/real/regenerate_oracle.py asks Bazel again."


@pytest.mark.parametrize("name", CASES)
def test_snapshot_is_of_the_pinned_trees(name: str) -> None:
    snapshot = CASES[name].snapshot()
    assert len(snapshot.records) == UNITS[name]
    assert snapshot.provenance["trees"] == {tree: find_tree(tree).sha256 for tree in CASES[name].trees.values()}


def test_units_of_xnnpack_come_from_three_repositories() -> None:
    labels = [record.label.split("//")[0] for record in CASES["xnnpack"].snapshot().records]
    assert {name: labels.count(name) for name in set(labels)} == {"": 1008, "@cpuinfo": 20, "@pthreadpool": 4}


@pytest.mark.parametrize("name", CASES)
def test_closure_is_bazels(name: str, tmp_path: Path) -> None:
    case, snapshot = CASES[name], CASES[name].snapshot()
    with optional_trees_skip():
        lock = case.lock(snapshot.provenance["roots"])
    trees = materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", offline=True)
    analysis = analyze(lock, trees, find_target("linux-x64"))
    report = compare(records_of(analysis.actions, "k8-opt"), snapshot.records).report()
    assert not report, f"{report}\n{MEND}"
    tools = records_of(analysis.actions, "k8-opt-exec")
    report = compare(tools, snapshot.tools, ALLOWED_FOR_TOOLS).report() if tools or snapshot.tools else ""
    assert not report, f"tools: {report}\n{MEND}"
    report = compare_commands(commands_of(analysis.actions), snapshot.commands).report()
    assert not report, f"commands: {report}\n{MEND}"
