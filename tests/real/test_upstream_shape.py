"""Upstream's closure by its shape, for every target: what analysis selects, generates and links; and TensorFlow's own conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.actions import Compile, Run
from litert_build.bazel.analysis import Analysis, Analyzer, on_deep_stack
from litert_build.bazel.labels import Label
from litert_build.policy.targets import TARGETS, find_target
from litert_build.reports.explain import diagnose
from litert_build.sources.lock import Lock, Product, Repository

from tests.closure_shape import BINDINGS, DEFECT, MAPPINGS, SHAPE
from tests.real.trees import require
from tests.unit.bazel_samples import Tree

APPLE = ("macos-arm64", "ios-arm64", "ios-arm64-sim")
SYSTEMS = ("linux-x64", "linux-arm64", "android-arm64", "windows-x64", *APPLE)
MODE = "@litert//litert/build_common:mode"


def tree(tmp_path: Path, without: Iterable[str] = (), **lock: object) -> Tree:
    files = {path: text for path, text in SHAPE.items() if path not in without}
    return Tree(tmp_path, files, repo_mapping=MAPPINGS, bindings=BINDINGS, **lock)


def analysis_of(tmp_path: Path, target: str, **lock: object) -> Analysis:
    return tree(tmp_path, **lock).analyze("//c:engine", target=target)


def compiled(analysis: Analysis) -> dict[str, Compile]:
    """Return the compiles for the target by source."""
    return {
        action.source: action for action in analysis.actions if isinstance(action, Compile) and not action.configuration.endswith("-exec")
    }


@pytest.mark.parametrize("target", SYSTEMS)
def test_the_closure_is_whole_on_every_system(tmp_path: Path, target: str) -> None:
    sources = compiled(analysis_of(tmp_path, target))
    assert {"c/engine.cc", "external/litert/litert/accelerators/webgpu.cc", "external/sentencepiece/util.cc"} <= set(sources)
    assert ("runtime/resources/file_windows.cc" in sources) == (target == "windows-x64")
    assert ("external/litert/litert/runtime/metal_info.mm" in sources) == (target in APPLE)
    assert ("external/litert/litert/runtime/gl.cc" in sources) == target.startswith("android")
    assert not any("_test" in source or "plugin" in action.output for source, action in sources.items())


@pytest.mark.parametrize(
    ("target", "library"),
    [
        ("linux-x64", "linux_x86_64/provider.so"), ("android-arm64", "android_arm64/provider.so"),
        ("ios-arm64", "ios_arm64/provider.dylib"), ("ios-arm64-sim", "ios_sim_arm64/provider.dylib"),
        ("macos-arm64", "macos_arm64/provider.dylib"), ("windows-x64", "windows/provider.lib"),
        ("linux-arm64", ""),
    ],
)  # fmt: skip
def test_the_prebuilt_library_is_that_of_the_system(tmp_path: Path, target: str, library: str) -> None:
    assert analysis_of(tmp_path, target).link.libraries == ((f"prebuilt/{library}",) if library else ())


@pytest.mark.parametrize("target", APPLE)
def test_apple_hosts_get_objective_c_and_metal(tmp_path: Path, target: str) -> None:
    analysis = analysis_of(tmp_path, target)
    sources = compiled(analysis)
    assert analysis.link.flags == ("-framework", "Foundation", "-framework", "Metal")
    assert "-ObjC++" in sources["external/litert/litert/c/litert_environment.cc"].flags
    assert "APPLE" in sources["external/ml_drift/cl/context.cc"].defines


def test_the_static_accelerator_follows_the_link_mode(tmp_path: Path) -> None:
    source = "external/litert/litert/accelerators/webgpu.cc"
    static, dynamic = analysis_of(tmp_path / "s", "linux-x64"), analysis_of(tmp_path / "d", "linux-x64", flags={MODE: "dynamic"})
    assert "STATIC_ACCELERATOR" in compiled(static)[source].defines
    assert compiled(static)[source].output in static.link.objects
    assert not {source, "external/litert/litert/c/litert_environment.cc"} & set(compiled(dynamic))


def test_macos_takes_metal_instead_when_told_by_flag_or_define(tmp_path: Path) -> None:
    source = "external/litert/litert/accelerators/webgpu.cc"
    for at, told in enumerate(({"flags": {"//runtime/executor:accelerator": "metal"}}, {"defines": {"ACCELERATOR": "metal"}})):
        assert source not in compiled(analysis_of(tmp_path / f"m{at}", "macos-arm64", **told))
        assert source in compiled(analysis_of(tmp_path / f"l{at}", "linux-x64", **told))


def test_generated_sources_come_from_tools_of_the_exec_configuration(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, "android-arm64")
    runs = {action.label: action for action in analysis.actions if isinstance(action, Run)}
    made = sorted(output.partition("/bin/")[2] for run in runs.values() for output in run.outputs)
    assert made == [
        "external/dawn/include/dawn/webgpu.h", "external/litert/litert/build_common/config.h", "external/litert/tflite/schema_generated.h",
        "external/ml_drift/cl/cache_generated.h", "external/sentencepiece/model.pb.cc", "external/sentencepiece/model.pb.h",
        "runtime/proto/engine.pb.cc", "runtime/proto/engine.pb.h", "runtime/proto/token.pb.cc", "runtime/proto/token.pb.h",
        "runtime/template/template.rs.cc", "runtime/template/template.rs.h",
    ]  # fmt: skip
    assert not any("arm64-v8a-opt" in tool for run in runs.values() for tool in run.tools)
    dawn = " ".join(runs["@dawn//:headers"].argv)
    assert "$(dirname external/dawn/generator/templates/api.h)" in dawn
    assert "--output bazel-out/arm64-v8a-opt/bin/external/dawn" in dawn
    bridge = runs["//runtime/template:template_cpp/generated"]
    output = "bazel-out/arm64-v8a-opt/bin/runtime/template/template.rs"
    assert bridge.argv[1:] == ("runtime/template/template.rs", "-o", f"{output}.h", "-o", f"{output}.cc")


def faults(tmp_path: Path, without: Iterable[str]) -> dict[str, str]:
    """Return what the doctor lists of the closure without some files, and where."""
    shape = tree(tmp_path, without)
    analyzer = Analyzer(shape.lock("//c:engine"), shape.trees, find_target("linux-x64"), "gcc", "gcc")
    return {fault.what: fault.where.rpartition("//")[2] for fault in on_deep_stack(lambda: diagnose(analyzer))}


def test_every_fault_of_a_public_tree_is_listed_at_once(tmp_path: Path) -> None:
    python, package = "external/xla/third_party/rules_python/python/defs.bzl", "external/litert/tflite/core/BUILD"
    found = faults(tmp_path, [python, package])
    missing = "no file third_party/rules_python/python/defs.bzl in @xla"
    assert [where for what, where in found.items() if "the closure needs @dawn//:generator, a py_binary" in what and missing in what]
    assert found["no such package '@litert//tflite/core': it has no BUILD file"] == "tflite/BUILD:11"
    assert len(found) == 2  # who runs or locates the faulty generator adds none


def test_a_condition_of_another_tree_is_named_where_it_is_asked_and_hides_no_other_fault(tmp_path: Path) -> None:
    condition, dependency = "external/litert/tools/cc_target_os/BUILD", "external/ml_drift/cl/BUILD"
    assert SHAPE[condition] == DEFECT
    expected = {"no such package '@litert//tools/cc_target_os': there is no such folder": "litert/accelerators/BUILD:4"}
    assert faults(tmp_path / "one", [condition]) == expected
    expected["no such package '@ml_drift//cl': it has no BUILD file"] = "litert/accelerators/BUILD:4"
    assert faults(tmp_path / "two", [condition, dependency]) == expected


# TensorFlow's own conditions, which LiteRT's macros select by


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("linux-x64", {"linux_x86_64"}), ("linux-arm64", {"linux_aarch64", "arm_any"}), ("windows-x64", {"windows"}),
        ("macos-arm64", {"macos", "macos_arm64"}), ("macos-x64", {"macos", "macos_x86_64"}), ("ios-arm64", {"ios"}),
        ("ios-arm64-sim", {"ios"}), ("android-arm64", {"android", "android_arm64", "arm_any"}),
        ("android-x64", {"android", "android_x86_64"}),
        # TensorFlow knows Windows by the cpu x64_windows alone: upstream publishes nothing for arm64.
        ("windows-arm64", set()),
    ],
)  # fmt: skip
def test_tensorflows_conditions_know_each_target(target: str, expected: set[str]) -> None:
    root = require("tensorflow-2.14.1")
    repository = Repository("org_tensorflow", root)
    lock = Lock(Path("tensorflow.json"), "test", "test", "org_tensorflow", {"org_tensorflow": repository}, ("//:x",), Product("objects"))
    row = TARGETS[target]
    analyzer = Analyzer(replace(lock, link_mode="none"), {"org_tensorflow": root}, row, row.default_toolchain, "gcc")
    names = {"android", "android_arm64", "android_x86_64", "arm_any", "chromiumos", "debug", "emscripten", "fuchsia", "ios", "ios_x86_64",
             "linux_aarch64", "linux_x86_64", "macos", "macos_arm64", "macos_x86_64", "windows"}  # fmt: skip
    conditions = analyzer.resolvers[analyzer.target.name].conditions
    holding = on_deep_stack(lambda: {name for name in names if conditions.judge(Label("", "tensorflow", name)).holds})
    assert holding == expected


def test_every_test_that_the_list_of_constructs_names_is_there() -> None:
    root = Path(__file__).parents[2]
    named = set(re.findall(r"\btest_\w+\b(?!\.py)", (root / "docs/upstream-constructs.md").read_text(encoding="utf-8")))
    defined = {
        name for file in (root / "tests").rglob("test_*.py") for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.M)
    }
    assert len(named) > 35
    assert named - defined == {"test_suite"}  # the rule
