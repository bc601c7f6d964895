"""Real trees built whole by the main job: nothing here was written for it, and every number was counted by Bazel too. No unit reads a
header that none of its dependencies declares.

LITERT_LM_REAL=all adds LLVM's table generators.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from litert_build.actions import Run

from tests.real.builds import Build, counted
from tests.real.cases import CASES, LLVM_TABLES

REFERENCE = Path("/usr/lib/llvm-19/bin/llvm-tblgen")
ALL = pytest.mark.skipif(os.environ.get("LITERT_LM_REAL") != "all", reason="LLVM's table generators: set LITERT_LM_REAL=all")
QUICK = ("-O1",)  # a fifth less to compile than by -O2
CLANG = pytest.mark.skipif(not shutil.which("clang-19"), reason="clang-19 is not installed")


@pytest.mark.parametrize(
    ("name", "toolchain"),
    [
        ("abseil-20240722", "gcc"),
        ("brotli", "gcc"),
        ("highway", "gcc"),
        ("re2", "gcc"),
        pytest.param("xnnpack", "clang", marks=CLANG),  # four of its units ask for -mavxvnniint8, which GCC knows from 13 on
    ],
)
def test_all_units_compile_and_the_second_run_does_nothing(name: str, toolchain: str, tmp_path: Path) -> None:
    snapshot = CASES[name].snapshot()
    build = Build(CASES[name], tmp_path, tuple(snapshot.provenance["roots"]), copts=QUICK)
    first = build.scons(f"toolchain={toolchain}")
    assert len(build.made("*.o")) == len(snapshot.records)
    assert counted(first, "skipped") == 0
    second = build.scons(f"toolchain={toolchain}", "verbose=yes")
    assert counted(second, "actions run") == 0, second


def test_each_instruction_set_gets_its_own_flags(tmp_path: Path) -> None:
    """XNNPACK's kernels are cc_library targets that differ in copts alone; the machine code tells whether those arrived."""
    build = Build(CASES["xnnpack"], tmp_path, ("//:XNNPACK",))
    widths = {"sse2": "xmm", "avx": "ymm", "avx512f": "zmm"}
    kernels = build.make(*(f"_objs/{isa}_prod_microkernels/f32-vneg-{isa}.pic.o" for isa in widths))
    assert [max(re.findall(r"%([xyz]mm)", _disassembly(kernel))) for kernel in kernels] == list(widths.values())


def test_flatc_runs_on_a_schema(tmp_path: Path) -> None:
    (flatc,) = Build(CASES["flatbuffers"], tmp_path, ("//:flatc",), copts=QUICK).make("flatc")
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
    (protoc,) = Build(CASES["protobuf"], tmp_path, ("//:protoc",), copts=QUICK).make("protoc")
    (tmp_path / "note.proto").write_text('syntax = "proto3";\nmessage Note { string text = 1; }\n')
    arguments = [str(protoc), f"-I{tmp_path}", f"--cpp_out={tmp_path}", "note.proto"]
    subprocess.run(arguments, check=True, timeout=60, cwd=tmp_path, env={"PATH": os.environ["PATH"]})
    assert "class Note" in (tmp_path / "note.pb.h").read_text()
    version = subprocess.run([str(protoc), "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert version.stdout.strip() == "libprotoc 3.21.12"


@ALL
@pytest.mark.skipif(not REFERENCE.exists(), reason="llvm-19 is not installed")
@pytest.mark.parametrize(
    ("generators", "tables"),
    [
        pytest.param(("llvm-min-tblgen",), 27, id="minimal"),
        pytest.param(("llvm-min-tblgen", "llvm-tblgen"), 254, id="llvm"),
    ],
)
def test_llvm_generates_its_tables(generators: tuple[str, ...], tables: int, tmp_path: Path) -> None:
    """LLVM's genrules run table generators that are built for them first, for this machine. Debian's, of the same release, makes the
    same of the same files."""
    build = Build(LLVM_TABLES, tmp_path, ("@llvm-project//clang:clang",))
    made = _generated(build, generators)
    assert len(made) == tables
    for command in made:
        [tool], [output] = command.tools, command.outputs
        expected = build.folder / "expected.inc"
        again = command.argv[-1].replace(tool, str(REFERENCE)).replace(output, str(expected))
        subprocess.run([*command.argv[:-1], again], cwd=build.root, check=True, timeout=600)
        assert (build.root / output).read_bytes() == expected.read_bytes(), command.argv[-1]


def _generated(build: Build, generators: tuple[str, ...]) -> list[Run]:
    """Return the commands of a build that run one of the generators for the target, run."""
    commands = [action for action in build.analysis().actions if isinstance(action, Run) and action.configuration == "k8-opt"]
    chosen = [command for command in commands if {Path(tool).name for tool in command.tools} & {*generators}]
    build.scons(*(str(build.root / output) for command in chosen for output in command.outputs))
    return chosen


def _disassembly(file: Path) -> str:
    return subprocess.run(["objdump", "-d", str(file)], capture_output=True, text=True, check=True).stdout
