"""Which BUILD files a run of scons executes again: an entry of the cache is written anew exactly where its package was executed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.job_project import Project

OBJECTS = "bazel-out/k8-opt/bin"
PACKAGES = {
    "BUILD": "cc_library(name = 'answer', srcs = ['answer.cc'], deps = ['//one', '//two'])\n",
    "one/BUILD": "load('//:rules.bzl', 'unit')\nunit(name = 'one', visibility = ['//visibility:public'])\n",
    "one/one.cc": "int one() { return 1; }\n",
    "two/BUILD": "cc_library(name = 'two', srcs = glob(['**/*.cc']), visibility = ['//visibility:public'])\n",
    "two/two.cc": "int two() { return 2; }\n",
    "two/inner/BUILD": "",
    "two/inner/more.cc": "int more() { return 3; }\n",
    "answer.cc": 'extern "C" int answer(void) { return 42; }\n',
}


@pytest.fixture
def packages(project: Project) -> Project:
    for name, text in PACKAGES.items():
        project.write(name, text)
    assert project.scons("objects").code == 0
    return project


def entries(folder: Path) -> dict[Path, int]:
    """Return the entries of a cache, each with what tells one writing from another."""
    return {file: file.stat().st_ino for file in (folder / "evaluated/packages").rglob("*") if file.is_file()}


def executed(project: Project, *arguments: str, folder: str = "build/linux-x64/tiny/.build") -> tuple[int, str]:
    """Run scons; return how many packages were executed, and what it printed."""
    before = entries(project.folder / folder)
    result = project.scons(*arguments)
    assert result.code == 0, result.text
    return len(entries(project.folder / folder).items() - before.items()), result.text


def test_an_edited_build_file_is_executed_alone(packages: Project) -> None:
    assert len(entries(packages.root / ".build")) == 3
    packages.write("two/BUILD", PACKAGES["two/BUILD"].replace("srcs", "copts = ['-DTWO'], srcs"))
    count, text = executed(packages, "objects")
    assert count == 1 and f"ran {OBJECTS}/two/_objs/two/two.pic.o" in text and f"ran {OBJECTS}/one/" not in text
    packages.replace("rules.bzl", "alwayslink", "copts = ['-DONE'], alwayslink")
    count, text = executed(packages, "objects")
    assert count == 1 and f"ran {OBJECTS}/one/_objs/one/one.pic.o" in text and f"ran {OBJECTS}/two/" not in text


def changes(project: Project) -> Iterator[None]:
    """Change, one after the other, what decides a package by being there or not."""
    project.write("one/BUILD.bazel", "cc_library(name = 'one', srcs = ['one.cc'], copts = ['-DNEW'], visibility = ['//visibility:public'])")
    yield
    (project.folder / "tiny/two/inner/BUILD").unlink()
    yield
    project.write("two/other.cc", "int other() { return 4; }\n")
    yield


def test_what_decides_by_being_there_or_not_is_noticed(packages: Project) -> None:
    wanted = [f"{OBJECTS}/one/_objs/one/one.pic.o", f"{OBJECTS}/two/_objs/two/more.pic.o", f"{OBJECTS}/two/_objs/two/other.pic.o"]
    for output, _ in zip(wanted, changes(packages)):
        count, text = executed(packages, "objects")
        assert count == 1 and f"ran {output}" in text, text
        assert executed(packages, "objects")[0] == 0


def test_explain_and_doctor_execute_once_too(packages: Project) -> None:
    count, told = executed(packages, "explain=//one", folder="build")
    assert count == 3 and "in unit at @tiny//rules.bzl:3" in told
    assert executed(packages, "explain=//one", folder="build") == (0, told)
    assert executed(packages, "doctor", folder="build")[0] == 0
    packages.write("two/other.cc", "")
    assert executed(packages, "doctor", folder="build")[0] == 1


def test_a_clean_removes_what_was_kept(packages: Project) -> None:
    assert packages.scons("-c").code == 0
    assert entries(packages.root / ".build") == {}
    assert executed(packages, "objects")[0] == 3
