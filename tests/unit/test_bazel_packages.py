"""BUILD files: what loads, what is refused, and the sentence, line and macro stack of each refusal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.bazel_samples import Tree

SOURCE = {"a.cc": ""}


def place(tree: Tree, name: str, line: int) -> str:
    """The place as messages show it: trees outside the working folder stand under their repository's name."""
    return f"{tree.shown()}{name}:{line}"


@pytest.mark.parametrize(
    ("build", "line", "message", "mend"),
    [
        ("x = (\n", 1, "syntax error: '(' was never closed", ""),
        ("\ncc_librari(name = 'x')\n", 2, "name 'cc_librari' is not defined", "did you mean cc_library?"),
        ("def f():\n    pass\n", 1, "functions may not be defined in a BUILD file", "move it to a .bzl file and load it"),
        ("f = lambda: 1\n", 1, "lambda is not allowed in a BUILD file", ""),
        ("if 1:\n    pass\n", 1, "`if` statements are not allowed at the top level", "use a comprehension or move it into a function"),
        ("cc_library(**{'name': 'x'})", 1, "*args and **kwargs arguments are not allowed in BUILD files", "pass the arguments explicitly"),
        ("cc_library(\n    name = 'x',\n    src = [],\n)", 1, "cc_library rule 'x' has no attribute 'src'; did you mean srcs?", ""),
        ("cc_library()", 1, "cc_library rule needs a name, not None", ""),
        ("cc_library(name = 5)", 1, "cc_library rule needs a name, not 5", ""),
        ("cc_library('x')", 1, "cc_library() takes named arguments only", ""),
        ("cc_library(name = 'x', srcs = 'a.cc')", 1,
         "expected value of type 'list(label)' for attribute 'srcs', but got \"a.cc\" (string)", ""),
        ("cc_library(name = 'x', srcs = ['a.cc', 1])", 1, "expected value of type 'label' for attribute 'srcs', but got 1 (int)", ""),
        ("cc_library(name = 'x', alwayslink = 'yes')", 1,
         "expected value of type 'bool' for attribute 'alwayslink', but got \"yes\" (string)", ""),
        ("cc_library(name = 'x', include_prefix = [])", 1,
         "expected value of type 'string' for attribute 'include_prefix', but got [] (list)", ""),
        ("cc_library(name = 'x', copts = ['-a', None])", 1,
         "expected value of type 'string' for attribute 'copts', but got None (NoneType)", ""),
        ("config_setting(name = 'x', values = {'cpu': 1})", 1,
         "expected value of type 'string' for attribute 'values', but got 1 (int)", ""),
        ("config_setting(name = 'x', values = ['cpu'])", 1,
         "expected value of type 'dict(string, string)' for attribute 'values', but got [\"cpu\"] (list)", ""),
        ("cc_library(name = 'x', testonly = 2)", 1, "expected value of type 'bool' for attribute 'testonly', but got 2 (int)", ""),
        ("genrule(name = 'x')", 1, "missing value for mandatory attribute 'outs' in genrule rule 'x'", ""),
        ("cc_library(name = 'x', deps = ['a:b'])", 1, "invalid label 'a:b': a package path starts with //", ""),
        ("cc_library(name = 'x', srcs = ['../a.cc'])", 1,
         "invalid label '../a.cc': invalid target name '../a.cc': it holds an up-level reference", ""),
        ("cc_library(name = 'x', srcs = ['@r:a.cc'])", 1, "invalid label '@r:a.cc': a repository name is followed by //", ""),
        ("cc_library(name = 'x', srcs = [''])", 1, "invalid label ''", ""),
        ("cc_library(name = 'x', visibility = ['//visibility:pubic'])", 1,
         "invalid visibility label '//visibility:pubic'; did you mean public?", ""),
        ("package()\npackage()", 2, "package() is called twice in one BUILD file", ""),
        ("package(default_visibilty = [])", 1, "package() has no argument 'default_visibilty'; did you mean default_visibility?", ""),
        ("package_group(name = 'g', package = [])", 1, "package_group() has no argument 'package'", ""),
        ("package_group(name = 'g', packages = ['//a/...', '-//b', 'public', 'c'])", 1,
         "package_group 'g': \"c\" is no package: it starts with //, or is public or private", ""),
        ("exports_files(['a/b', ':c'])", 1, "invalid target name ':c': it holds a colon", ""),
        ("exports_files(['//a:b'])", 1, "invalid target name '//a:b': it starts with /", ""),
        ("exports_files('a')", 1, 'exports_files takes a list of strings, not "a" (string)', ""),
        ("load(':a.txt', 'x')", 1, 'load() takes the label of a .bzl file, not ":a.txt"', ""),
        ("load('//a')", 1, "load() names no symbol", ""),
        ("x = native", 1, "name 'native' is not defined", ""),
        ("x = rule()", 1, "name 'rule' is not defined", ""),
        ("fail('not', 1)", 1, "not 1", ""),
        ("cc_library(name = 'x', srcs = ['a.cc', ':a.cc'])", 1, "label '//p:a.cc' is duplicated in the 'srcs' attribute", ""),
        ("cc_library(name = 'x', deps = ['//q:y', '//q:y', '//q:z'])", 1, "label '//q:y' is duplicated in the 'deps' attribute", ""),
        ("cc_library(name = 'x', data = [':y'] + ['//p:y'])", 1, "label '//p:y' is duplicated in the 'data' attribute", ""),
        ("\ncc_library(name = 'x', deps = select({'//none:c': [':y', ':y'], '//conditions:default': []}))", 2,
         "label '//p:y' is duplicated in the 'deps' attribute", ""),
        ("config_setting(name = 'x', flag_values = {':a': '1', '//p:a': '2'})", 1,
         "label '//p:a' is duplicated in the 'flag_values' attribute", ""),
        ("cc_test(name = 'x', shard_count = True)", 1,
         "expected value of type 'int' for attribute 'shard_count', but got True (bool)", ""),
        ("genrule(name = 'x', outs = ['//q:o'])", 1, "attribute 'outs': label '//q:o' is not in the current package", ""),
        ("cc_library(name = 'x', srcs = ['a.cc'], srcs = ['b.cc'])", 1, "duplicate keyword argument: srcs", ""),
    ],
)  # fmt: skip
def test_a_faulty_build_file_names_its_line(tmp_path: Path, build: str, line: int, message: str, mend: str) -> None:
    tree = Tree(tmp_path, {"p/BUILD": build})
    error = tree.load_failure("p")
    assert (error.where, error.what) == (place(tree, "p/BUILD", line), message)
    assert not mend or error.mend == mend


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "it is empty"), ("/x", "it starts with /"), ("x/", "it ends with /"), ("x//y", "it holds //"),
        ("../x", "it holds an up-level reference"), ("x/../y", "it holds an up-level reference"), ("..", "it holds an up-level reference"),
        ("./x", "it has a segment of dots alone"), ("x/./y", "it has a segment of dots alone"), ("x:y", "it holds a colon"),
        ("x\\y", "it holds a backslash"), ("x\ny", "it holds a control character"), ("x\ty", "it holds a control character"),
    ],
)  # fmt: skip
def test_names_that_no_target_has(tmp_path: Path, name: str, why: str) -> None:
    written = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    tree = Tree(
        tmp_path,
        {"p/BUILD": f"\nfilegroup(name = 'y{written}'.removeprefix('y'))\n", "q/BUILD": f"\nfilegroup(name = 'x', srcs = [':{written}'])"},
    )
    error = tree.load_failure("p")
    assert error.where == place(tree, "p/BUILD", 2)
    assert error.what == (f"invalid target name {name!r}: {why}" if name else 'filegroup rule needs a name, not ""')
    error = tree.load_failure("q")
    assert error.where == place(tree, "q/BUILD", 2)
    assert error.what == (f"invalid label {':' + name!r}: invalid target name {name!r}: {why}" if name else "invalid label ':'")


