"""From root labels to actions: selects, globs, visibility, cycles, the two configurations, and the refusals on the way."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from litert_build.actions import Compile, Link, LinkInputs, Run
from litert_build.bazel.analysis import Analysis, on_deep_stack
from litert_build.errors import BuildError

from tests.unit.bazel_samples import Tree

SETTINGS = """\
    config_setting(name = "k8", values = {"cpu": "k8"})
    config_setting(name = "linux", constraint_values = ["@platforms//os:linux"])
    config_setting(name = "k8_linux", values = {"cpu": "k8"}, constraint_values = ["@platforms//os:linux"])
    config_setting(name = "arm", values = {"cpu": "armeabi"})
    config_setting(name = "on", define_values = {"feature": "on"})
    alias(name = "chosen", actual = select({":on": ":k8", "//conditions:default": ":arm"}))
    """


def library(tree: Path, **attributes: str) -> Tree:
    """A tree whose //:x has one source and `attributes`; the settings stand in //s."""
    given = "".join(f"    {name} = {value},\n" for name, value in attributes.items())
    return Tree(tree, {"BUILD": f"cc_library(\n    name = 'x',\n    srcs = ['a.cc'],\n{given})\n", "a.cc": "", "s/BUILD": SETTINGS})


def own_defines(analysis: Analysis) -> list[str]:
    """The defines of the one compile that its BUILD file gave."""
    [action] = analysis.actions.compiles()
    return [define for define in action.defines if define.startswith("D")]


# select()


@pytest.mark.parametrize(
    ("value", "chosen"),
    [
        ("select({'//s:k8': ['D1'], '//conditions:default': ['D2']})", ["D1"]),
        ("select({'//s:arm': ['D1'], '//conditions:default': ['D2']})", ["D2"]),
        ("select({'//s:k8': ['D1'], '//s:k8_linux': ['D2']})", ["D2"]),
        ("select({'//s:k8_linux': ['D2'], '//s:k8': ['D1'], '//s:linux': ['D3']})", ["D2"]),
        ("select({'//s:k8': ['D1'], '//s:linux': ['D1']})", ["D1"]),
        ("select({'@platforms//os:linux': ['D1'], '@platforms//os:windows': ['D2']})", ["D1"]),
        ("select({'//s:chosen': ['D1'], '//conditions:default': ['D2']})", ["D2"]),
        ("['D0'] + select({'//s:k8': ['D1']}) + ['D2'] + select({'//s:linux': ['D3']})", ["D0", "D1", "D2", "D3"]),
        ("select({'//s:k8': None, '//conditions:default': ['D1']})", []),
        ("select({'//s:k8': []}) or ['D1']", []),
        ("['D1'] if select({'//s:k8': []}) else ['D2']", ["D1"]),
        ("['D1'] if not select({'//s:k8': []}) else ['D2']", ["D2"]),
    ],
)
def test_select(tmp_path: Path, value: str, chosen: list[str]) -> None:
    assert own_defines(library(tmp_path, defines=value).analyze("//:x")) == chosen


def test_select_keys_may_be_aliases_that_are_chosen_by_select(tmp_path: Path) -> None:
    tree = library(tmp_path, defines="select({'//s:chosen': ['D1'], '//conditions:default': ['D2']})")
    tree.settings["defines"] = {"feature": "on"}
    assert own_defines(tree.analyze("//:x")) == ["D1"]


