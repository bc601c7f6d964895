"""Owns the build tools that are compared: how each is told to build a project, and to forget what it has built.

engine = Scons(project)
engine.forget()
engine.run()                 # Run(wall=11.0, cpu=14.0, ...)
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.bench.measure import Run, measured
from tests.bench.ninja_file import write_ninja
from tests.bench.projects import Project
from tests.e2e.engine import REPOSITORY

JOBS = 2


def ninja_program() -> str:
    """Return the Ninja of PyPI's package where that is installed beside Python, else any."""
    beside = Path(sys.executable).with_name("ninja")
    return str(beside) if beside.exists() else shutil.which("ninja") or "ninja"


class Scons:
    """This project's SCons, with a build folder of its own."""

    name = "scons"
    folder = "scons"
    extra: tuple[str, ...] = ()

    def __init__(self, project: Project) -> None:
        self.project = project
        self.build = project.folder / self.folder

    def argv(self, *extra: str) -> list[str]:
        own = (f"build_dir={self.build}", *self.extra, *extra)
        return [sys.executable, "-m", "SCons", "-Q", f"-j{JOBS}", *self.project.options, *own]

    def run(self, *extra: str) -> Run:
        """Raises BuildError where the build fails."""
        return measured(self.argv(*extra), REPOSITORY)

    def forget(self) -> None:
        """Leave nothing that an earlier build has made."""
        shutil.rmtree(self.build, ignore_errors=True)


class PlainScons(Scons):
    """SCons with its own scanner, signatures and content decider."""

    name = "plain scons"
    folder = "plain"
    extra = ("incremental=off",)


class CachedScons(Scons):
    """The same with all objects in the shared cache, which the first run fills."""

    name = "scons"
    folder = "cached"

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.extra = (f"cache={project.folder / 'cache'}",)


class Ninja:
    """Ninja over the same steps, in an execution root of its own."""

    name = "ninja"

    def __init__(self, project: Project) -> None:
        self.project = project
        self.root = project.folder / "ninja"
        self.side = project.folder / "ninja-file"
        self.program = ninja_program()
        self.environment: Mapping[str, str] = {}

    def argv(self) -> list[str]:
        return [self.program, f"-j{JOBS}", "-f", str(self.side / "build.ninja")]

    def run(self) -> Run:
        """Raises BuildError where the build fails."""
        return measured(self.argv(), self.root, self.environment)

    def forget(self) -> None:
        """Lay the execution root and write the Ninja file anew."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.project.plant(self.root)
        self.environment = write_ninja(self.project.steps, self.root, self.side)