@pytest.mark.parametrize("name", [".", "...", "a b", "a+b-c=d,e@f~g", "a(b)$c%!^#&*;<>?[]{|}", "é", "all", "a/b.c/d"])
def test_names_that_a_target_may_have(tmp_path: Path, name: str) -> None:
    assert list(Tree(tmp_path, {"BUILD": f"filegroup(name = '{name}')"}).package().targets) == [name]


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("//a//b", "invalid package name 'a//b': it holds //"), ("//a/:b", "invalid package name 'a/': it ends with /"),
        ("///a", "invalid package name '/a': it starts with /"),
        ("//a/../b", "invalid package name 'a/../b': it holds an up-level reference"),
        ("//a/./b", "invalid package name 'a/./b': it has a segment of dots alone"),
        ("//...", "invalid package name '...': it has a segment of dots alone"),
        ("//a/...:b", "invalid package name 'a/...': it has a segment of dots alone"),
        ("//a:b:c", "invalid target name 'b:c': it holds a colon"), ("a:b:c", "a package path starts with //"),
        ("//a:b/", "invalid target name 'b/': it ends with /"), ("//a:/b", "invalid target name '/b': it starts with /"),
        ("//a:", "invalid target name '': it is empty"), ("@r//", "invalid target name '': it is empty"),
        ("@bad name//:x", "invalid repository name 'bad name'"), ("@r:x", "a repository name is followed by //"),
    ],
)  # fmt: skip
def test_labels_that_are_none(tmp_path: Path, label: str, why: str) -> None:
    error = Tree(tmp_path, {"BUILD": f"\n\nfilegroup(name = 'x', srcs = ['{label}'])"}).load_failure()
    assert (error.what, error.where.endswith("BUILD:3")) == (f"invalid label '{label}': {why}", True)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("cc_library(name = 'x')", "filegroup(name = 'x')", "filegroup rule 'x' conflicts with an existing target, defined at {first}"),
        ("genrule(name = 'y', outs = ['x'])", "filegroup(name = 'x')",
         "filegroup rule 'x' conflicts with a generated file of y, defined at {first}"),
        ("filegroup(name = 'x')", "genrule(name = 'y', outs = ['x'])",
         "generated file 'x' of y conflicts with the rule x, defined at {first}"),
        ("genrule(name = 'y', outs = ['x'])", "genrule(name = 'z', outs = ['x'])",
         "generated file 'x' of z conflicts with one of y, defined at {first}"),
        ("genrule(name = 'y', outs = ['x'])", "genrule(name = 'z', outs = ['x/o'])",
         "generated file 'x/o' of z conflicts with one of y, defined at {first}: one is a folder of the other"),
        ("genrule(name = 'y', outs = ['x/o'])", "genrule(name = 'z', outs = ['x'])",
         "generated file 'x' of z conflicts with one of y, defined at {first}: one is a folder of the other"),
        ("y = 1", "genrule(name = 'z', outs = ['o', ':o'])", "generated file 'o' of z conflicts with one of z, defined at {second}"),
        ("package_group(name = 'x')", "filegroup(name = 'x')",
         "filegroup rule 'x' conflicts with an existing target, defined at a package_group"),
        ("filegroup(name = 'x')", "package_group(name = 'x')",
         "package_group 'x' conflicts with an existing target, defined at {first}"),
        ("exports_files(['x'])", "filegroup(name = 'x')", "filegroup rule 'x' conflicts with a source file that exports_files() names"),
        ("genrule(name = 'y', outs = ['x'])", "exports_files(['x'])",
         "exports_files() of 'x' conflicts with a generated file of y, defined at {first}"),
        ("filegroup(name = 'x')", "exports_files(['x'])", "exports_files() of 'x' conflicts with an existing target, defined at {first}"),
    ],
)  # fmt: skip
def test_names_and_files_that_conflict(tmp_path: Path, first: str, second: str, message: str) -> None:
    tree = Tree(tmp_path, {"BUILD": f"{first}\n\n{second}\n"})
    error = tree.load_failure()
    assert error.where == place(tree, "BUILD", 3)
    assert error.what == message.format(first=place(tree, "BUILD", 1), second=place(tree, "BUILD", 3))


