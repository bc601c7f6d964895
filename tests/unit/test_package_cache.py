"""The cache of evaluated packages: what is executed again after which change, that nothing else differs, and what is never trusted."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from litert_build.bazel.analysis import Analysis, Analyzer, analyze, on_deep_stack
from litert_build.bazel.labels import Label
from litert_build.bazel.packages import Package, PackageGroup, Packages
from litert_build.bazel.rule_class import RuleTarget
from litert_build.bazel.select import Select, SelectorList
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.reports.explain import diagnose, explain
from litert_build.starlark.opaque import Opaque

from tests.unit.bazel_samples import Tree

FILES = {
    "BUILD": """
        load("//lib:macros.bzl", "unit")
        load("//lib:rules.bzl", "listed")
        load("@gone//:defs.bzl", "gone_library", "GONE")

        package(default_visibility = ["//:friends"], features = ["-parse_headers"])
        package_group(name = "friends", packages = ["//..."])
        exports_files(["a.cc"], visibility = ["//p:__pkg__"])
        config_setting(name = "windows", constraint_values = ["@platforms//os:windows"])

        unit(name = "x", srcs = ["a.cc"], deps = ["//p", "//q", ":generated"])
        listed(name = "list", srcs = ["//p", "//q"], out = "list.cc", words = {"k": "v"})
        cc_library(name = "generated", srcs = [":list.cc"])
        gone_library(name = "absent", anything = GONE)
        """,
    "a.cc": "",
    "lib/BUILD": "",
    "lib/flags.bzl": "FLAGS = ['-O1']\n",
    "lib/macros.bzl": """
        load(":flags.bzl", "FLAGS")

        def unit(name, **kwargs):
            known = sorted(native.existing_rules().keys())
            native.cc_library(
                name = name,
                copts = FLAGS + ["-DKNOWN=" + "_".join(known)] + select({"//:windows": ["/Ow"], "//conditions:default": ["-Wextra"]}),
                **kwargs
            )
        """,
    "lib/rules.bzl": """
        WordsInfo = provider(fields = ["words"])

        def _collect(target, ctx):
            return [WordsInfo(words = depset([str(target.label)], transitive = [d[WordsInfo].words for d in ctx.rule.attr.deps]))]

        collect = aspect(implementation = _collect, attr_aspects = ["deps"])

        def _listed(ctx):
            words = [word for src in ctx.attr.srcs for word in src[WordsInfo].words.to_list()]
            ctx.actions.write(ctx.outputs.out, "// " + " ".join(words) + str(ctx.attr.words))
            return [DefaultInfo(files = depset([ctx.outputs.out]))]

        listed = rule(implementation = _listed, attrs = {
            "srcs": attr.label_list(aspects = [collect]),
            "out": attr.output(),
            "words": attr.string_dict(),
        })
        """,
    "p/BUILD": "cc_library(name = 'p', srcs = glob(['*.cc', 'sub/**/*.cc']), visibility = ['//visibility:public'])",
    "p/p.cc": "",
    "p/sub/s.cc": "",
    "q/BUILD": "load('//lib:flags.bzl', 'FLAGS')\ncc_library(name = 'q', srcs = ['q.cc'], copts = FLAGS, visibility = ['//:friends'])",
    "q/q.cc": "",
}
ALL = ["", "p", "q"]


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages of the main repository that are really executed."""
    names: list[str] = []
    real = Packages.execute

    def execute(self: Packages, package: Package, text: str) -> None:
        if not package.repository:
            names.append(package.name)
        real(self, package, text)

    monkeypatch.setattr(Packages, "execute", execute)
    return names


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree", FILES)


def run(tree: Tree, *roots: str, target: str = "linux-x64", cached: bool = True) -> Analysis:
    cache = tree.root / "cache" if cached else None
    return analyze(tree.lock(*(roots or ("//:x",))), tree.trees, find_target(target), cache=cache)


def analyzer(tree: Tree, root: str = "//:x") -> Analyzer:
    return Analyzer(tree.lock(root), tree.trees, find_target("linux-x64"), "gcc", "gcc", tree.root / "cache")


