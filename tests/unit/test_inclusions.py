"""Undeclared inclusions: what a compile read against what its target and dependencies declare."""

from pathlib import Path

import pytest
from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import File
from litert_build.incremental.inclusions import DeclaredHeaders, complaint

OWNER = Label("", "c", "x")


def files(*paths: str) -> list[File]:
    return [File(path, OWNER) for path in paths]


@pytest.fixture
def declared() -> DeclaredHeaders:
    base = Depset(files("base/status.h"))
    util = Depset(files("util/log.h"), [base])
    engine = Depset(files("c/engine.h", "c/engine.cc"), [util])
    return DeclaredHeaders.from_depsets({("//c:engine", "k8-opt"): engine, ("//util:log", "k8-opt"): util})


def test_own_and_inherited_headers_are_declared(declared):
    assert declared.undeclared("//c:engine", "k8-opt", ["c/engine.cc", "c/engine.h", "util/log.h", "base/status.h"]) == []


def test_the_compilers_own_headers_are_not_asked_about(declared):
    assert declared.undeclared("//c:engine", "k8-opt", ["/usr/include/stdio.h"]) == []


def test_a_header_that_nobody_declares_is_named(declared):
    assert declared.undeclared("//c:engine", "k8-opt", ["c/engine.cc", "util/private.h"]) == ["util/private.h"]


def test_dependents_headers_are_not_dependencies(declared):
    assert declared.undeclared("//util:log", "k8-opt", ["c/engine.h"]) == ["c/engine.h"]


def test_a_path_through_dots_is_the_same_file(declared):
    assert declared.undeclared("//c:engine", "k8-opt", ["c/../util/log.h", "./base/status.h"]) == []


def test_the_graph_survives_the_disk_and_damage_is_no_graph(declared, tmp_path: Path):
    file = tmp_path / "headers"
    declared.save(file)
    again = DeclaredHeaders.load(file)
    assert again is not None
    assert again.undeclared("//c:engine", "k8-opt", ["x.h"]) == ["x.h"]
    file.write_bytes(file.read_bytes()[:20])
    assert DeclaredHeaders.load(file) is None
    assert DeclaredHeaders.load(tmp_path / "none") is None


def test_the_complaint_names_label_place_file_and_mend():
    text = complaint("//c:engine", "c/BUILD:3", "c/engine.cc", {"util/private.h": ""})
    assert text.startswith("c/BUILD:3: undeclared inclusion in //c:engine: c/engine.cc reads what")
    assert "    util/private.h\n" in text
    assert "add the library that declares it to deps" in text
    assert "patch_cmds" not in text


def test_a_source_file_in_front_of_a_generated_header_is_told_apart():
    """TensorFlow's schema_generated.h stands in the tree and is made by flatc too."""
    generated = "bazel-out/k8-opt/bin/schema/schema_generated.h"
    declared = DeclaredHeaders.from_depsets({("//schema", "k8-opt"): Depset(files(generated))})
    assert declared.undeclared("//schema", "k8-opt", ["schema/schema_generated.h"]) == ["schema/schema_generated.h"]
    assert declared.hidden("//schema", "k8-opt", "schema/schema_generated.h") == generated
    assert declared.hidden("//schema", "k8-opt", "schema/other.h") == ""
    assert declared.hidden("//elsewhere", "k8-opt", "schema/schema_generated.h") == ""
    text = complaint("//schema", "schema/BUILD:3", "schema/schema.cc", {"schema/schema_generated.h": generated})
    assert f"schema/schema_generated.h, which hides the generated {generated}" in text
    assert text.endswith("  -> let the lock's patch_cmds remove what hides a generated header\n")