def test_what_does_not_conflict(tmp_path: Path) -> None:
    build = """\
        exports_files(["a.txt", "gen.h"])
        exports_files(["a.txt"], visibility = ["//visibility:public"])
        genrule(name = "x", outs = ["x"], cmd = "touch $@")
        genrule(name = "y", outs = ["d/o", "d/p", "do"], cmd = "touch $(OUTS)")
        cc_library(name = "v", visibility = ["//a:__pkg__", "//a:__pkg__"], tags = ["t", "t"], copts = ["-a", "-a"])
        cc_library(name = "w", srcs = ["a.h"], hdrs = ["a.h"])
        """
    assert list(Tree(tmp_path, {"BUILD": build}).package().targets) == ["x", "y", "v", "w"]


def test_a_name_is_declared_once(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "cc_library(name = 'x')\n\ncc_library(name = 'x')\n"})
    error = tree.load_failure()
    assert error.what == f"cc_library rule 'x' conflicts with an existing target, defined at {place(tree, 'BUILD', 1)}"
    assert error.where == place(tree, "BUILD", 3)


# Macros


MACROS = """\
    def inner(name, **kwargs):
        native.cc_library(name = name, **kwargs)

    def outer(name, **kwargs):
        inner(name = name, **kwargs)

    def refuse(name):
        fail("no luck with", name)
    """


