"""Real trees built whole by the main job: nothing here was written for it, and every number was counted by Bazel too.

LITERT_LM_REAL=all adds what takes longer than the rest together: TensorFlow Lite's C library (about 600 CPU seconds), and LLVM's
table generator (about 200).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.real.builds import Build, counted
from tests.real.cases import CASES

UNITS = {
    "abseil-20240722": ("//absl/...", 153),
    "highway": ("//:hwy", 7),
    "re2": ("//:re2", 139),
    "xnnpack": ("//:XNNPACK", 1032),
}


@pytest.mark.parametrize("name", sorted(UNITS))
def test_all_units_compile_and_the_second_run_does_nothing(name: str, tmp_path: Path) -> None:
    root, units = UNITS[name]
    build = Build(CASES[name], tmp_path, (root,))
    first = build.scons()
    assert len(build.made("*.o")) == units
    assert counted(first, "skipped") == 0
    assert counted(build.scons(), "actions run") == 0


def test_flatc_runs_on_a_schema(tmp_path: Path) -> None:
    flatc = Build(CASES["flatbuffers"], tmp_path, ("//:flatc",)).tool("flatc")
    schema = tmp_path / "monster.fbs"
    schema.write_text("table Monster { name: string; hp: short = 100; }\nroot_type Monster;\n")
    subprocess.run([str(flatc), "--cpp", "-o", str(tmp_path), str(schema)], check=True, timeout=60)
    assert "struct MonsterBuilder" in (tmp_path / "monster_generated.h").read_text()
    wrong = tmp_path / "wrong.fbs"
    wrong.write_text("table {\n")
    refused = subprocess.run([str(flatc), "--cpp", "-o", str(tmp_path), str(wrong)], capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0
    assert "wrong.fbs:1" in refused.stdout + refused.stderr


def test_protoc_runs_on_a_file(tmp_path: Path) -> None:
    protoc = Build(CASES["protobuf"], tmp_path, ("//:protoc",)).tool("protoc")
    (tmp_path / "note.proto").write_text('syntax = "proto3";\nmessage Note { string text = 1; }\n')
    arguments = [str(protoc), f"-I{tmp_path}", f"--cpp_out={tmp_path}", "note.proto"]
    subprocess.run(arguments, check=True, timeout=60, cwd=tmp_path, env={"PATH": os.environ["PATH"]})
    assert "class Note" in (tmp_path / "note.pb.h").read_text()
    version = subprocess.run([str(protoc), "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert version.stdout.strip() == "libprotoc 3.21.12"