def again(tree: Tree, executed: list[str], *roots: str) -> list[str]:
    """Analyze with the cache and without; hold that both give the same, and return what the former executed."""
    executed.clear()
    found = run(tree, *roots)
    names = sorted(executed)
    fresh = run(tree, *roots, cached=False)
    assert list(found.actions) == list(fresh.actions)
    assert (found.link, found.headers.keys(), set(found.read)) == (fresh.link, fresh.headers.keys(), set(fresh.read))
    return names


def entries(tree: Tree) -> list[Path]:
    return sorted(path for path in (tree.root / "cache/packages").rglob("*") if path.is_file())


def test_the_second_run_executes_nothing_and_gives_the_same(tree: Tree, executed: list[str]) -> None:
    assert again(tree, executed) == ALL
    assert again(tree, executed) == []
    assert len(entries(tree)) > len(ALL)  # those of @platforms too


def test_listing_makes_no_target_and_loads_no_file(tree: Tree, executed: list[str]) -> None:
    run(tree)
    packages = analyzer(tree).packages
    package = on_deep_stack(lambda: packages.load("", ""))
    assert list(package.targets) == ["windows", "x", "list", "generated", "absent"]
    assert list(package.outputs) == ["list.cc"] and "a.cc" not in package.targets and package.targets.get("y") is None
    assert packages.modules.loaded == {}
    assert package.targets["x"].rule is packages.build_globals["cc_library"] and packages.modules.loaded == {}
    assert package.outputs["list.cc"] is package.targets["list"]
    assert [str(key) for key in packages.modules.loaded] == ["//lib:rules.bzl"]


def test_what_a_package_says_of_itself_comes_back(tree: Tree) -> None:
    first, second = (on_deep_stack(lambda: analyzer(tree).packages.load("", "")) for _ in range(2))
    for package in (first, second):
        assert package.features == ("-parse_headers",) and not package.default_testonly
        assert list(map(str, package.default_visibility)) == ["//:friends"]
        assert package.groups == first.groups and package.groups["friends"].packages == ("//...",)
        assert {name: list(map(str, seen)) for name, seen in package.exported.items()} == {"a.cc": ["//p:__pkg__"]}


def test_what_people_are_told_is_the_same(tree: Tree) -> None:
    told = [on_deep_stack(lambda: explain(analyzer(tree), "//:x")) for _ in range(2)]
    assert told[0] == told[1]
    assert "in unit at @main//lib/macros.bzl:6" in told[0] and "does not hold" in told[0]


@pytest.mark.parametrize(("root", "sentences"), [
    ("//:absent", ["@main//BUILD:14: the closure needs //:absent", "loaded at @main//BUILD:4, but repository @gone is not in the lock"]),
    ("//bad:wrong", ["@main//bad/BUILD:4: 'GONE' of @gone//:defs.bzl is needed by", "in make at @main//bad/macros.bzl:2"]),
    ("//bad:unmatched", ["@main//bad/BUILD:5: no condition of the select() in attribute 'copts' holds"]),
    ("//bad:missing", ["@main//bad/BUILD:6: no such target '//bad:no.cc'", "in make at @main//bad/macros.bzl:2"]),
])  # fmt: skip
def test_faults_of_the_closure_are_the_same(tree: Tree, executed: list[str], root: str, sentences: list[str]) -> None:
    tree.write("bad/a.cc", "")
    tree.write("bad/macros.bzl", "def make(name, **kwargs):\n    native.cc_library(name = name, **kwargs)\n")
    tree.write("bad/BUILD", """
        load(":macros.bzl", "make")
        load("@gone//:defs.bzl", "GONE")
        make(name = "wrong", srcs = ["a.cc"], copts = GONE)
        make(name = "unmatched", srcs = ["a.cc"], copts = select({"//:windows": []}))
        make(name = "missing", srcs = ["no.cc"])
        """)  # fmt: skip
    found = []
    for _ in range(2):
        executed.clear()
        with pytest.raises(BuildError) as caught:
            run(tree, root)
        found.append((str(caught.value), [str(fault) for fault in on_deep_stack(lambda: diagnose(analyzer(tree, root)))]))
    assert executed == []
    assert found[0] == found[1]
    assert [sentence for sentence in sentences if sentence not in found[0][0]] == []
    assert found[0][0] in found[0][1]