@pytest.mark.parametrize(
    ("value", "message", "notes"),
    [
        ("select({'//s:arm': [], '//s:on': []})", "no condition of the select() in attribute 'defines' holds",
         ("//s:arm: does not hold (--cpu is not armeabi)", "//s:on: does not hold (--define feature is not set)")),
        ("select({'//s:arm': []}, no_match_error = 'phones only')",
         "no condition of the select() in attribute 'defines' holds: phones only",
         ("//s:arm: does not hold (--cpu is not armeabi)",)),
        ("select({'//s:k8': ['D1'], '//s:linux': ['D2']})",
         "several conditions of the select() in attribute 'defines' hold and none is a specialization of the others",
         ("//s:k8: holds", "//s:linux: holds")),
        ("select({'//:x': []})", "//:x is a cc_library, no condition of a select()", ()),
        ("select({'//:a.cc': []})", "//:a.cc is a file, no condition of a select()", ()),
        ("select({'//s:none': [], '//conditions:default': []})", "no such target '//s:none'", ()),
        ("select({'//none:k8': [], '//conditions:default': []})", "no such package '//none': there is no such folder", ()),
        ("select({'//s:k8': 'D1'})", "expected value of type 'list(string)' for attribute 'defines', but got \"D1\" (string)", ()),
        ("select({'//conditions:default': select({'//s:k8': ['D1']})})",
         "expected value of type 'list(string)' for attribute 'defines', but got select({\"//s:k8\": [\"D1\"]}) (select)", ()),
        ("select({'//conditions:default': ['D1'] + select({'//s:k8': ['D2']})})",
         "expected value of type 'list(string)' for attribute 'defines', but got [\"D1\"] + select({\"//s:k8\": [\"D2\"]}) (select)", ()),
        ("[select({'//s:k8': 'D1'})]",
         "expected value of type 'string' for attribute 'defines', but got select({\"//s:k8\": \"D1\"}) (select)", ()),
        ("select({})", "select({}) with an empty dictionary can never resolve", ()),
        ("select(['D1'])", "select() takes a dict, not list", ()),
        ("select({1: []})", "select() key 1 is no label", ()),
        ("select({'//s:k8': []}) + None", "'+' operator applied to incompatible types (select, NoneType)", ()),
        ("[d for d in select({'//s:k8': []})]", "type 'select' is not iterable", ()),
        ("['D'] * len(select({'//s:k8': []}))", "select is not iterable", ()),
        ("select({'//s:k8': []})['//s:k8']", "type 'select' has no operator [](…)", ()),
    ],
)  # fmt: skip
def test_fault_of_a_select(tmp_path: Path, value: str, message: str, notes: tuple[str, ...]) -> None:
    error = library(tmp_path, defines=value).failure("//:x")
    assert error.what.startswith(message)
    assert error.notes == notes
    assert error.where.endswith(("BUILD:1", "BUILD:4"))


@pytest.mark.parametrize(("attribute", "value"), [("testonly", "select({'//s:k8': 1})"), ("visibility", "select({'//s:k8': []})")])
def test_attributes_that_take_no_select(tmp_path: Path, attribute: str, value: str) -> None:
    error = library(tmp_path, **{attribute: value}).failure("//:x")
    assert error.what == f"attribute '{attribute}' is not configurable: it takes no select()"


def test_a_condition_that_depends_on_itself(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "alias(name = 'c', actual = select({':c': ':c'}))\ncc_library(name = 'x', deps = select({':c': []}))"})
    assert tree.failure("//:x").what == "condition //:c depends on itself"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("values = {'cpuu': 'k8'}", "config_setting reads the unknown option --cpuu"),
        ("flag_values = {':x': 'on'}", "//:x is no build setting"),
        ("constraint_values = [':x']", "//:x is a cc_library, no condition of a select()"),
    ],
)
def test_a_setting_that_means_nothing(tmp_path: Path, setting: str, message: str) -> None:
    tree = Tree(tmp_path, {"BUILD": f"config_setting(name = 'c', {setting})\ncc_library(name = 'x', deps = select({{':c': []}}))"})
    assert tree.failure("//:x").what == message


@pytest.mark.parametrize(
    ("rule", "attribute", "value", "message"),
    [
        ("cc_library", "copts", "select({'//s:arm': []})", "no condition of the select() in attribute 'copts' holds"),
        ("cc_library", "data", "select({'//s:arm': []})", "no condition of the select() in attribute 'data' holds"),
        ("cc_library", "linkstatic", "select({'//s:arm': 1})", "no condition of the select() in attribute 'linkstatic' holds"),
        ("cc_library", "copts", "select({'//s:k8': ['-a'], '//s:linux': ['-b']})",
         "several conditions of the select() in attribute 'copts' hold"),
        ("cc_library", "copts", "select({'//s:none': [], '//conditions:default': []})", "no such target '//s:none'"),
        ("cc_library", "local_defines", "select({'//:x': [], '//conditions:default': []})",
         "//:x is a cc_library, no condition of a select()"),
        ("filegroup", "data", "select({'//s:arm': []}, no_match_error = 'phones only')",
         "no condition of the select() in attribute 'data' holds: phones only"),
        ("cc_library", "deps", "[':y'] + select({'//s:k8': [':y']})", "label '//:y' is duplicated in the 'deps' attribute"),
        ("cc_library", "data", "select({'//s:k8': [':y']}) + select({'//s:linux': ['//:y']})",
         "label '//:y' is duplicated in the 'data' attribute"),
        ("alias", "actual", "select({'//s:k8': None, '//conditions:default': ':y'})",
         "mandatory attribute 'actual' is None where //s:k8 holds"),
    ],
)  # fmt: skip
def test_every_select_of_the_closure_is_resolved(tmp_path: Path, rule: str, attribute: str, value: str, message: str) -> None:
    build = f"cc_library(name = 'z', deps = [':x'])\n\n{rule}(name = 'x', {attribute} = {value})\n\ncc_library(name = 'y')\n"
    tree = Tree(tmp_path, {"BUILD": build, "s/BUILD": SETTINGS})
    error = tree.failure("//:z")
    assert error.what.startswith(message) and error.where == f"{tree.shown()}BUILD:3"


