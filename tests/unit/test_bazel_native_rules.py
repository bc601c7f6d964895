"""skylib's rules and settings, genrule's variables, tools in Python and shell, protocol buffers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litert_build.actions import Copy, Run, Write
from litert_build.bazel.analysis import Analysis

from tests.unit.bazel_samples import Tree

FILES = {"t.cc": "", "a.txt": "", "b.txt": "", "t.in": "x=@A@ @A@ @B@\n"}
BIN = "bazel-out/k8-opt/bin"
EXEC = "bazel-out/k8-opt-exec/bin"


def of(analysis: Analysis, kind: Any, label: str = "//:x") -> Any:
    """Return the one action of a kind that a label registered."""
    [action] = [action for action in analysis.actions if isinstance(action, kind) and action.label == label]
    return action


# skylib


FLAGS = """\
    load("@bazel_skylib//rules:common_settings.bzl", "bool_flag", "int_flag", "string_flag")
    load("@bazel_skylib//lib:selects.bzl", "selects")
    string_flag(name = "mode", build_setting_default = "fast", values = ["fast", "small"])
    bool_flag(name = "traced", build_setting_default = False)
    int_flag(name = "level", build_setting_default = 2)
    config_setting(name = "small", flag_values = {":mode": "small"})
    config_setting(name = "fast", flag_values = {":mode": "fast"})
    config_setting(name = "on", flag_values = {":traced": "True"})
    config_setting(name = "two", flag_values = {":level": "2"})
    selects.config_setting_group(name = "any", match_any = [":small", ":on"])
    selects.config_setting_group(name = "all", match_all = [":fast", ":on", ":two"])
    selects.config_setting_group(name = "one", match_all = [":on"])
    cc_library(
        name = "x",
        srcs = ["a.cc"],
        defines = select({":small": ["SMALL"], ":fast": ["FAST"]}) +
                  select({":any": ["ANY"], "//conditions:default": []}) +
                  select({":all": ["ALL"], "//conditions:default": []}) +
                  select({":one": ["ONE"], "//conditions:default": []}) +
                  selects.with_or({(":small", ":on"): ["OR"], "//conditions:default": []}),
    )
    """


@pytest.mark.parametrize(
    ("flags", "defines"),
    [
        ({}, ["FAST"]),
        ({"//:mode": "small"}, ["SMALL", "ANY", "OR"]),
        ({"//:traced": "true"}, ["FAST", "ANY", "ALL", "ONE", "OR"]),
        ({"//:traced": "True", "//:level": "3"}, ["FAST", "ANY", "ONE", "OR"]),
    ],
)
def test_flags_and_groups_of_settings(tmp_path: Path, flags: dict[str, str], defines: list[str]) -> None:
    analysis = Tree(tmp_path, {"BUILD": FLAGS, "a.cc": ""}, flags=flags).analyze("//:x")
    [action] = analysis.actions.compiles()
    assert [define for define in action.defines if define in ("SMALL", "FAST", "ANY", "ALL", "ONE", "OR")] == defines


def test_a_flag_takes_its_values_only(tmp_path: Path) -> None:
    error = Tree(tmp_path, {"BUILD": FLAGS, "a.cc": ""}, flags={"//:mode": "smal"}).failure("//:x")
    assert error.what == "//:mode is set to 'smal', which is not one of its values: fast, small"
    assert error.mend == "did you mean small?"


def test_groups_refuse_what_decides_nothing(tmp_path: Path) -> None:
    start = 'load("@bazel_skylib//lib:selects.bzl", "selects")\n'
    tree = Tree(tmp_path, {"BUILD": start + "selects.config_setting_group(name = 'g')"})
    assert tree.load_failure().what == "config_setting_group g needs match_any or match_all"
    tree = Tree(tmp_path, {"BUILD": start + "x = selects.with_or({('//:a', '//:b'): 1, '//:a': 2})"})
    assert tree.load_failure().what == "condition //:a stands in two branches"


def test_copy_write_expand_and_run(tmp_path: Path) -> None:
    build = """\
        load("@bazel_skylib//rules:copy_file.bzl", "copy_file")
        load("@bazel_skylib//rules:expand_template.bzl", "expand_template")
        load("@bazel_skylib//rules:run_binary.bzl", "run_binary")
        load("@bazel_skylib//rules:write_file.bzl", "write_file")
        cc_binary(name = "tool", srcs = ["t.cc"])
        copy_file(name = "copied", src = "a.txt", out = "copied.txt")
        write_file(name = "written", out = "written.txt", content = ["a", "b", ""])
        expand_template(name = "expanded", template = "t.in", out = "expanded.txt", substitutions = {"@A@": "1"})
        run_binary(name = "ran", tool = ":tool", srcs = ["a.txt"], outs = ["ran.txt"], args = ["$(location a.txt)", "-v"], env = {"K": "V"})
        filegroup(name = "x", srcs = [":copied", ":written", ":expanded", ":ran"])
        """
    analysis = Tree(tmp_path, {**FILES, "BUILD": build}).analyze("//:x")
    assert (of(analysis, Copy, "//:copied").source, of(analysis, Copy, "//:copied").output) == ("a.txt", f"{BIN}/copied.txt")
    assert of(analysis, Write, "//:written").content == "a\nb\n"
    assert of(analysis, Write, "//:expanded").content == "x=1 1 @B@\n"
    ran = of(analysis, Run, "//:ran")
    assert (ran.argv, ran.env) == ((f"{EXEC}/tool", "a.txt", "-v"), (("K", "V"),))


# genrule


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("$@", f"{BIN}/p/d/o.txt"),
        ("$(@)", f"{BIN}/p/d/o.txt"),
        ("$<", "p/a.txt"),
        ("$(SRCS)", "p/a.txt"),
        ("$(OUTS)", f"{BIN}/p/d/o.txt"),
        ("$(@D)", f"{BIN}/p/d"),
        ("$(RULEDIR)", f"{BIN}/p"),
        ("$(BINDIR) $(GENDIR)", f"{BIN} {BIN}"),
        ("$(TARGET_CPU) $(COMPILATION_MODE)", "k8 opt"),
        ("$$HOME $$(date)", "$HOME $(date)"),
        ("$(location :tool) $(execpath //p:a.txt) $(rootpath a.txt)", f"{EXEC}/p/tool p/a.txt p/a.txt"),
        ("$(location d/o.txt)", f"{BIN}/p/d/o.txt"),
        ("$(locations :both)", "p/a.txt p/b.txt"),
        ("$(NAME) $(MINE)", "of the lock of a toolchain"),
    ],
)
def test_variables_of_a_genrule(tmp_path: Path, command: str, text: str) -> None:
    build = f"""\
        load(":r.bzl", "variables")
        variables(name = "v")
        filegroup(name = "both", srcs = ["a.txt", "b.txt"])
        cc_binary(name = "tool", srcs = ["t.cc"])
        genrule(name = "x", srcs = ["a.txt"], outs = ["d/o.txt"], tools = [":tool", ":both"], toolchains = [":v"], cmd = "{command}")
        """
    rule = "def _impl(ctx):\n    return platform_common.TemplateVariableInfo({'MINE': 'of a toolchain'})\nvariables = rule(_impl)\n"
    tree = Tree(
        tmp_path,
        {**{f"p/{name}": text for name, text in FILES.items()}, "p/BUILD": build, "p/r.bzl": rule},
        defines={"NAME": "of the lock"},
    )
    action = of(tree.analyze("//p:x"), Run, "//p:x")
    assert action.argv == ("bash", "-c", f"set -e -o pipefail; {text}")


def test_folders_of_a_genrule_with_two_outputs(tmp_path: Path) -> None:
    build = "genrule(name = 'x', outs = ['d/o', 'e/p'], cmd = '$(@D) $(RULEDIR) $(OUTS)')"
    action = of(Tree(tmp_path, {"p/BUILD": build}).analyze("//p:x"), Run, "//p:x")
    assert action.argv[-1].endswith(f"; {BIN}/p {BIN}/p {BIN}/p/d/o {BIN}/p/e/p")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("$(NOPE)", "attribute 'cmd' of //:x: $(NOPE) is not defined"),
        ("$@", "attribute 'cmd' of //:x: $@ is not defined here"),
        ("$<", "attribute 'cmd' of //:x: $< is not defined here"),
        ("$(location :both)", "attribute 'cmd' of //:x: $(location :both) expands to 2 files, use $locations"),
        ("$(location :x)", "attribute 'cmd' of //:x: $(location :x): //:x is not a declared prerequisite of this rule"),
        ("${HOME}", "attribute 'cmd' of //:x: ${HOME} is not Make syntax: write $(HOME) or $${...} for the shell"),
        ("$HOME", "attribute 'cmd' of //:x: unterminated or unknown $ reference in '$HOME': write $$ for a dollar sign"),
    ],
)
def test_fault_of_a_genrule(tmp_path: Path, command: str, message: str) -> None:
    build = f"""\
        filegroup(name = "both", srcs = ["a.txt", "b.txt"])
        genrule(name = "x", srcs = ["a.txt", "b.txt"], outs = ["o", "p"], tools = [":both"], cmd = "{command}")
        """
    error = Tree(tmp_path, {**FILES, "BUILD": build}).failure("//:x")
    assert error.what == message and error.where.endswith("BUILD:2")


# Tools in Python and shell


def test_py_binary_as_a_tool(tmp_path: Path) -> None:
    build = """\
        py_library(name = "lib", srcs = ["lib.py"], imports = ["inside"])
        py_binary(name = "t", srcs = ["t.py"], deps = [":lib", "@other//:more"])
        genrule(name = "x", outs = ["o"], tools = [":t"], cmd = "$(location :t) $@")
        """
    other = "py_library(name = 'more', srcs = ['more.py'], visibility = ['//visibility:public'])"
    files = {"BUILD": build, "t.py": "", "lib.py": "", "external/other/BUILD": other, "external/other/more.py": ""}
    analysis = Tree(tmp_path, files).analyze("//:x")
    launcher = of(analysis, Write, "//:t")
    assert (launcher.output, launcher.executable) == (f"{EXEC}/t", True)
    assert f"PYTHONPATH=.:{EXEC}:external/other" in launcher.content and 'exec python3 t.py "$@"' in launcher.content
    assert of(analysis, Run).tools == (f"{EXEC}/t", "t.py", "lib.py", "external/other/more.py")


def test_sh_binary_runs_by_its_own_name(tmp_path: Path) -> None:
    build = "sh_binary(name = 't', srcs = ['u.sh'])\ngenrule(name = 'x', outs = ['o'], tools = [':t'], cmd = '$(location :t) $@')"
    analysis = Tree(tmp_path, {"BUILD": build, "u.sh": ""}).analyze("//:x")
    assert (of(analysis, Copy, "//:t").source, of(analysis, Copy, "//:t").output) == ("u.sh", f"{EXEC}/t")
    assert of(analysis, Run).argv[-1].endswith(f"; {EXEC}/t {BIN}/o")


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("py_binary(name = 't', srcs = ['a.py', 'b.py'])", "//:t: no source is the main file t.py"),
        ("py_binary(name = 't', srcs = ['a.py'], main = 'c.py')", "//:t: no source is the main file c.py"),
        ("sh_binary(name = 't', srcs = ['a.py', 'b.py'])", "//:t: sh_binary takes exactly one source, got 2"),
        ("filegroup(name = 't')", "attribute 'cmd' of //:x: $(location :t) expands to 0 files, use $locations"),
        ("py_test(name = 't')", "the closure needs //:t, a py_test: tests are declared, not built"),
    ],
)
def test_what_is_no_tool(tmp_path: Path, tool: str, message: str) -> None:
    build = f"{tool}\ngenrule(name = 'x', outs = ['o'], tools = [':t'], cmd = '$(location :t) $@')"
    assert Tree(tmp_path, {"BUILD": build, "a.py": "", "b.py": "", "c.py": ""}).failure("//:x").what == message


# Protocol buffers


PROTOBUF = {
    "external/com_google_protobuf/BUILD": """\
        cc_binary(name = "protoc", srcs = ["protoc.cc"], visibility = ["//visibility:public"])
        cc_library(name = "protobuf", srcs = ["runtime.cc"], visibility = ["//visibility:public"])
        """,
    "external/com_google_protobuf/protoc.cc": "", "external/com_google_protobuf/runtime.cc": "",
}  # fmt: skip


def test_one_protoc_call_a_file(tmp_path: Path) -> None:
    build = """\
        proto_library(name = "ab", srcs = ["a.proto", "b.proto"], deps = ["//q:c"])
        cc_proto_library(name = "x", deps = [":ab"])
        cc_proto_library(name = "again", deps = [":ab"])
        filegroup(name = "both", srcs = [":x", ":again"])
        """
    moved = "strip_import_prefix = '/q', import_prefix = 'z'"
    below = f"proto_library(name = 'c', srcs = ['c.proto'], visibility = ['//visibility:public'], {moved})"
    files = {**PROTOBUF, "p/BUILD": build, "p/a.proto": "", "p/b.proto": "", "q/BUILD": below, "q/c.proto": ""}
    analysis = Tree(tmp_path, files).analyze("//p:both")
    calls = {action.argv[-1]: action for action in analysis.actions if isinstance(action, Run)}
    assert list(calls) == [f"{BIN}/q/_virtual_imports/c/z/c.proto", "p/a.proto", "p/b.proto"]
    assert calls["p/a.proto"].outputs == (f"{BIN}/p/a.pb.cc", f"{BIN}/p/a.pb.h")
    assert calls["p/a.proto"].tools == (f"{EXEC}/external/com_google_protobuf/protoc",)
    assert f"-I{BIN}/q/_virtual_imports/c" in calls["p/a.proto"].argv
    compiled = {action.source: action for action in analysis.actions.compiles()}
    assert {f"{BIN}/p/a.pb.cc", f"{BIN}/p/b.pb.cc", f"{BIN}/q/_virtual_imports/c/z/c.pb.cc"} <= set(compiled)
    assert "external/com_google_protobuf/runtime.cc" in compiled
    assert compiled[f"{BIN}/p/a.pb.cc"].label == "//p:ab"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        ("proto_library(name = 'p', srcs = ['a.proto'])\ncc_proto_library(name = 'x', deps = [':p'])",
         "no such repository '@com_google_protobuf'"),
        ("cc_library(name = 'p')\ncc_proto_library(name = 'x', deps = [':p'])", "//:x: deps of a cc_proto_library name a proto_library"),
        ("proto_library(name = 'x', srcs = ['a.proto'], strip_import_prefix = 'b')",
         "//:x: source 'a.proto' is not under the strip prefix 'b'"),
    ],
)  # fmt: skip
def test_fault_of_a_proto_rule(tmp_path: Path, build: str, message: str) -> None:
    assert Tree(tmp_path, {"BUILD": build, "a.proto": ""}).failure("//:x").what == message