@pytest.mark.parametrize(("file", "text", "expected"), [
    ("q/BUILD", FILES["q/BUILD"] + "\n", ["q"]),
    ("lib/BUILD", "# nobody's package here\n", []),
    ("lib/flags.bzl", "FLAGS = ['-O2']\n", ["", "q"]),
    ("lib/rules.bzl", FILES["lib/rules.bzl"].replace("// ", "/// "), [""]),
    ("p/new.cc", "", ["p"]),
    ("p/sub/deep/new.cc", "", ["p"]),
    ("p/sub/BUILD", "", ["p"]),
    ("q/new.cc", "", []),
    ("p/p.cc", "int edited;", []),
    ("q/BUILD.bazel", FILES["q/BUILD"].replace("= FLAGS", "= ['-O3']"), ["q"]),
])  # fmt: skip
def test_a_change_executes_exactly_the_packages_that_it_decides(
    tree: Tree, executed: list[str], file: str, text: str, expected: list[str]
) -> None:
    run(tree)
    tree.write(file, text)
    assert again(tree, executed) == expected
    assert again(tree, executed) == []


def refused(tree: Tree) -> str:
    with pytest.raises(BuildError) as caught:
        run(tree)
    return str(caught.value)


def test_a_bzl_file_that_appears_executes_who_loads_it(tree: Tree, executed: list[str]) -> None:
    run(tree)
    tree.write(
        "external/gone/defs.bzl", "GONE = []\ndef gone_library(name, anything):\n    native.cc_library(name = name, srcs = anything)\n"
    )
    assert again(tree, executed) == [""]
    tree.write("external/gone/defs.bzl", "GONE = 1\n")
    assert "does not contain symbol 'gone_library'" in refused(tree)


def test_what_was_taken_away_counts_too(tree: Tree, executed: list[str]) -> None:
    tree.write("p/sub/BUILD", "")
    run(tree)
    (tree.trees["main"] / "p/sub/BUILD").unlink()
    assert again(tree, executed) == ["p"]
    (tree.trees["main"] / "p/sub/s.cc").unlink()
    assert again(tree, executed) == ["p"]
    (tree.trees["main"] / "lib/flags.bzl").unlink()
    assert "'FLAGS' of //lib:flags.bzl" in refused(tree) and "there is no file lib/flags.bzl in @main" in refused(tree)


def test_an_edit_taken_back_counts_by_content_not_by_time(tree: Tree, executed: list[str]) -> None:
    run(tree)
    for name in ("q/BUILD", "lib/flags.bzl"):
        tree.write(name, FILES[name])
    tree.write("p/gone.cc", "")
    (tree.trees["main"] / "p/gone.cc").unlink()
    assert again(tree, executed) == []


def test_other_targets_and_flags_share_what_was_loaded(tree: Tree, executed: list[str]) -> None:
    flags = {target: run(tree, target=target) for target in ("linux-x64", "windows-x64")}
    assert executed == ["", "p", "q"]
    texts = {name: [str(flag) for action in found.actions.compiles() for flag in action.flags] for name, found in flags.items()}
    assert "-Wextra" in texts["linux-x64"] and "/Ow" in texts["windows-x64"]
    tree.settings["defines"] = {"a": "b"}
    assert again(tree, executed) == []


def test_another_mapping_of_repositories_executes_again(tmp_path: Path, executed: list[str]) -> None:
    library = "cc_library(name = 'lib', srcs = ['lib.cc'], visibility = ['//visibility:public'])"
    files = {f"external/{name}/{file}": text for name in ("one", "two") for file, text in (("BUILD", library), ("lib.cc", ""))}
    tree = Tree(tmp_path, {**files, "BUILD": "cc_library(name = 'x', deps = ['@lib//:lib'])"})
    for name in ("one", "two", "one"):
        tree.settings["repo_mapping"] = {"main": {"lib": name}}
        assert again(tree, executed, "//:x") == [""]


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 4000])
def test_a_damaged_entry_is_made_again(tree: Tree, executed: list[str], damage: bytes) -> None:
    run(tree)
    for entry in entries(tree):
        entry.write_bytes(damage)
    assert again(tree, executed) == ALL
    assert again(tree, executed) == []