@pytest.mark.parametrize(
    ("call", "message", "stack"),
    [
        ("outer(name = 'x', srx = [])", "cc_library rule 'x' has no attribute 'srx'; did you mean srcs?", [("outer", 5), ("inner", 2)]),
        ("outer(name = 'x', srcs = 5)", "expected value of type 'list(label)' for attribute 'srcs', but got 5 (int)",
         [("outer", 5), ("inner", 2)]),
        ("refuse(name = 'x')", "no luck with x", [("refuse", 8)]),
        ("outer()", "outer() missing 1 required positional argument: 'name'", []),
        ("inner(name = 'x', nam = 1)", "cc_library rule 'x' has no attribute 'nam'; did you mean name?", [("inner", 2)]),
    ],
)  # fmt: skip
def test_a_fault_in_a_macro_shows_the_build_line_first(tmp_path: Path, call: str, message: str, stack: list[tuple[str, int]]) -> None:
    tree = Tree(tmp_path, {"BUILD": f"load(':m.bzl', 'inner', 'outer', 'refuse')\n\n{call}\n", "m.bzl": MACROS})
    error = tree.load_failure()
    assert (error.where, error.what) == (place(tree, "BUILD", 3), message)
    assert error.notes == tuple(f"in {name} at {place(tree, 'm.bzl', line)}" for name, line in stack)


def test_a_target_remembers_the_macros_that_declared_it(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'outer')\n\nouter(name = 'x')\n", "m.bzl": MACROS})
    target = tree.target("x")
    assert target.location == place(tree, "BUILD", 3)
    assert target.notes() == [f"in outer at {place(tree, 'm.bzl', 5)}", f"in inner at {place(tree, 'm.bzl', 2)}"]


def test_rules_are_not_called_while_a_bzl_file_loads(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'x')\n", "m.bzl": "x = 1\nnative.cc_library(name = 'y')\n"})
    error = tree.load_failure()
    assert error.where == place(tree, "m.bzl", 2)
    assert error.what.startswith("cc_library() can only be called while a BUILD file is evaluated: call it from a macro")


def test_strings_are_labels_of_the_calling_package_and_label_of_the_bzl_file(tmp_path: Path) -> None:
    macro = (
        "def f(name):\n    native.cc_library(name = name, srcs = ['a.cc', Label(':m.cc'), Label('//p:n.cc')], deps = [str(Label(':d'))])\n"
    )
    tree = Tree(tmp_path, {
        "p/BUILD": "load('@lib//m:d.bzl', 'f')\nf(name = 'x')\n", "external/lib/m/BUILD": "", "external/lib/m/d.bzl": macro,
    })  # fmt: skip
    target = tree.target("x", "p")
    assert [str(label) for label in target.attrs["srcs"]] == ["//p:a.cc", "@lib//m:m.cc", "@lib//p:n.cc"]
    assert [str(label) for label in target.attrs["deps"]] == ["@lib//m:d"]


def test_repository_names_are_mapped_as_their_user_writes_them(tmp_path: Path) -> None:
    tree = Tree(
        tmp_path,
        {"BUILD": "cc_library(name = 'x', deps = ['@short//:y', '@//:z', '@main//:w'])\n", "external/long/BUILD": ""},
        repo_mapping={"main": {"short": "long"}},
    )
    assert [str(label) for label in tree.target("x").attrs["deps"]] == ["@long//:y", "//:z", "//:w"]


# What stands in a package


def test_build_dot_bazel_beats_build(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "fail('not this')", "BUILD.bazel": "cc_library(name = 'x')"})
    assert list(tree.package().targets) == ["x"]


def test_package_defaults_reach_its_targets(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {
        "BUILD": "package(default_visibility = ['//a:__pkg__'], features = ['-f'], default_testonly = 1)\ncc_library(name = 'x')",
    })  # fmt: skip
    package = tree.package()
    assert [str(label) for label in package.default_visibility] == ["//a:__pkg__"]
    assert (package.features, package.default_testonly) == (("-f",), True)


