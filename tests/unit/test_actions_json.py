"""actions.json and compile_commands.json: the oracle's vocabulary, field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from litert_build.actions import Compile
from litert_build.reports.actions_json import write_actions
from litert_build.reports.compiledb import write_compiledb

ACTION = Compile(
    label="//c:engine",
    source="c/engine.cc",
    output="bazel-out/k8-opt/bin/c/_objs/engine/engine.pic.o",
    depfile="bazel-out/k8-opt/bin/c/_objs/engine/engine.pic.d",
    configuration="k8-opt",
    language="c++",
    defines=("B=1", "A"),
    includes=(("-iquote", "."), ("-isystem", "external/base")),
    flags=("-O2", "-fPIC"),
)


class FakeToolchain:
    def compile_argv(self, action: Compile) -> list[str]:
        return ["g++", "-c", action.source]


def test_one_record_a_compile(tmp_path: Path) -> None:
    assert write_actions([ACTION], tmp_path / "actions.json") == 1
    assert json.loads((tmp_path / "actions.json").read_text()) == [
        {
            "label": "//c:engine",
            "source": "c/engine.cc",
            "output": ACTION.output,
            "configuration": "k8-opt",
            "defines": ["B=1", "A"],
            "includes": [["-iquote", "."], ["-isystem", "external/base"]],
            "flags": ["-O2", "-fPIC"],
        }
    ]


def test_the_compilation_database_names_the_execution_root(tmp_path: Path) -> None:
    toolchain: Any = FakeToolchain()
    write_compiledb([ACTION], toolchain, root=tmp_path / "root", file=tmp_path / "db.json")
    entry = json.loads((tmp_path / "db.json").read_text())[0]
    assert entry["directory"] == str(tmp_path / "root") and entry["arguments"] == ["g++", "-c", "c/engine.cc"]