def test_a_cut_or_changed_entry_is_made_again(tree: Tree, executed: list[str]) -> None:
    run(tree)
    for entry in entries(tree):
        entry.write_bytes(entry.read_bytes()[:-1])
    assert again(tree, executed) == ALL
    for entry in entries(tree):
        entry.write_bytes(entry.read_bytes().replace(b"-Wextra", b"-Wall  "))
    assert again(tree, executed) == [""]


def test_an_entry_in_the_place_of_another_is_not_believed(tree: Tree, executed: list[str]) -> None:
    run(tree)
    written = {entry: entry.read_bytes() for entry in entries(tree)}
    for entry, other in zip(written, [*list(written)[1:], next(iter(written))]):
        entry.write_bytes(written[other])
    assert again(tree, executed) == ALL


def test_another_evaluator_executes_again(tree: Tree, executed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run(tree)
    monkeypatch.setattr("litert_build.bazel.analysis.manifest_digest", lambda: "another")
    assert again(tree, executed) == ALL


def test_a_folder_that_cannot_be_written_changes_nothing(tree: Tree, executed: list[str]) -> None:
    (tree.root / "cache").write_text("")
    assert again(tree, executed) == again(tree, executed) == ALL


def test_a_fault_is_never_kept(tree: Tree, executed: list[str]) -> None:
    tree.write("q/BUILD", "load('//lib:macros.bzl', 'unit')\nunit(name = 'q', srcs = 1)\n")
    first = refused(tree)
    executed.clear()
    assert refused(tree) == first and "@main//q/BUILD:2" in first and "in unit at @main//lib/macros.bzl:6" in first
    assert executed == ["q"]
    tree.write("q/BUILD", FILES["q/BUILD"])
    assert again(tree, executed) == ["q"]


def test_a_folder_that_can_no_longer_be_listed_is_told_at_the_line_that_globs(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tree)
    real = os.scandir

    def scandir(folder: str) -> Any:
        if folder.endswith("/p/sub"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(folder)

    monkeypatch.setattr("litert_build.bazel.glob.os.scandir", scandir)
    assert "@main//p/BUILD:1: cannot list" in refused(tree)


def test_a_file_that_became_unreadable_is_told_only_where_it_matters(tree: Tree, executed: list[str]) -> None:
    run(tree)
    tree.write("lib/flags.bzl", b"\xff")
    assert "lib/flags.bzl" in refused(tree) and "not UTF-8" in refused(tree)
    tree.write("BUILD", "cc_library(name = 'x', srcs = ['a.cc'])")
    assert again(tree, executed) == [""]


def test_a_rule_that_no_file_exports_keeps_its_package_out(tmp_path: Path, executed: list[str]) -> None:
    rules = "def _impl(ctx):\n    return []\n\nrules = struct(inner = rule(implementation = _impl, attrs = {}))\n"
    tree = Tree(tmp_path, {"BUILD": "load(':r.bzl', 'rules')\nrules.inner(name = 'x')", "r.bzl": rules})
    for _ in range(2):
        assert again(tree, executed) == [""]
    assert entries(tree) == []


def test_a_rule_comes_from_the_file_that_defines_it(tmp_path: Path, executed: list[str]) -> None:
    implementation = "def _impl(ctx):\n    ctx.actions.write(ctx.outputs.out, 'x')\n\n"
    rules = f"{implementation}mine = rule(implementation = _impl, attrs = {{'out': attr.output()}})\n"
    build = "load(':b.bzl', 'theirs')\ntheirs(name = 'x', out = 'y')\ntheirs(name = 'w', out = 'z')\n"
    tree = Tree(tmp_path, {"BUILD": build, "a.bzl": rules, "b.bzl": "load(':a.bzl', 'mine')\ntheirs = mine\n"})
    run(tree)
    targets = on_deep_stack(lambda: analyzer(tree).packages.load("", "")).targets
    assert (targets["x"].rule.name, str(targets["x"].rule.origin)) == ("mine", "//:a.bzl")
    assert targets["w"].rule is targets["x"].rule
    assert again(tree, executed) == []


@pytest.mark.parametrize("value", ["('a', ['b'])", "{'a': [1, True, None, 1.5]}", "[]", "-1", "select({'//:x': ('a',)})"])
def test_any_value_comes_back_as_it_was(tmp_path: Path, executed: list[str], value: str) -> None:
    tree = Tree(tmp_path, {"BUILD": f"cc_library(name = 'x', exec_group_compatible_with = {value})"})
    shown = []
    for _ in range(2):
        attrs: Any = on_deep_stack(lambda: analyzer(tree).packages.load("", "")).targets["x"].attrs["exec_group_compatible_with"]
        shown.append((repr(attrs if not value.startswith("select") else attrs.parts[0].branches), type(attrs)))
    assert shown[0] == shown[1] and executed == [""]


@pytest.mark.parametrize("value", ["glob", "(lambda: 1)", "range(3)"])
def test_a_value_that_cannot_be_written_keeps_its_package_out(tmp_path: Path, executed: list[str], value: str) -> None:
    tree = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'make')\nmake()", "m.bzl": f"def make():\n    native.cc_library(name = 'x', "
                           f"exec_group_compatible_with = {value.replace('glob', 'native.glob')})\n"})  # fmt: skip
    for _ in range(2):
        assert again(tree, executed) == [""]


