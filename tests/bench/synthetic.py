"""Owns the synthetic project of the benchmark: N units in N/4 libraries, 4/3 N headers, about 300 headers a unit through 17 include roots.

project = Synthetic.make(Path("bench"), units=6000)
project.deep_header, project.readers(project.deep_header)
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

ROOTS = 17
CORE = 300
HEADERS_A_UNIT = 300
UNITS_A_LIBRARY = 4
LIBRARIES_A_PACKAGE = 5
PADDING = "// " + "x" * 76 + "\n"


@dataclass(frozen=True)
class Synthetic:
    """The folder, its lock, and what each unit reads."""

    folder: Path
    units: tuple[str, ...]
    read: dict[str, tuple[str, ...]]

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    @property
    def deep_header(self) -> str:
        """The header that every unit reads."""
        return "root00/h00000.h"

    def readers(self, header: str) -> int:
        return sum(header in headers for headers in self.read.values())

    @staticmethod
    def make(folder: Path, units: int) -> Synthetic:
        """Write the project; the same number of units gives the same project."""
        chance = random.Random(units)
        headers = [f"root{number % ROOTS:02d}/h{number:05d}.h" for number in range(units * 4 // 3)]
        tree = folder / "tree"
        for root in range(ROOTS):
            (tree / f"root{root:02d}").mkdir(parents=True, exist_ok=True)
        for header in headers:
            (tree / header).write_text(PADDING * chance.randint(20, 150))
        names, read = [], {}
        for unit in range(units):
            package = unit // (UNITS_A_LIBRARY * LIBRARIES_A_PACKAGE)
            name = f"src/p{package:04d}/u{unit:05d}.cc"
            near = max(0, unit - 400)
            chosen = {headers[0], *chance.sample(headers[:CORE], min(CORE, len(headers), HEADERS_A_UNIT // 2))}
            chosen.update(chance.choice(headers[near : near + 800]) for _ in range(HEADERS_A_UNIT // 2))
            names.append(name)
            read[name] = tuple(sorted(chosen))
            source, listed = tree / name, tree / "lists" / name
            source.parent.mkdir(parents=True, exist_ok=True)
            listed.parent.mkdir(parents=True, exist_ok=True)
            includes = "".join(f'#include "{Path(header).name}"\n' for header in read[name])  # for plain SCons, whose scanner looks
            source.write_text(f"{includes}int f{unit}() {{ return {unit}; }}\n" + PADDING * chance.randint(20, 200))
            listed.write_text("\n".join(read[name]) + "\n")
        project = Synthetic(folder, tuple(names), read)
        project._write_build_files()
        return project

    def _write_build_files(self) -> None:
        roots = [f"-Iroot{root:02d}" for root in range(ROOTS)]
        labels = []
        for first in range(0, len(self.units), UNITS_A_LIBRARY * LIBRARIES_A_PACKAGE):
            names = [Path(name).name for name in self.units[first : first + UNITS_A_LIBRARY * LIBRARIES_A_PACKAGE]]
            package = Path(self.units[first]).parent
            lines = ['package(default_visibility = ["//visibility:public"])']
            for start in range(0, len(names), UNITS_A_LIBRARY):
                label = f"l{first + start:05d}"
                sources = json.dumps(names[start : start + UNITS_A_LIBRARY])
                attributes = f'srcs = {sources}, copts = {json.dumps(roots)}, local_defines = ["{label}"], deps = ["//:headers"]'
                lines.append(f'cc_library(name = "{label}", {attributes})')
                labels.append(f"//{package}:{label}")
            (self.tree / package / "BUILD").write_text("\n".join(lines) + "\n")
        headers = 'cc_library(name = "headers", hdrs = glob(["root*/*.h"]), visibility = ["//visibility:public"])\n'
        (self.tree / "BUILD").write_text(headers)
        lock = {"schema": 1, "ref": "bench", "main": "bench", "repositories": {"bench": {"path": "tree"}}, "roots": labels}
        (self.folder / "lock.json").write_text(json.dumps({**lock, "product": {"kind": "objects"}}))