def test_a_branch_that_is_not_chosen_may_repeat_a_label(tmp_path: Path) -> None:
    value = "[':y'] + select({'//s:arm': [':y'], '//conditions:default': []})"
    build = f"cc_library(name = 'x', deps = {value}, copts = select({{'//s:k8': None}}))\ncc_library(name = 'y')\n"
    assert list(Tree(tmp_path, {"BUILD": build, "s/BUILD": SETTINGS}).analyze("//:x").actions) == []


# testonly


TESTONLY = """\
    {use}

    cc_library(name = "t", testonly = True)
    cc_library(name = "plain")
    alias(name = "a", actual = ":t")
    alias(name = "open", actual = ":plain", testonly = True)
    label_flag(name = "flag", build_setting_default = ":t")
    config_setting(name = "c", values = {{"cpu": "k8"}}, testonly = True)
    genrule(name = "g", outs = ["g.cc"], cmd = "touch $@", testonly = True)
    cc_binary(name = "tool", srcs = ["a.cc"], testonly = True)
    test_suite(name = "suite", tests = [])
    """


@pytest.mark.parametrize(
    ("use", "dependency"),
    [
        ("cc_library(name = 'x', deps = [':t'])", "target '//:t'"),
        ("cc_library(name = 'x', deps = [':t'], testonly = False)", "target '//:t'"),
        ("cc_library(name = 'x', deps = [':a'])", "alias '//:a' referring to target '//:t'"),
        ("cc_library(name = 'x', deps = [':flag'])", "alias '//:flag' referring to target '//:t'"),
        ("cc_library(name = 'x', deps = select({'//conditions:default': [':t']}))", "target '//:t'"),
        ("cc_library(name = 'x', srcs = [':g'])", "target '//:g'"),
        ("cc_library(name = 'x', copts = select({':c': [], '//conditions:default': []}))", "target '//:c'"),
        ("cc_library(name = 'x', deps = ['//p:t'])", "target '//p:t'"),
        ("filegroup(name = 'x', srcs = [':t'])", "target '//:t'"),
        ("filegroup(name = 'x', srcs = [':suite'])", "target '//:suite'"),
        ("genrule(name = 'x', outs = ['o'], tools = [':tool'], cmd = 'touch $@')", "target '//:tool'"),
    ],
)
def test_only_tests_depend_on_what_is_testonly(tmp_path: Path, use: str, dependency: str) -> None:
    package = "package(default_testonly = 1, default_visibility = ['//visibility:public'])\ncc_library(name = 't')"
    tree = Tree(tmp_path, {"BUILD": TESTONLY.format(use=use), "p/BUILD": package, "a.cc": ""})
    error = tree.failure("//:x")
    assert error.what == f"non-test target '//:x' depends on testonly {dependency} and doesn't have testonly attribute set"
    assert error.where == f"{tree.shown()}BUILD:1"
    assert error.mend == "set testonly = True on //:x if nothing but tests uses it, or drop the dependency"


def test_a_target_that_many_need_is_testonly_for_each(tmp_path: Path) -> None:
    build = """\
        cc_library(name = "y", deps = [":t"], testonly = 1)
        cc_library(name = "z", deps = [":t"])
        cc_library(name = "t", testonly = 1)
        """
    tree = Tree(tmp_path, {"BUILD": build})
    assert tree.failure("//:y", "//:z").where == f"{tree.shown()}BUILD:2"


@pytest.mark.parametrize(
    "use",
    [
        "cc_library(name = 'x', deps = [':t', ':a', ':open'], testonly = True)",
        "package(default_testonly = True)\n    cc_library(name = 'x', deps = [':t'])",
        "alias(name = 'x', actual = ':t')",
        "cc_library(name = 'x', deps = [':open'])",
        "cc_library(name = 'x', srcs = ['g.cc'])",
    ],
    ids=["testonly itself", "its package's default", "an alias", "a testonly alias of a plain target", "a generated file"],
)
def test_what_may_depend_on_what_is_testonly(tmp_path: Path, use: str) -> None:
    Tree(tmp_path, {"BUILD": TESTONLY.format(use=use), "a.cc": ""}).analyze("//:x")


# glob()


