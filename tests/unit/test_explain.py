"""scons explain and the doctor's half about the closure, over a tree made on the spot."""

from pathlib import Path

import pytest
from litert_build.bazel.analysis import Analyzer, on_deep_stack
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.reports.explain import diagnose, explain
from litert_build.sources.lock import Lock, Product, Repository

FILES = {
    "BUILD": """
load(":defs.bzl", "unit")

config_setting(
    name = "windows",
    constraint_values = ["@platforms//os:windows"],
)

unit(
    name = "engine",
    srcs = ["engine.cc"],
    copts = ["-O1"] + select({
        ":windows": ["/Ow"],
        "//conditions:default": ["-Wextra"],
    }),
    deps = ["//base"],
)

cc_library(name = "outside")
""",
    "defs.bzl": "def unit(name, **kwargs):\n    native.cc_library(name = name, **kwargs)\n",
    "engine.cc": "",
    "base/BUILD": """
cc_library(
    name = "base",
    srcs = ["base.cc"],
    defines = ["BASE=1"],
    includes = ["include"],
    visibility = ["//visibility:public"],
)
""",
    "base/base.cc": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def analyzer(tree: Path) -> Analyzer:
    lock = Lock(
        tree / "lock.json",
        "r",
        "r",
        "main",
        {"main": Repository("main", tree)},
        ("//:engine",),
        Product("objects"),
        cxxopts=("-std=c++20",),
    )
    return Analyzer(lock, {"main": tree}, find_target("linux-x64"), "gcc", "gcc")


def told(tree: Path, label: str, **asked: str) -> str:
    return on_deep_stack(lambda: explain(analyzer(tree), label, **asked))


def test_path_declaration_and_macro_stack(tree):
    text = told(tree, "//base")
    assert "//base:base is a cc_library (k8-opt), declared at @main//base/BUILD:2" in text
    assert "path from the root:\n    //:engine\n    -> //base:base" in text
    assert "in unit at @main//defs.bzl:2" in told(tree, "//:engine")


def test_selects_with_the_verdict_of_each_condition(tree):
    text = told(tree, "//:engine")
    assert (
        "select() in copts:\n    //:windows: does not hold (@platforms//os:windows not the platform's)\n    //conditions:default: taken"
        in text
    )


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"flag": "-O1"}, "-O1: added by copts of //:engine at @main//BUILD:9"),
        ({"flag": "-Wextra"}, "-Wextra: added by copts of //:engine at @main//BUILD:9 (//conditions:default)"),
        ({"flag": "-DBASE"}, "-DBASE=1: added by defines of //base:base at @main//base/BUILD:2"),
        ({"include": "base/include/"}, "-isystem base/include: added by includes of //base:base at @main//base/BUILD:2"),
        ({"flag": "-O2"}, "-O2: added by flag table (gcc, opt)"),
        ({"flag": "-std=c++20"}, "-std=c++20: added by options of the lock at "),
    ],
)
def test_the_origin_of_flags_defines_and_includes(tree, asked, answer):
    assert told(tree, "//:engine", **asked).startswith(answer)


def test_a_label_outside_the_closure(tree):
    with pytest.raises(BuildError, match="//:outside is not in the closure of //:engine"):
        told(tree, "//:outside")


def test_a_flag_that_no_compile_has(tree):
    with pytest.raises(BuildError, match="no compile of //:engine has -O9"):
        told(tree, "//:engine", flag="-O9")


def test_the_doctor_lists_all_faults_at_once(tree):
    (tree / "base" / "base.cc").unlink()
    build = tree / "BUILD"
    build.write_text(
        build.read_text().replace('deps = ["//base"]', 'deps = ["//base", "//none", ":engine_test"]') + 'cc_test(name = "engine_test")\n'
    )
    faults = [str(fault) for fault in on_deep_stack(lambda: diagnose(analyzer(tree)))]
    assert len(faults) == 3
    assert any("no such target '//base:base.cc'" in fault for fault in faults)
    assert any("no such package '//none'" in fault for fault in faults)
    assert any("a test: tests are declared, not built" in fault for fault in faults)
