"""Owns a tiny project with BUILD files and a lock, built by the repository's own SConstruct.

project = Project(tmp_path)
assert project.scons().code == 0
assert project.host.is_file()
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.engine import REPOSITORY, Result

BUILD = """
load("//:rules.bzl", "unit")

unit(name = "answer", hdrs = ["c/answer.h"], deps = [":base"])

cc_library(
    name = "base",
    srcs = ["base.cc"],
    hdrs = ["base.h", ":made"],
)

genrule(
    name = "made",
    srcs = ["made.in"],
    outs = ["made.h"],
    cmd = "echo '#define MADE' `cat $<` > $@",
)
"""
RULES = """
def unit(name, **kwargs):
    native.cc_library(name = name, srcs = [name + ".cc"], alwayslink = True, **kwargs)

def _own():
    pass
"""
FILES = {
    "BUILD": BUILD,
    "rules.bzl": RULES,
    "c/answer.h": 'extern "C" int answer(void);\n',
    "answer.cc": '#include "c/answer.h"\n\n#include "base.h"\n\nint answer(void) { return base(); }\n',
    "base.h": "int base();\n",
    "base.cc": '#include "base.h"\n\n#include <string>\n\n#include "made.h"\n\nint base() { return std::stoi(std::to_string(MADE)); }\n',
    "made.in": "42\n",
}


@dataclass
class Project:
    """A main repository, its lock and its build folder below one folder."""

    folder: Path
    lock: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, text in FILES.items():
            self.write(name, text)
        self.lock = {
            "schema": 1, "ref": "tiny", "release": "v0.0.1", "main": "tiny",
            "repositories": {"tiny": {"path": "tiny"}}, "roots": ["//:answer"],
            "product": {"kind": "host", "library": "libTiny.so", "required": ["answer"], "allowed": ["answer"]},
        }  # fmt: skip

    @property
    def root(self) -> Path:
        return self.folder / "build" / "linux-x64" / "tiny"

    @property
    def host(self) -> Path:
        return self.root / "bazel-out/k8-opt/bin/host/libTiny.so"

    @property
    def bundles(self) -> list[Path]:
        return sorted((self.root / "bundle").glob("*.tar.gz"))

    def write(self, name: str, text: str) -> Path:
        file = self.folder / "tiny" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def replace(self, name: str, old: str, new: str) -> None:
        file = self.folder / "tiny" / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def arguments(self, *extra: str) -> list[str]:
        (self.folder / "lock.json").write_text(json.dumps(self.lock))
        places = (f"lock={self.folder / 'lock.json'}", f"build_dir={self.folder / 'build'}", f"store={self.folder / 'store'}")
        return [sys.executable, "-m", "SCons", "-Q", "offline=yes", "verbose=yes", *places, *extra]

    def scons(self, *extra: str, path: str | None = None) -> Result:
        """Run scons to its end; `path` replaces the PATH."""
        environment = {**os.environ, **({"PATH": path} if path is not None else {})}
        process = subprocess.run(
            self.arguments(*extra), cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        return Result(process.returncode, process.stdout + process.stderr)

    def copy_to(self, folder: Path) -> Project:
        """Return this project, with all it has built, in another place."""
        shutil.copytree(self.folder, folder, symlinks=True)
        other = Project(folder)
        other.lock = self.lock
        return other


def scons(*arguments: str) -> Result:
    """Run the repository's scons with these arguments alone."""
    process = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", *arguments], cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False
    )
    return Result(process.returncode, process.stdout + process.stderr)