TREE = {"a.cc": "", "b.h": "", ".hidden.cc": "", "[x].cc": "", "x.cc": "", "d/e.cc": "", "d/.f/g.cc": "", "d/h/i.cc": "",
        "sub/BUILD": "", "sub/j.cc": "", "d/sub2/BUILD.bazel": "", "d/sub2/k.cc": ""}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("['*.cc']", ["[x].cc", "a.cc", "x.cc"]),
        ("['*']", [".hidden.cc", "BUILD", "[x].cc", "a.cc", "b.h", "x.cc"]),
        ("['.*']", [".hidden.cc"]),
        ("['[x].cc']", ["[x].cc"]),
        ("['[x]*']", ["[x].cc"]),
        ("['**/*.cc']", ["[x].cc", "a.cc", "d/.f/g.cc", "d/e.cc", "d/h/i.cc", "x.cc"]),
        ("['d/**']", ["d/.f/g.cc", "d/e.cc", "d/h/i.cc"]),
        ("['**/h/*.cc']", ["d/h/i.cc"]),
        ("['d/*/*.cc']", ["d/.f/g.cc", "d/h/i.cc"]),
        ("['*/e.cc']", ["d/e.cc"]),
        ("['*.cc'], exclude = ['x.*', '[[]*']", ["[x].cc", "a.cc"]),
        ("['**'], exclude = ['**/*.cc', 'BUILD']", [".hidden.cc", "b.h"]),
        ("['**/*.cc'], exclude = ['//d:e.cc', 'd/**']", ["[x].cc", "a.cc", "x.cc"]),
        ("['a.cc', 'none.cc']", ["a.cc"]),
        ("['d'], exclude_directories = 0", ["d"]),
        ("['d']", []),
        ("['sub/j.cc', 'sub/*.cc', 'd/sub2/*']", []),
        ("['*.none']", []),
        ("[]", []),
    ],
)
def test_glob(tmp_path: Path, arguments: str, found: list[str]) -> None:
    tree = Tree(tmp_path, {**TREE, "BUILD": f"fail(glob({arguments}))"})
    assert tree.load_failure().what == str(found).replace("'", '"')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("['?.cc']", 'glob pattern "?.cc": wildcard ? is forbidden'),
        ("['**.cc']", 'glob pattern "**.cc": recursive wildcard must be its own segment'),
        ("['/a.cc']", 'glob pattern "/a.cc" must be relative and not empty'),
        ("['']", 'glob pattern "" must be relative and not empty'),
        ("['../*.cc']", "glob pattern \"../*.cc\" must not contain empty, '.' or '..' segments"),
        ("'*.cc'", 'glob include takes a list of strings, not "*.cc" (string)'),
        ("['*.none'], allow_empty = False", 'glob pattern ["*.none"] didn\'t match anything, but allow_empty is set to False'),
        ("['*.cc'], excludes = []", "glob() got unexpected keyword argument 'excludes'"),
        ("[select({'//a:b': 'c'})]", 'glob include takes a list of strings, not [select({"//a:b": "c"})] (list)'),
    ],
)
def test_fault_of_a_glob(tmp_path: Path, arguments: str, message: str) -> None:
    error = Tree(tmp_path, {**TREE, "BUILD": f"\nx = glob({arguments})"}).load_failure()
    assert error.what == message
    assert error.where.endswith("BUILD:2")


def test_a_new_build_file_takes_a_folder_out_of_the_globs_around_it(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "fail(glob(['**/*.cc']))", "d/e.cc": ""})
    assert tree.load_failure().what == '["d/e.cc"]'
    tree.write("d/BUILD", "")
    assert tree.load_failure().what == "[]"


def test_links_in_circles_are_not_followed(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "fail(glob(['**/*.cc']))", "d/e/f.cc": "", "g/h.cc": ""})
    for link, target in (("d/e/up", ".."), ("d/e/up2", ".."), ("d/to_g", "../g"), ("g/to_d", "../d")):
        (tree.trees["main"] / link).symlink_to(target)
    found = tree.load_failure().what
    assert '"d/e/f.cc"' in found and '"d/to_g/h.cc"' in found
    assert "up/" not in found


def test_a_link_to_itself_is_a_file_that_is_not_there(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "fail(glob(['**/*.cc']))", "d/e.cc": ""})
    (tree.trees["main"] / "d/self").symlink_to("self")
    assert tree.load_failure().what == '["d/e.cc"]'


