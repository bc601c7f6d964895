"""The manifest of builtins against the names and attributes that Bazel 7.7.1 has (golden/bazel_names.json), and each status in use.

tests/real/regenerate_names.py asks Bazel again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from litert_build.bazel.attributes import Attr
from litert_build.bazel.manifest import MODULES, manifest, manifest_digest
from litert_build.bazel.rules import RULES
from litert_build.bazel.rules.inert import INERT_RULES
from litert_build.bazel.rules.manifest import BEYOND, INERT, MISSING
from litert_build.starlark.operators import methods_of

from tests.unit.bazel_samples import Tree

BAZEL = json.loads((Path(__file__).parent / "golden" / "bazel_names.json").read_text(encoding="utf-8"))
PHASES = ("BUILD", "bzl", *MODULES)
# Rules that only a WORKSPACE file may call.
REPOSITORY_RULES = {
    "android_ndk_repository",
    "android_sdk_repository",
    "bind",
    "local_config_platform",
    "local_repository",
    "new_local_repository",
}


@pytest.mark.parametrize("phase", [*PHASES, "ctx.actions"])
def test_each_name_of_bazel_is_implemented_inert_or_missing_for_a_reason(phase: str) -> None:
    ours, theirs = set(manifest()["names"][phase]), set(BAZEL["names"][phase])
    assert theirs - ours == set()
    assert ours - theirs == set(BEYOND.get(phase, {}))
    assert set(MISSING.get(phase, {})) <= theirs


@pytest.mark.parametrize(("value", "phase"), [("", "string"), ([], "list"), ({}, "dict")])
def test_values_have_bazels_methods(value: Any, phase: str) -> None:
    assert sorted(methods_of(value)) == BAZEL["names"][phase]


@pytest.mark.parametrize("phase", ["ctx", "ctx.actions", "Args", "File", "Label", "depset"])
def test_what_implementations_see_has_bazels_fields(tmp_path: Path, phase: str) -> None:
    shown = {"ctx": "ctx", "ctx.actions": "ctx.actions", "Args": "ctx.actions.args()", "File": "ctx.actions.declare_file('o')",
             "Label": "ctx.label", "depset": "depset()"}[phase]  # fmt: skip
    rule = f"def _impl(ctx):\n    fail(json.encode(dir({shown})))\n\nr = rule(_impl)\n"
    found = set(json.loads(Tree(tmp_path, {"BUILD": "load(':r.bzl', 'r')\nr(name = 'x')", "r.bzl": rule}).failure("//:x").what))
    assert found | set(MISSING.get(phase, {})) == set(BAZEL["names"][phase])


@pytest.mark.parametrize(("phase", "name"), [(phase, name) for phase in PHASES for name in BAZEL["names"][phase]])
def test_each_name_does_what_the_manifest_says(tmp_path: Path, phase: str, name: str) -> None:
    status = manifest()["names"][phase][name]
    written = name if phase in ("BUILD", "bzl") else f"{phase}.{name}"
    text = f"x = [{written}]\n"
    tree = Tree(tmp_path, {"BUILD": text} if phase == "BUILD" else {"BUILD": "load(':m.bzl', 'x')", "m.bzl": text})
    if status.startswith("missing: "):
        assert name in tree.load_failure().what
        return
    assert status == "implemented" or status.startswith("inert: ")
    assert tree.package().targets == {}


@pytest.mark.parametrize("name", sorted(INERT))
def test_inert_names_are_there_and_may_be_passed_on_and_nothing_of_them_decides(tmp_path: Path, name: str) -> None:
    text = f"x = [{name}] if {name} else fail('Bazel has it')\ny = 1 if {name}.field else 2\n"
    error = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'y')", "m.bzl": text}).load_failure()
    assert error.what == f"'{name}.field' decides something, but {INERT[name]}"
    assert error.where.endswith("m.bzl:2")


@pytest.mark.parametrize("name", sorted(INERT_RULES))
def test_inert_rules_are_declared_and_stop_the_closure_that_needs_them(tmp_path: Path, name: str) -> None:
    tree = Tree(tmp_path, {"BUILD": f"{name}(name = 'y', anything = [1])\ncc_library(name = 'z')\ncc_library(name = 'x', deps = [':y'])"})
    assert len(tree.analyze("//:z").actions) == 0
    error = tree.failure("//:x")
    assert error.what == f"the closure needs //:y, a {name}: {INERT_RULES[name].missing}"
    assert error.where == f"{tree.shown()}BUILD:1"


# Attributes


def test_every_native_rule_and_attribute_of_bazel_is_declared() -> None:
    assert set(BAZEL["rules"]) - set(RULES) == REPOSITORY_RULES
    lacking = {
        rule: sorted(set(attributes) - set(RULES[rule].attrs))
        for rule, attributes in BAZEL["rules"].items()
        if rule in RULES and not RULES[rule].missing and set(attributes) - set(RULES[rule].attrs)
    }
    assert lacking == {}


@pytest.mark.parametrize("rule", sorted(name for name, rule in RULES.items() if not rule.missing))
def test_each_attribute_says_what_becomes_of_it(rule: str) -> None:
    for name, spec in RULES[rule].attrs.items():
        assert spec.status == "used" or len(spec.reason) > 5, f"{rule}.{name}"
        assert manifest()["rules"][rule][name].split(":")[0] in ("used", "irrelevant", "unsupported")


SAMPLES: dict[str, str] = {
    "string": "'zz'", "int": "1", "bool": "True", "tristate": "1", "label": "':extra'", "output": "'made'", "string_list": "['zz']",
    "int_list": "[1]", "label_list": "[':extra']", "output_list": "['made']", "string_dict": "{'k': 'v'}",
    "string_list_dict": "{'k': ['v']}", "label_keyed_string_dict": "{':extra': 'v'}", "string_keyed_label_dict": "{'k': ':extra'}",
    "any": "[1]",
}  # fmt: skip
CALLS: dict[str, str] = {
    "cc_library": "srcs = ['a.cc'], hdrs = ['a.h']",
    "cc_binary": "srcs = ['a.cc']",
    "cc_import": "static_library = 'a.a'",
    "cc_shared_library": "deps = [':extra']",
    "filegroup": "srcs = ['a.cc']",
    "genrule": "outs = ['o'], cmd = 'touch $@'",
    "alias": "actual = ':extra'",
    "proto_library": "srcs = ['a.proto']",
    "py_binary": "srcs = ['x.py']",
    "py_library": "srcs = ['x.py']",
    "sh_binary": "srcs = ['x.sh']",
    "sh_library": "srcs = ['x.sh']",
}
FILES = {"a.cc": "", "a.h": "", "a.a": "", "a.proto": "", "x.py": "", "x.sh": ""}


def ignored() -> list[tuple[str, str, Attr]]:
    return [(rule, name, spec) for rule in CALLS for name, spec in RULES[rule].attrs.items() if spec.status != "used"]


@pytest.mark.parametrize(("rule", "name", "spec"), ignored(), ids=[f"{rule}.{name}" for rule, name, _ in ignored()])
def test_irrelevant_attributes_change_no_action_and_unsupported_ones_are_refused(tmp_path: Path, rule: str, name: str, spec: Attr) -> None:
    def tree(folder: str, more: str) -> Tree:
        return Tree(tmp_path / folder, {**FILES, "BUILD": f"cc_library(name = 'extra')\n{rule}(name = 'x', {CALLS[rule]}{more})"})

    given = tree("given", f", {name} = {SAMPLES[spec.kind]}")
    if spec.status == "unsupported":
        error = given.failure("//:x")
        assert error.what == f"attribute '{name}' of //:x is not supported: {spec.reason}"
        return
    assert list(given.analyze("//:x").actions) == list(tree("without", "").analyze("//:x").actions)


@pytest.mark.parametrize("rule", sorted(CALLS))
def test_used_attributes_are_checked_for_their_type(tmp_path: Path, rule: str) -> None:
    wrong = {"string": "5", "int": "'a'", "bool": "'a'", "tristate": "'a'", "label": "5", "output": "5"}
    for name, spec in RULES[rule].attrs.items():
        if spec.status != "used" or name == "name" or f"{name} =" in CALLS[rule]:
            continue
        value = wrong.get(spec.kind, "5")
        error = Tree(tmp_path / name, {**FILES, "BUILD": f"\n{rule}(name = 'x', {CALLS[rule]}, {name} = {value})"}).load_failure()
        assert f"for attribute '{name}', but got" in error.what and error.where.endswith("BUILD:2"), name


# The digest


def test_the_digest_is_of_the_manifest_and_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    first = manifest_digest()
    assert len(first) == 64 and first == manifest_digest()
    manifest_digest.cache_clear()
    assert manifest_digest() == first
    manifest_digest.cache_clear()
    monkeypatch.setitem(MISSING["ctx"], "fragments", "another reason")
    assert manifest_digest() != first
    manifest_digest.cache_clear()
    monkeypatch.undo()
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: real(path) + (b"#" if path.name == "resolver.py" else b""))
    assert manifest_digest() != first
    manifest_digest.cache_clear()
