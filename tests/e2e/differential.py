"""Owns the differential test: random edits of one source tree, built with the dependency database and by plain SCons side by side.

python -m tests.e2e.differential --seed 1 --edits 2000        # by hand, from the repository's root

After each round of edits both builds must hold the same bytes, and the database must have run no step that plain SCons did not run, but
for steps it has a reason of its own for (an output edited by hand, a build that was interrupted, a header that could be found first).
Half of the builds with the database take objects from, and leave them in, a shared cache.
Every `SCRATCH` rounds a third build starts from nothing and must hold the same bytes too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.e2e.engine import REPOSITORY, Result

SCRATCH = 20
UNITS = 6
BUILD = """
cc_library(name = "low", srcs = glob(["low*.c"]), hdrs = ["low.h", "include/deep.h"], includes = ["first", "include"])
cc_library(name = "made_lib", srcs = ["made.c"], hdrs = [":made"], deps = [":low"])
cc_binary(name = "tool", srcs = ["tool.c"], deps = [":low"])
genrule(
    name = "made",
    srcs = ["made.in"],
    outs = ["made.h"],
    tools = [":tool"],
    cmd = "$(location :tool) `head -1 $<` > $@",
)
"""
UNIT = """
#include "low.h"
#include <deep.h>
int unit{number}(void) {{ return LOW + DEEP + {value}; }}
"""
TOOL = """
#include <stdio.h>
int main(int n, char** v) { printf("#define MADE (%s)\\n", v[n - 1]); return 0; }
"""
OVERLAY = """
cc_library(name = "extra", srcs = ["extra.c"], local_defines = ["EXTRA=1"], visibility = ["//visibility:public"])
"""


@dataclass
class Tree:
    """The sources, the lock and both builds, below one folder."""

    folder: Path
    random: random.Random
    own_reason: bool = False
    compiler: int = 0
    mended: list[Callable[[], object]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for unit in range(UNITS):
            self.write(f"unit{unit}.c", UNIT.format(number=unit, value=0))
        self.write("low.h", "#define LOW 1\n")
        self.write("include/deep.h", "#define DEEP 2\n")
        self.write("first/other.h", "\n")
        self.write("low0.c", '#include "low.h"\nint low0(void) { return LOW; }\n')
        self.write("made.c", '#include "low.h"\n#include "made.h"\nint made(void) { return MADE + LOW; }\n')
        self.write("made.in", "5\n")
        self.write("tool.c", TOOL)
        self.write_build({})
        self.outside("extra/extra.c", "int extra(void) { return EXTRA; }\n")
        self.outside("overlay.BUILD", OVERLAY)
        self.write_lock()
        self.write_compiler()

    # The parts of the tree

    def write(self, name: str, text: str) -> Path:
        return self.outside(f"main/{name}", text)

    def outside(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def write_build(self, attributes: dict[int, str], comment: str = "") -> None:
        units = "".join(
            f'cc_library(name = "unit{n}", srcs = ["unit{n}.c"], deps = [":low"]{attributes.get(n, "")})\n' for n in range(UNITS)
        )
        self.write("BUILD", f"# {comment}\n{BUILD}{units}")

    def write_lock(self, copts: tuple[str, ...] = ()) -> None:
        repositories = {"main": {"path": "main"}, "extra": {"path": "extra", "overlay": {"BUILD": "overlay.BUILD"}}}
        roots = [*(f"//:unit{number}" for number in range(UNITS)), "//:made_lib", "@extra//:extra"]
        lock = {"schema": 1, "ref": "random", "main": "main", "repositories": repositories, "roots": roots, "copts": copts}
        self.outside("lock.json", json.dumps({**lock, "product": {"kind": "objects"}}))

    def write_compiler(self) -> None:
        for name in ("gcc", "g++"):
            self.outside(f"bin/{name}", f'#!/bin/sh\n# {self.compiler}\nexec /usr/bin/{name} "$@"\n').chmod(0o755)

    # Builds

    def arguments(self, build: str, *extra: str) -> list[str]:
        folder = self.folder
        places = (f"lock={folder / 'lock.json'}", f"build_dir={folder / build}", f"cc={folder / 'bin/gcc'}", f"cxx={folder / 'bin/g++'}")
        return [
            sys.executable,
            "-m",
            "SCons",
            "-Q",
            "-k",
            "-j2",
            "offline=yes",
            "verbose=yes",
            f"store={folder / 'store'}",
            *places,
            *([f"cache={folder / 'cache'}"] if build == "on" and self.random.random() < 0.5 else ()),
            *extra,
        ]

    def scons(self, build: str, *extra: str) -> Result:
        process = subprocess.run(self.arguments(build, *extra), cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
        return Result(process.returncode, process.stdout + process.stderr)

    def outputs(self, build: str) -> dict[str, bytes]:
        top = self.folder / build / "linux-x64" / "random" / "bazel-out"
        return {
            str(file.relative_to(top)): file.read_bytes()
            for file in sorted(top.rglob("*"))
            if file.is_file() and file.suffix in (".o", ".h")
        }

    # Edits

    def edit_source(self, number: int | None = None) -> None:
        number = self.random.randrange(UNITS) if number is None else number
        self.write(f"unit{number}.c", UNIT.format(number=number, value=self.value()))

    def edit_header(self) -> None:
        self.random.choice(
            [
                lambda: self.write("low.h", f"#define LOW {self.value()}\n"),
                lambda: self.write("include/deep.h", f"#define DEEP {self.value()}\n"),
            ]
        )()

    def comment_header(self) -> None:
        file = self.folder / "main/low.h"
        if file.exists():
            file.write_text(f"{file.read_text().split('//')[0].strip()} // {self.value()}\n")

    def edit_generator_input(self) -> None:
        self.write("made.in", f"{self.random.randrange(3)}\n{self.value()}\n")

    def edit_generator_tool(self) -> None:
        self.write("tool.c", TOOL.replace("(%s)", f"(%s + {self.random.randrange(3)})"))

    def edit_flags(self) -> None:
        number = self.random.randrange(UNITS)
        choices = ["", f', copts = ["-DFLAG={self.value()}"]', f', local_defines = ["LOCAL={self.value()}"]', ', copts = ["-O1"]']
        self.write_build({number: self.random.choice(choices)})

    def comment_build(self) -> None:
        self.write_build({}, str(self.value()))

    def edit_overlay(self) -> None:
        self.outside("overlay.BUILD", OVERLAY.replace("EXTRA=1", f"EXTRA={self.value()}"))

    def change_option(self) -> None:
        self.write_lock(("-DOPTION",) if self.random.random() < 0.5 else ())

    def swap_compiler(self) -> None:
        self.compiler = self.random.randrange(2)
        self.write_compiler()

    def add_to_glob(self) -> None:
        self.write(f"low{self.random.randrange(1, 4)}.c", f"int more{self.value()}(void) {{ return 0; }}\n")

    def delete_from_glob(self) -> None:
        (self.folder / f"main/low{self.random.randrange(1, 4)}.c").unlink(missing_ok=True)

    def shadow_header(self) -> None:
        self.own_reason = True
        self.write("first/deep.h", f"#define DEEP {self.value()}\n")

    def unshadow_header(self) -> None:
        (self.folder / "main/first/deep.h").unlink(missing_ok=True)

    def touch(self) -> None:
        for file in (self.folder / "main").rglob("*"):
            if file.is_file():
                os.utime(file)

    def set_clock_back(self) -> None:
        self.edit_source()
        for file in (self.folder / "main").rglob("*"):
            if file.is_file() and self.random.random() < 0.5:
                os.utime(file, (1_000_000, 1_000_000 + self.random.randrange(1000)))

    def damage_output(self) -> None:
        self.own_reason = True
        top = self.folder / "on/linux-x64/random/bazel-out"
        files = sorted(file for file in top.rglob("*") if file.is_file() and file.suffix in (".o", ".h"))
        if files:
            file = self.random.choice(files)
            if self.random.random() < 0.5:
                file.unlink()
            else:
                file.write_bytes(file.read_bytes()[: self.random.randrange(50)] + b"x")

    def fail_compile(self) -> None:
        number = self.random.randrange(UNITS)
        self.write(f"unit{number}.c", "int broken(void) { return }\n")
        self.mended.append(partial(self.edit_source, number))

    def delete_header(self) -> None:
        file = self.folder / "main/low.h"
        if not file.exists():
            return
        text = file.read_text()
        file.unlink()
        self.mended.append(partial(self.write, "low.h", text))

    def interrupt(self) -> None:
        self.own_reason = True
        self.edit_header()
        process = subprocess.Popen(
            self.arguments("on"), cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(self.random.uniform(0.1, 1.2))
        number = self.random.choice([signal.SIGINT, signal.SIGKILL])
        if process.poll() is None:
            (os.killpg if self.random.random() < 0.5 else os.kill)(process.pid, number)
        process.wait(60)

    def build_a_part(self) -> None:
        """Bring one object up to date, and leave all else that the edits so far concern."""
        self.own_reason = True
        number = self.random.randrange(UNITS)
        self.scons("on", f"{self.folder}/on/linux-x64/random/bazel-out/k8-opt/bin/_objs/unit{number}/unit{number}.pic.o")

    def value(self) -> int:
        return self.random.randrange(1000)


COMMON = (
    "edit_source", "edit_header", "comment_header", "edit_generator_input", "edit_generator_tool", "edit_flags", "comment_build",
    "edit_overlay", "add_to_glob", "delete_from_glob", "shadow_header", "unshadow_header", "touch", "set_clock_back", "damage_output",
    "fail_compile", "delete_header", "interrupt", "build_a_part",
)  # fmt: skip
COSTLY = ("change_option", "swap_compiler")


def one_round(tree: Tree) -> int:
    """Apply one to three edits, build both ways and compare. Returns how many edits there were. Raises AssertionError."""
    tree.own_reason = False
    names = tree.random.choices((*COMMON, *COSTLY), weights=[3] * len(COMMON) + [1] * len(COSTLY), k=tree.random.randint(1, 3))
    for name in names:
        getattr(tree, name)()
        tree.counts[name] += 1
    if tree.mended:
        on, off = tree.scons("on"), tree.scons("off", "incremental=off")
        assert (on.code == 0) == (off.code == 0), f"{names}: {on.code} {off.code}\n{on.text}\n{off.text}"
        tree.own_reason = True
        for mend in tree.mended:
            mend()
        tree.mended.clear()
    on, off = tree.scons("on"), tree.scons("off", "incremental=off")
    assert on.code == 0 and off.code == 0, f"{names}\n{on.text}\n{off.text}"
    kept, plain = tree.outputs("on"), tree.outputs("off")  # plain SCons leaves what steps that are gone had made
    other = [name for name in kept if kept[name] != plain.get(name)]
    assert not other, f"{names}: other bytes in {other}\n{on.text}\n{off.text}"
    tree.counts["steps run"] += len(on.ran)
    tree.counts["steps restored"] += on.text.count(": restored from the cache")
    tree.counts["steps run by plain SCons"] += len(off.ran)
    assert tree.own_reason or on.ran <= off.ran, f"{names}: needlessly {on.ran - off.ran}\n{on.text}\n{off.text}"
    again = tree.scons("on")
    assert again.ran == set(), f"{names}: not up to date after the build\n{again.text}"
    return len(names)


def run(folder: Path, seed: int, edits: int) -> Counter[str]:
    """Run `edits` random edits below `folder`; returns how often each kind was made. Raises AssertionError with the edits and outputs."""
    tree = Tree(folder, random.Random(seed))
    done = rounds = 0
    while done < edits:
        done += one_round(tree)
        rounds += 1
        if rounds % SCRATCH == 0 or done >= edits:
            shutil.rmtree(folder / "scratch", ignore_errors=True)
            assert tree.scons("scratch").code == 0
            assert tree.outputs("scratch") == tree.outputs("on"), "other files than a build from nothing"
    tree.counts["rounds"] = rounds
    return tree.counts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--edits", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(run(Path(folder), options.seed, options.edits), indent=1))


if __name__ == "__main__":
    main()