def test_every_listed_folder_decides(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "cc_library(name = 'x', srcs = glob(['**/*.cc']))", "d/e.cc": "", "d/f/g.h": ""})
    main = tree.trees["main"]
    read = {Path(path).relative_to(main).as_posix() for path in tree.analyze("//:x").read if Path(path).is_relative_to(main)}
    assert {".", "d", "d/f", "BUILD"} <= read


# Labels, files, cycles


def test_missing_source_and_misspelt_target(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "cc_library(\n    name = 'x',\n    srcs = ['a.cc'],\n)\n\ncc_library(name = 'y', deps = [':xx'])\n"})
    error = tree.failure("//:x")
    assert error.what.startswith("no such target '//:a.cc': neither a rule nor a file of that name is in ")
    assert error.where.endswith("BUILD:1")
    error = tree.failure("//:y")
    assert error.what.startswith("no such target '//:xx'") and error.mend == "did you mean x?"
    assert error.where.endswith("BUILD:6")
    assert tree.failure("//:zzz").where.endswith("test.json")


def test_a_label_into_a_subpackage(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"p/BUILD": "cc_library(name = 'x', srcs = ['a/b/c.cc'])", "p/a/BUILD": "", "p/a/b/c.cc": ""})
    error = tree.failure("//p:x")
    assert error.what == "label '//p:a/b/c.cc' is invalid because 'p/a' is a subpackage"
    assert error.mend == "write //p/a:b/c.cc"


def test_dependency_cycles_print_their_path(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {
        "BUILD": "cc_library(name = 'x', deps = ['//a:y'])\ncc_library(name = 'z', deps = [':x'], visibility = ['//visibility:public'])",
        "a/BUILD": "\ncc_library(name = 'y', deps = ['//:z'], visibility = ['//visibility:public'])",
    })  # fmt: skip
    error = tree.failure("//:x")
    assert (error.what, error.notes) == ("dependency cycle", ("//:x", "//a:y", "//:z", "//:x"))
    assert error.where.endswith("BUILD:2")
    own = Tree(tmp_path / "own", {"BUILD": "cc_library(name = 'x', deps = [':x'])"}).failure("//:x")
    assert own.notes == ("//:x", "//:x")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        ("cc_library(name = 'x', srcs = ['a.txt'])", "//:x: source file '//:a.txt' is misplaced here: no C++ rule takes .txt files"),
        ("cc_library(name = 'x', nocopts = '-a')", "attribute 'nocopts' of //:x is not supported: Bazel removed it"),
        ("cc_library(name = 'x', hdrs = ['a.txt'], strip_include_prefix = 'b')",
         "header 'a.txt' is not under the specified strip prefix 'b'"),
        ("cc_library(name = 'x', srcs = ['a.cc'], copts = ['$(NOPE)'])", "attribute 'copts' of //:x: $(NOPE) is not defined"),
        ("cc_library(name = 'x', srcs = ['a.cc'], copts = ['$(location :q)'])",
         "attribute 'copts' of //:x: $(location :q): //:q is not a declared prerequisite of this rule"),
        ("cc_library(name = 'x', srcs = ['a.cc'], copts = ['$a'])",
         "attribute 'copts' of //:x: unterminated or unknown $ reference in '$a'"),
        ("cc_library(name = 'x', srcs = ['a.cc'], copts = ['\"a'])", "attribute 'copts' of //:x: unterminated quotation in '\"a'"),
        ("cc_library(name = 'x', srcs = ['a.cc'], includes = ['../..'])",
         "attribute 'includes' of //:x: '../..' leaves the execution root"),
        ("cc_library(name = 'x', target_compatible_with = ['@platforms//os:windows'])",
         "//:x is incompatible with this platform: @platforms//os:windows does not hold"),
        ("cc_test(name = 'x')", "the closure needs //:x, a test: tests are declared, not built"),
        ("cc_library(name = 'x', srcs = ['none'])", "//:x: source file '//:none' is misplaced here: no C++ rule takes such files"),
        ("genrule(name = 'g', outs = ['g.txt'], cmd = 'touch $@')\ncc_library(name = 'x', srcs = [':g'])",
         "//:x: '//:g' does not produce any cc_library srcs files"),
        ("filegroup(name = 'g')\ncc_library(name = 'x', srcs = [':g'])", "//:x: '//:g' does not produce any cc_library srcs files"),
        ("filegroup(name = 'g', srcs = ['a.cc'])\ncc_library(name = 'x', srcs = ['a.cc', ':g'])",
         "//:x: source 'a.cc' is duplicated (through '//:a.cc' and '//:g')"),
        ("filegroup(name = 'g')\ncc_library(name = 'x', deps = [':g'])",
         "attribute 'deps' of //:x: filegroup rule '//:g' does not have mandatory providers: 'CcInfo'"),
        ("filegroup(name = 'g')\nalias(name = 'a', actual = ':g')\ncc_binary(name = 'x', deps = [':a'])",
         "attribute 'deps' of //:x: filegroup rule '//:a' does not have mandatory providers: 'CcInfo'"),
        ("py_library(name = 'g')\ncc_library(name = 'x', implementation_deps = [':g'])",
         "attribute 'implementation_deps' of //:x: py_library rule '//:g' does not have mandatory providers: 'CcInfo'"),
        ("cc_library(name = 'x', deps = ['a.cc'])",
         "attribute 'deps' of //:x: source file '//:a.cc' is misplaced here (expected a rule with CcInfo, .ld, .lds or .ldscript)"),
        ("cc_library(name = 'x', defines = ['A B'])", "attribute 'defines' of //:x: definition 'A B' has 2 words, want exactly one"),
        ("cc_library(name = 'x', local_defines = [''])",
         "attribute 'local_defines' of //:x: definition '' has 0 words, want exactly one"),
        ("cc_library(name = 'x', hdrs = ['a.txt'], strip_include_prefix = '../b')",
         "attribute 'strip_include_prefix' of //:x holds an up-level reference: ../b"),
        ("cc_library(name = 'x', hdrs = ['a.txt'], include_prefix = '/b')",
         "attribute 'include_prefix' of //:x is no relative path downwards: /b"),
        ("genrule(name = 'x', outs = [], cmd = 'a')", "//:x has no outs: a genrule without outputs makes nothing"),
        ("genrule(name = 'x', outs = ['o', 'p'], cmd = 'a', executable = True)", "//:x is executable and has 2 outs: which one runs?"),
        ("package_group(name = 'g')\nfilegroup(name = 'x', srcs = [':g'])",
         "package group '//:g' is misplaced here: it is for visibility alone"),
        ("config_setting(name = 'g')\nfilegroup(name = 'x', srcs = select({':g': [], '//conditions:default': []}))",
         "//:g decides nothing: it has no values, define_values, flag_values or constraint_values"),
        ("config_setting(name = 'g', values = {'define': 'a'})\nfilegroup(name = 'x', srcs = select({':g': []}))",
         "config_setting compares --define with 'a'"),
        ("java_library(name = 'x')", "the closure needs //:x, a java_library: a host holds no Java"),
        ("genrule(name = 'x', outs = ['o'])", "//:x has no cmd or cmd_bash"),
        ("cc_library(name = 'x', deps = [select({'//conditions:default': ':a'})])", "expected value of type 'label' for attribute 'deps'"),
    ],
)  # fmt: skip
def test_a_fault_of_a_target_names_its_line(tmp_path: Path, build: str, message: str) -> None:
    error = Tree(tmp_path, {"BUILD": f"\n\n{build}", "a.cc": "", "a.txt": "", "none": ""}).failure("//:x")
    assert error.what.startswith(message)
    last = 3 if message.startswith(("//:g", "config_setting")) else 3 + build.count("\n")
    assert error.where.endswith(f"BUILD:{last}")