def test_existing_rules_show_every_attribute_with_its_default(tmp_path: Path) -> None:
    build = "load(':m.bzl', 'show')\ncc_library(name = 'x', srcs = ['a.cc'], deps = ['//b:c', '@r//d', ':e'])\nshow()\n"
    macro = """\
        def show():
            x = native.existing_rule("x")
            print = [x["kind"], x["name"], x["srcs"], x["deps"], x["alwayslink"], x["copts"], x["linkstatic"], x["visibility"]]
            fail(print, native.existing_rule("none"), list(native.existing_rules()))
        """
    error = Tree(tmp_path, {"BUILD": build, "m.bzl": macro}).load_failure()
    shown = '["cc_library", "x", (":a.cc",), ("//b:c", "@@r//d:d", ":e"), False, (), False, ()]'
    assert error.what == f'{shown} None ["x"]'


def test_package_functions(tmp_path: Path) -> None:
    macro = """\
        def show():
            fail(native.package_name(), native.repository_name(), native.package_relative_label(":x"), native.subpackages(include = ["**"]))
        """
    tree = Tree(tmp_path, {"a/BUILD": "load(':m.bzl', 'show')\nshow()", "a/m.bzl": macro, "a/b/BUILD": "", "a/c/d/BUILD": ""})
    assert tree.load_failure("a").what == 'a @ @//a:x ["b", "c/d"]'


# Unavailable symbols


LOADS_GONE = "load('@gone//:a.bzl', 'thing')\n"


@pytest.mark.parametrize(
    "rest",
    [
        "cc_library(name = 'x', srcs = ['a.cc'])",
        "thing(name = 'y', srcs = ['b'])\ncc_library(name = 'x', srcs = ['a.cc'])",
        "cc_library(name = 'y', copts = ['-a'] + thing.copts('b'))\ncc_library(name = 'x', srcs = ['a.cc'])",
        "cc_library(name = 'x', srcs = ['a.cc'], data = thing)",
    ],
    ids=["unused", "used as a rule outside", "used as a value outside", "in an attribute nobody reads"],
)
def test_an_unavailable_symbol_outside_the_closure_is_ignored(tmp_path: Path, rest: str) -> None:
    assert len(Tree(tmp_path, {"BUILD": LOADS_GONE + rest, **SOURCE}).analyze("//:x").actions) == 1


def test_an_unavailable_rule_in_the_closure_stops_it(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": LOADS_GONE + "\nthing(name = 'y')\ncc_library(name = 'x', deps = [':y'])"})
    error = tree.failure("//:x")
    assert error.where == place(tree, "BUILD", 3)
    assert error.what == (
        f"the closure needs //:y, a thing: its rule comes from @gone//:a.bzl, loaded at {place(tree, 'BUILD', 1)}, "
        "but repository @gone is not in the lock"
    )
    assert "needed by //:x" in error.notes


@pytest.mark.parametrize("value", ["thing", "['-a'] + thing.copts('b')", "thing + ['-a']", "['-a', thing]"])
def test_an_unavailable_value_in_the_closure_stops_it(tmp_path: Path, value: str) -> None:
    tree = Tree(tmp_path, {"BUILD": LOADS_GONE + f"\ncc_library(name = 'x', srcs = ['a.cc'], copts = {value})", **SOURCE})
    error = tree.failure("//:x")
    assert error.where == place(tree, "BUILD", 3)
    assert "of @gone//:a.bzl is needed by attribute 'copts' of //:x, but repository @gone is not in the lock" in error.what
    assert f"loaded at {place(tree, 'BUILD', 1)}" in error.notes


@pytest.mark.parametrize(("use", "verb"), [
    ("['-a'] if thing else []", "decides something"), ("[x for x in thing]", "is looped over"), ("1 in thing", "is searched"),
    ("not thing", "decides something"),
])  # fmt: skip
def test_nothing_is_decided_by_an_unavailable_value(tmp_path: Path, use: str, verb: str) -> None:
    tree = Tree(tmp_path, {"BUILD": LOADS_GONE + f"\nx = {use}"})
    error = tree.load_failure()
    assert (error.where, error.what) == (
        place(tree, "BUILD", 3),
        f"'thing' of @gone//:a.bzl {verb}, but repository @gone is not in the lock",
    )


def test_a_missing_file_of_a_present_repository_is_unavailable_too(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "load('//:gone.bzl', 'thing')\nthing(name = 'x')"})
    assert "its rule comes from //:gone.bzl" in tree.failure("//:x").what
    assert "but there is no file gone.bzl in @main" in tree.failure("//:x").what


