"""A link whose symbols a select() left out: real linkers fail, and the build says which label needs what, and which branch had it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.gate_tools import tool
from tests.e2e.job_project import Project

LEFT_OUT = "select() in deps of //:base (@tiny//BUILD:6) left out //:gpu: //:with_gpu does not hold (--define gpu is not set)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """base.cc calls what a source of //:gpu defines, which it depends on under --define gpu=true."""
    project = Project(tmp_path)
    deps = 'deps = select({":with_gpu": [":gpu"], "//conditions:default": [":none"]}),'
    project.replace("BUILD", 'srcs = ["base.cc"],', f'srcs = ["base.cc"],\n    {deps}')
    more = """
config_setting(name = "with_gpu", define_values = {"gpu": "true"})
cc_library(name = "none")
alias(name = "gpu", actual = ":gpu_inner")
cc_library(name = "gpu_inner", srcs = ["gpu.cc"])
"""
    project.write("BUILD", (project.folder / "tiny/BUILD").read_text() + more)
    project.write("gpu.cc", "namespace lm { int gpu_answer(int value) { return value; } }\n")
    project.replace("base.cc", "int base() { return ", "namespace lm { int gpu_answer(int); }\nint base() { return lm::gpu_answer(0) + ")
    return project


def linked_by(linker: str, project: Project) -> tuple[str, ...]:
    """Return the options for a g++ that links by `linker`."""
    if linker == "ld":
        return ()
    compiler = project.folder / "bin/g++"
    compiler.parent.mkdir()
    (compiler.parent / "ld.lld").symlink_to(tool("ld.lld"))
    compiler.write_text(f'#!/bin/sh\nexec /usr/bin/g++ -B{compiler.parent} -fuse-ld=lld "$@"\n')
    compiler.chmod(0o755)
    return ("cc=/usr/bin/gcc", f"cxx={compiler}")


@pytest.mark.parametrize("linker", ["ld", "lld"])
def test_the_branch_that_had_the_symbol_is_named(project: Project, linker: str) -> None:
    options = linked_by(linker, project)
    result = project.scons(*options)
    assert result.code == 2 and "Traceback" not in result.text
    assert (
        f"""
1 undefined symbol in bazel-out/k8-opt/bin/host/libTiny.so:
  lm::gpu_answer(int)
    needed by base.pic.o of //:base (@tiny//BUILD:6)
    //:gpu.cc has its name: {LEFT_OUT}
  exit code 1
"""
        in result.text
    ), result.text
    project.lock["defines"] = {"gpu": "true"}
    assert project.scons(*options).code == 0


def test_a_symbol_that_nobody_has_names_the_branches_of_its_label(project: Project) -> None:
    project.replace("base.cc", "lm::gpu_answer(0)", "lm::cpu_answer(0)")
    project.replace("base.cc", "int gpu_answer", "int cpu_answer")
    result = project.scons("debug_symbols=split")
    expected = f"    no source that a select() left out has its name; those of this label:\n      {LEFT_OUT}\n"
    assert result.code == 2 and f"  lm::cpu_answer(int)\n    needed by base.pic.o of //:base (@tiny//BUILD:6)\n{expected}" in result.text


def test_a_forgotten_dependency_is_no_matter_of_a_select(project: Project) -> None:
    project.replace("BUILD", 'select({":with_gpu": [":gpu"], "//conditions:default": [":none"]})', "[]")
    result = project.scons()
    advice = "no select() left out a source that has its name: add what defines it to deps (scons explain=//:base)"
    assert result.code == 2 and advice in result.text, result.text