def test_dependencies_and_sources_that_fit_otherwise(tmp_path: Path) -> None:
    build = """\
        genrule(name = "both", outs = ["b.txt", "b.h"], cmd = "touch $(OUTS)")
        genrule(name = "text", outs = ["t.txt"], cmd = "touch $@")
        filegroup(name = "headers", srcs = ["a.h"])
        cc_library(
            name = "x",
            srcs = ["a.cc", ":both", ":headers"],
            hdrs = ["a.h", ":headers"],
            defines = ['A=\\\\"b\\\\"', "B='d e'"],
            deps = [":text", "a.lds"],
        )
        """
    analysis = Tree(tmp_path, {"BUILD": build, "a.cc": "", "a.h": "", "a.lds": ""}).analyze("//:x")
    assert [action.source for action in analysis.actions.compiles()] == ["a.cc"]


def test_a_fault_deep_in_the_closure_shows_who_needs_it(tmp_path: Path) -> None:
    build = "cc_library(name = 'x', deps = [':y'])\ncc_library(name = 'y', deps = [':z'])\njava_library(name = 'z')\n"
    error = Tree(tmp_path, {"BUILD": build}).failure("//:x")
    assert error.notes == ("needed by //:y", "needed by //:x")


def test_what_is_outside_the_closure_is_not_looked_at(tmp_path: Path) -> None:
    build = "cc_library(name = 'x', srcs = ['a.cc'])\njava_library(name = 'z')\ncc_library(name = 'y', deps = ['//none', ':z'])\n"
    assert len(Tree(tmp_path, {"BUILD": build, "a.cc": "", "q/BUILD": "syntax error"}).analyze("//:x").actions) == 1


