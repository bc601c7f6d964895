"""Owns builds of real trees by the main job: the lock that a case becomes, the command line, what came out.

    build = Build(CASES["re2"], tmp_path, ("//:re2",))
    build.scons()                              # what the run printed; a failing run fails the test
    build.made("*.o")                          # the files made for the target that match
    (protoc,) = build.make("protoc")           # one output of the main repository, built with what it needs
    build.analysis().actions                   # what there is to build

LITERT_LM_REAL_BUILDS names a folder that keeps the builds, so that a long one continues where it stopped.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from litert_build.bazel.analysis import Analysis, analyze
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product, Repository
from litert_build.sources.lock_text import lock_text
from litert_build.sources.trees import materialize

from tests.real.cases import Case
from tests.real.trees import optional_trees_skip

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Build:
    """One case in a folder of its own. `repositories` take the place of the case's of the same names, `copts` follow the options of the
    optimized mode. No compile may read a header that nothing declares, unless `headers` says otherwise."""

    case: Case
    folder: Path
    roots: tuple[str, ...]
    product: Product = field(default_factory=lambda: Product("objects"))
    repositories: tuple[Repository, ...] = ()
    headers: str = "strict"
    copts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if kept := os.environ.get("LITERT_LM_REAL_BUILDS"):
            self.folder = Path(kept).absolute() / self.case.name
            self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def root(self) -> Path:
        """The execution root."""
        return self.folder / "build" / "linux-x64" / self.case.name

    @property
    def bin(self) -> Path:
        return self.root / "bazel-out" / "k8-opt" / "bin"

    def lock(self) -> Path:
        """Write the lock of this build. An optional tree that cannot be had skips the test."""
        with optional_trees_skip():
            case = self.case.lock(self.roots)
        lock = replace(
            case,
            file=self.folder / "lock.json",
            release="v0.0.1",
            product=self.product,
            repositories={**case.repositories, **{repository.name: repository for repository in self.repositories}},
            copts=self.copts,
            cxxopts=case.cxxopts or ("-std=c++17",),
        )
        text = lock_text(lock)
        if not lock.file.exists() or lock.file.read_text(encoding="utf-8") != text:
            lock.file.write_text(text, encoding="utf-8")
        return lock.file

    def command(self, *extra: str) -> list[str]:
        places = (f"lock={self.lock()}", f"build_dir={self.folder / 'build'}", f"store={self.folder / 'store'}")
        return [sys.executable, "-m", "SCons", "-Q", *places, "offline=yes", f"headers={self.headers}", *extra]

    def analysis(self) -> Analysis:
        """Return our evaluation of this build."""
        lock = Lock.read(self.lock())
        trees = materialize(lock, store=self.folder / "store", overlays_dir=self.folder / "overlays", offline=True)
        return analyze(lock, trees, find_target("linux-x64"))

    def scons(self, *extra: str) -> str:
        """Run the main job and return what it printed."""
        process = subprocess.run(self.command(*extra), cwd=REPOSITORY, capture_output=True, text=True, timeout=3600, check=False)
        printed = process.stdout + process.stderr
        assert process.returncode == 0, printed[-4000:]
        return printed

    def made(self, pattern: str) -> list[Path]:
        """Return what was made for the target and matches, sorted."""
        return sorted(self.bin.rglob(pattern))

    def make(self, *names: str) -> list[Path]:
        """Build these outputs of the main repository alone, by their paths below bin, and return them."""
        files = [self.bin / name for name in names]
        self.scons(*map(str, files))
        return files


def counted(printed: str, what: str) -> int:
    """Return the number before `what` in the summary of a run."""
    match = re.search(rf"(\d+) {what}", printed)
    assert match, printed[-2000:]
    return int(match[1])
