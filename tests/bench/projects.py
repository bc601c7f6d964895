"""Owns what is built: the synthetic project and real trees, each as a lock, options of scons, and the files that are edited.

project = synthetic(folder, units=6000)
project = real(folder, "clang")                    # a case of tests/real/cases.py; raises BuildError where its trees cannot be had
project.steps(), project.source, project.deep
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError
from litert_build.incremental.execroot import plant
from litert_build.incremental.steps import Step, steps_of
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product
from litert_build.sources.lock_text import lock_text
from litert_build.sources.trees import materialize
from litert_build.toolchains import find_toolchain
from litert_build.toolchains.base import Toolchain

from tests.bench.synthetic import Synthetic
from tests.real.cases import CASES
from tests.real.trees import TreeMissing

# What is built with the compiler that takes no time, since hours of real ones would be measured, and the file that is edited in it.
EDITED = {"clang": "clang/lib/Sema/SemaExpr.cpp"}
# Four units of XNNPACK ask for -mavxvnniint8, which GCC knows from 13 on.
TOOLCHAINS = {"xnnpack": "clang"}


@dataclass(frozen=True)
class Project:
    """One thing to build in `folder`. `source` and `deep` are edited, where they are set; `readers` is how many units read `deep`."""

    name: str
    folder: Path
    lock: Path
    compilers: Mapping[str, str] = field(default_factory=dict)
    source: Path | None = None
    deep: Path | None = None
    readers: int = 0

    @property
    def options(self) -> list[str]:
        """What scons is told of this project."""
        chosen = [f"{name}={value}" for name, value in self.compilers.items()]
        return [f"lock={self.lock}", f"store={self.folder / 'store'}", "offline=yes", *chosen]

    @cached_property
    def toolchain(self) -> Toolchain:
        chosen = dict(self.compilers)
        return find_toolchain(chosen.pop("toolchain", ""), find_target("linux-x64"), **chosen)

    @cached_property
    def trees(self) -> dict[str, Path]:
        store, overlays = self.folder / "store", self.folder / "overlays"
        return materialize(Lock.read(self.lock), store=store, overlays_dir=overlays, offline=True)

    @cached_property
    def steps(self) -> list[Step]:
        """Every step of the lock's roots, as scons would run it."""
        name = self.toolchain.name
        actions = analyze(Lock.read(self.lock), self.trees, find_target("linux-x64"), compiler=name, exec_compiler=name).actions
        return steps_of(actions, self.toolchain)

    def plant(self, root: Path) -> None:
        """Lay the links of an execution root."""
        root.mkdir(parents=True)
        plant(root, self.trees[Lock.read(self.lock).main], self.trees)


def edit(file: Path) -> None:
    """Give a C or C++ file other content."""
    file.write_text(f"{file.read_text()}// {time.time_ns()}\n")


def synthetic(folder: Path, units: int) -> Project:
    made = Synthetic.make(folder, units)
    compilers = stub_compilers(folder / "bin")
    source, deep = made.tree / made.units[units // 2], made.tree / made.deep_header
    return Project(f"synthetic:{units}", folder, folder / "lock.json", compilers, source, deep, made.readers(made.deep_header))


def real(folder: Path, name: str) -> Project:
    """Return a case of the real trees. Raises BuildError where a tree or its compiler is not to be had."""
    case = CASES["abseil-20240722" if name == "abseil" else name]
    try:
        lock = case.lock(case.snapshot().provenance["roots"])
    except TreeMissing as missing:
        raise BuildError(str(missing), where=name) from missing
    compilers = {"toolchain": TOOLCHAINS[name]} if name in TOOLCHAINS else {}
    source = None
    if name in EDITED:
        compilers = stub_compilers(folder / "bin")
        main = lock.repositories[case.main]
        assert main.path is not None
        source = editable(main.path, folder / "edited", EDITED[name])
        lock = replace(lock, repositories={**lock.repositories, case.main: replace(main, path=folder / "edited")})
    lock = replace(lock, file=folder / "lock.json", release="v0.0.1", product=Product("objects"), cxxopts=lock.cxxopts or ("-std=c++17",))
    lock.file.write_text(lock_text(lock), encoding="utf-8")
    return Project(name, folder, lock.file, compilers, source)


def editable(tree: Path, copy: Path, file: str) -> Path:
    """Make `copy` the read-only tree with one file that can be written: links to all that stands beside the way to it."""
    inside = copy
    copy.mkdir()
    for name in Path(file).parts:
        for entry in tree.iterdir():
            if entry.name != name:
                (inside / entry.name).symlink_to(entry)
        tree, inside = tree / name, inside / name
        if tree.is_dir():
            inside.mkdir()
    shutil.copyfile(tree, inside)
    return inside


def stub_compilers(folder: Path) -> dict[str, str]:
    """Compile the compiler that takes no time; returns the options that name it."""
    folder.mkdir(exist_ok=True)
    for name in ("gcc", "g++"):
        subprocess.run(["gcc", "-O2", "-o", folder / name, Path(__file__).with_name("stub_compiler.c")], check=True)
    return {"cc": str(folder / "gcc"), "cxx": str(folder / "g++")}