# Visibility


GROUPS = """\
    package_group(name = "g", packages = ["//b/...", "-//b/c"], includes = [":h"])
    package_group(name = "h", packages = ["//d"])
    package_group(name = "all", packages = ["public"])
    cc_library(name = "private")
    cc_library(name = "public", visibility = ["//visibility:public"])
    cc_library(name = "pkg", visibility = ["//b:__pkg__"])
    cc_library(name = "below", visibility = ["//b:__subpackages__"])
    cc_library(name = "group", visibility = [":g"])
    cc_library(name = "all_group", visibility = [":all"])
    alias(name = "open_alias", actual = ":private", visibility = ["//visibility:public"])
    exports_files(["f.cc"], visibility = ["//b:__pkg__"])
    """


@pytest.mark.parametrize(
    ("user", "target", "seen"),
    [
        ("b", "private", False), ("b", "public", True), ("b", "pkg", True), ("b/c", "pkg", False), ("b/c", "below", True),
        ("bb", "below", False),
        ("b", "group", True), ("b/d", "group", True), ("b/c", "group", False), ("d", "group", True), ("d/e", "group", False),
        ("e", "all_group", True), ("e", "open_alias", True), ("b", "f.cc", True), ("d", "f.cc", False), ("a/sub", "private", False),
    ],
)  # fmt: skip
def test_visibility(tmp_path: Path, user: str, target: str, seen: bool) -> None:
    files = {"a/BUILD": GROUPS, "a/f.cc": "", f"{user}/BUILD": f"filegroup(name = 'x', srcs = ['//a:{target}'])"}
    tree = Tree(tmp_path, files)
    if seen:
        tree.analyze(f"//{user}:x")
        return
    error = tree.failure(f"//{user}:x")
    assert error.what == f"target '//a:{target}' is not visible from target '//{user}:x'"
    assert error.where.endswith(f"{user}/BUILD:1")
    assert '"visibility": "advisory"' in error.mend
    assert len(Tree(tmp_path, files, visibility="advisory").analyze(f"//{user}:x").actions) <= 1


def test_visibility_says_who_may(tmp_path: Path) -> None:
    tree = Tree(
        tmp_path,
        {"a/BUILD": GROUPS, "e/BUILD": "cc_library(name = 'x', deps = ['//a:pkg'])\ncc_library(name = 'y', deps = ['//a:private'])"},
    )
    assert "visible to: //b:__pkg__" in tree.failure("//e:x").notes
    assert "visible to: its own package" in tree.failure("//e:y").notes


# Two configurations


TOOL = {
    "BUILD": """\
        cc_binary(name = "tool", srcs = ["tool.cc"], deps = [":shared"])
        cc_library(name = "shared", srcs = ["shared.cc"], copts = select({":os": ["-DLINUX"], "//conditions:default": ["-DOTHER"]}))
        config_setting(name = "os", constraint_values = ["@platforms//os:linux"])
        genrule(name = "made", outs = ["made.cc"], cmd = "$(location :tool) $@", tools = [":tool"])
        cc_library(name = "x", srcs = ["made.cc"], deps = [":shared"])
        """,
    "tool.cc": "", "shared.cc": "",
}  # fmt: skip


def flags_by_configuration(analysis: Analysis) -> dict[str, list[Compile]]:
    found: dict[str, list[Compile]] = {}
    for action in analysis.actions.compiles():
        found.setdefault(action.configuration, []).append(action)
    return found


def test_target_flags_never_reach_tools(tmp_path: Path) -> None:
    options: dict[str, Any] = {"copts": ("-mavx2", "-DTARGET"), "cxxopts": ("-std=c++20", "-fno-rtti"), "linkopts": ("-Wl,--target",)}
    analysis = Tree(tmp_path, TOOL, **options).analyze("//:x")
    by_configuration = flags_by_configuration(analysis)
    assert {name: sorted(Path(a.source).name for a in actions) for name, actions in by_configuration.items()} == {
        "k8-opt": ["made.cc", "shared.cc"],
        "k8-opt-exec": ["shared.cc", "tool.cc"],
    }
    for action in by_configuration["k8-opt"]:
        assert "-mavx2" in action.flags and "TARGET" in action.defines and "-fno-rtti" in action.flags
    for action in by_configuration["k8-opt-exec"]:
        assert "-mavx2" not in action.flags and "TARGET" not in action.defines and "-fno-rtti" not in action.flags
        assert "-std=c++20" in action.flags
    [link] = [action for action in analysis.actions if isinstance(action, Link)]
    assert link.configuration == "k8-opt-exec" and "-Wl,--target" not in link.flags