def test_a_symbol_that_a_present_file_lacks_is_an_error_at_once(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'oter')", "m.bzl": MACROS})
    error = tree.load_failure()
    assert error.what == "file //:m.bzl does not contain symbol 'oter'"
    assert (error.where, error.mend) == (place(tree, "BUILD", 1), "did you mean outer?")


def test_load_cycles_between_packages(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {
        "BUILD": "load('//a:a.bzl', 'x')", "a/BUILD": "", "a/a.bzl": "\nload('//b:b.bzl', 'x')", "b/BUILD": "",
        "b/b.bzl": "load('//a:a.bzl', 'x')",
    })  # fmt: skip
    error = tree.load_failure()
    assert (error.what, error.where) == ("load cycle", place(tree, "b/b.bzl", 1))
    assert error.notes == ("//a:a.bzl", "//b:b.bzl", "//a:a.bzl")


def test_mutating_a_loaded_list_in_a_build_file(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'SRCS')\nSRCS.append('b.cc')", "m.bzl": "SRCS = ['a.cc']"})
    error = tree.load_failure()
    assert (error.what, error.where) == ("trying to mutate a frozen list value", place(tree, "BUILD", 2))


# Bad files


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (b"x = '\xff'\n", "the file is not UTF-8: byte 5", 0),
        (b"x = 1\ny = '\0'\n", "the file holds a NUL byte", 2),
        (b"# padding\n" * 5_000_000, "the file is larger than 4000000 characters", 0),
        (b"x = " + b"[" * 100_000, "syntax error: too many nested parentheses", 1),
        (b"x = " + b"1+" * 300_000 + b"1", "nested too deeply", 0),
    ],
    ids=["not UTF-8", "NUL", "50 MB", "brackets", "sum"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["BUILD", "m.bzl"])
def test_unreadable_files_end_in_an_error(tmp_path: Path, name: str, content: bytes, message: str, line: int) -> None:
    tree = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'x')", "m.bzl": "x = 1"} | {name: content})
    error = tree.load_failure()
    assert error.what.endswith(message)
    assert error.where == (place(tree, name, line) if line else f"{tree.shown()}{name}")


def test_a_tree_too_deep_for_paths_ends_in_an_error(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "x = glob(['**/*.cc'])"})
    home = Path.cwd()
    try:
        os.chdir(tree.trees["main"])
        for _ in range(45):
            Path("d" * 100).mkdir()
            os.chdir("d" * 100)
    finally:
        os.chdir(home)
    error = tree.load_failure()
    assert error.what.startswith("cannot list ") and error.what.endswith("File name too long")


def test_a_chain_of_a_thousand_loads_and_targets_is_no_problem(tmp_path: Path) -> None:
    loads = {f"m{n}.bzl": f"load(':m{n + 1}.bzl', y = 'x')\nx = y\n" for n in range(1000)} | {"m1000.bzl": "x = 'a.cc'"}
    targets = "".join(f"cc_library(name = 'x{n}', deps = [':x{n + 1}'])\n" for n in range(1000))
    build = f"load(':m0.bzl', 'x')\n{targets}cc_library(name = 'x1000', srcs = [x])"
    assert len(Tree(tmp_path, {"BUILD": build, **loads, **SOURCE}).analyze("//:x0").actions) == 1


def test_a_package_that_is_not_there(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"BUILD": "cc_library(name = 'x', deps = ['//a:y'])\ncc_library(name = 'z', deps = ['//b'])", "b/c.txt": ""})
    assert tree.failure("//:x").what == "no such package '//a': there is no such folder"
    assert tree.failure("//:z").what == "no such package '//b': it has no BUILD file"
    assert tree.failure("//:z").where == place(tree, "BUILD", 2)
    error = Tree(tmp_path, {"BUILD": "cc_library(name = 'x', deps = ['@libb//a:y'])", "external/lib/BUILD": ""}).failure("//:x")
    assert (error.what, error.mend) == ("no such repository '@libb'", "did you mean lib?")