def test_every_field_is_kept_or_belongs_to_the_evaluation() -> None:
    kept = {"targets", "outputs", "groups", "exported", "default_visibility", "features", "default_testonly"}
    given = {"repository", "name", "root", "build_file", "display", "mapping", "owner"}
    of_the_evaluation = {"output_folders", "declared_package", "_files", "_labels"}
    assert {field.name for field in fields(Package)} == kept | given | of_the_evaluation
    assert [field.name for field in fields(RuleTarget)] == ["label", "rule", "attrs", "stack", "package", "outputs"]
    assert [field.name for field in fields(PackageGroup)] == ["label", "packages", "includes"]
    values: list[object] = [Select({}), SelectorList([]), Opaque("", "", "")]
    assert [[*vars(value)] for value in values] == [["branches", "no_match_error"], ["parts"], ["name", "owner", "why", "place"]]
    assert sorted(Label.__slots__) == ["_hash", "name", "package", "repository"]


def test_everything_that_decides_is_read(tree: Tree) -> None:
    tree.write("p/sub/BUILD", "")
    main = tree.trees["main"]
    for _ in range(2):
        read = {path.relative_to(main).as_posix() for path in run(tree).read if path.is_relative_to(main)}
        assert {"BUILD", "BUILD.bazel", "q/BUILD.bazel", "lib/flags.bzl", "p", "p/sub/BUILD.bazel", "p/sub/BUILD"} <= read
        assert "p/sub" not in read


PROCESS = """
import sys
from pathlib import Path
from litert_build.bazel.analysis import analyze
from litert_build.policy.targets import find_target
from tests.unit.bazel_samples import Tree

tree = Tree(Path(sys.argv[1]), {})
for run in range(3):
    print(list(analyze(tree.lock("//:x"), tree.trees, find_target("linux-x64"), cache=tree.root / "cache").actions))
"""


def test_processes_share_the_folder(tree: Tree) -> None:
    wanted = f"{list(run(tree, cached=False).actions)}\n" * 3
    argv = [sys.executable, "-c", PROCESS, str(tree.root)]
    running = [
        subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path.cwd(), env={"PYTHONPATH": ":".join(sys.path)}) for _ in range(4)
    ]
    assert [process.communicate()[0] for process in running] == [wanted] * 4
    assert [path for path in entries(tree) if path.name.startswith("tmp")] == []