def test_selects_see_the_platform_of_their_configuration(tmp_path: Path) -> None:
    by_configuration = flags_by_configuration(Tree(tmp_path, TOOL).analyze("//:x", target="windows-x64"))
    defines = {name: [d for a in actions for d in a.defines if d in ("LINUX", "OTHER")] for name, actions in by_configuration.items()}
    assert defines == {"x64_windows-opt": ["OTHER"], "k8-opt-exec": ["LINUX"]}


def test_a_producer_stands_before_its_consumers(tmp_path: Path) -> None:
    actions = list(Tree(tmp_path, TOOL).analyze("//:x").actions)
    made: set[str] = set()
    for action in actions:
        assert not {path for path in action.inputs if path.startswith("bazel-out/")} - made, action
        made |= set(action.outputs)
    [command] = [action for action in actions if isinstance(action, Run)]
    assert command.tools == ("bazel-out/k8-opt-exec/bin/tool",)


def test_two_targets_that_make_one_file(tmp_path: Path) -> None:
    build = "load(':m.bzl', 'r')\nr(name = 'y')\nr(name = 'z')\nfilegroup(name = 'w', srcs = [':y', ':z'])"
    rule = """\
        def _impl(ctx):
            out = ctx.actions.declare_file("same")
            ctx.actions.write(out, ctx.label.name)
            return DefaultInfo(files = depset([out]))

        r = rule(_impl)
        """
    tree = Tree(tmp_path, {"BUILD": build, "m.bzl": rule})
    with pytest.raises(BuildError, match="two actions make bazel-out/k8-opt/bin/same") as caught:
        tree.analyze("//:w")
    assert [note.split(" at ")[0] for note in caught.value.notes][:2] == ["//:y", "//:z"]


def test_a_link_takes_libraries_without_alwayslink_only_if_needed(tmp_path: Path) -> None:
    build = """
    cc_library(name = "a", srcs = ["a.cc"], deps = [":b", ":c"])
    cc_library(name = "b", srcs = ["b.cc"])
    cc_library(name = "c", srcs = ["c.cc"], alwayslink = True)
    """
    link = Tree(tmp_path, {"BUILD": build, "a.cc": "", "b.cc": "", "c.cc": ""}).analyze("//:a").link
    assert [path.rsplit("/", 1)[1] for path in link.objects] == ["a.pic.o", "c.pic.o"]
    assert [path.rsplit("/", 1)[1] for path in link.lazy] == ["b.pic.o"]


@pytest.mark.parametrize("root", ["//:shared", "//:libx.so"])
def test_a_filegroup_of_a_shared_library_stands_for_what_that_links(tmp_path: Path, root: str) -> None:
    build = """
    cc_library(name = "a", srcs = ["a.cc"], deps = [":b"], alwayslink = True)
    cc_library(name = "b", srcs = ["b.cc"])
    cc_binary(name = "libx.so", srcs = ["x.cc"], deps = [":a"], linkshared = True, linkopts = ["-lz"])
    filegroup(name = "shared", srcs = [":libx.so", ":text"])
    genrule(name = "text", outs = ["x.txt"], cmd = "touch $@")
    """
    link = Tree(tmp_path, {"BUILD": build, "a.cc": "", "b.cc": "", "x.cc": ""}).analyze(root).link
    assert [path.rsplit("/", 1)[1] for path in link.objects] == ["x.pic.o", "a.pic.o"]
    assert [path.rsplit("/", 1)[1] for path in link.lazy] == ["b.pic.o"]
    assert link.flags == ("-lz",)


def test_a_filegroup_of_files_alone_gives_a_link_nothing(tmp_path: Path) -> None:
    build = """
    filegroup(name = "x", srcs = ["a.cc", ":text"])
    genrule(name = "text", outs = ["x.txt"], cmd = "touch $@")
    """
    assert Tree(tmp_path, {"BUILD": build, "a.cc": ""}).analyze("//:x").link == LinkInputs()


def test_an_evaluation_leaves_python_as_it_was() -> None:
    before = (gc.isenabled(), sys.getrecursionlimit(), threading.stack_size())

    def fail() -> None:
        assert not gc.isenabled()
        raise BuildError("stop")

    assert on_deep_stack(lambda: 7) == 7
    with pytest.raises(BuildError, match="stop"):
        on_deep_stack(fail)
    assert (gc.isenabled(), sys.getrecursionlimit(), threading.stack_size()) == before
