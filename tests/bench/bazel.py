"""Owns real Bazel as a peer, where it is installed: abseil built from nothing, and nothing to do for a server that runs and for a new one.

rows = Bazel(program, rules).measure(folder, full=1, often=5)

The workspace is the oracle's (tests/real/regenerate_oracle.py): a copy of the tree and Debian's rule sets, offline. Processor time and
memory are the server's; its compiler is the one that it finds, which may not be the one of the other rows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from litert_build.errors import BuildError

from tests.bench.measure import Row, Run, measured
from tests.real.cases import CASES
from tests.real.regenerate_oracle import FLAGS, STARTUP, lay_out
from tests.real.trees import TreeMissing

CASE = "abseil-20240722"
OPTIONS = (*FLAGS, "--cxxopt=-std=c++17", "--spawn_strategy=local")


@dataclass(frozen=True)
class Bazel:
    """A program, and the folder of rule sets that Debian's bazel-* packages fill."""

    program: str
    rules: Path

    def measure(self, folder: Path, full: int, often: int) -> list[Row]:
        """Return the rows. Raises BuildError where Bazel, its rules or the tree are not here, and where it fails."""
        if not shutil.which(self.program) or not (self.rules / "rules" / "cc").is_dir():
            mend = "name Bazel 7.7.1 and Debian's rule sets with --bazel PROGRAM --bazel-rules FOLDER"
            raise BuildError("Bazel is not here, or has no rules", where=f"{self.program}, {self.rules}", mend=mend)
        case = CASES[CASE]
        workspace = _Workspace(self.program, folder / "bazel" / "workspace", tuple(case.snapshot().provenance["roots"]))
        workspace.folder.parent.mkdir()
        try:
            lay_out(case, self.rules, workspace.folder)
        except TreeMissing as missing:
            raise BuildError(str(missing), where=CASE) from missing
        try:
            cold = [workspace.build(before=workspace.forget) for _ in range(full)]
            workspace.build()
            warm = [workspace.build() for _ in range(often)]
            new = [workspace.build(before=workspace.stop) for _ in range(full)]
        finally:
            workspace.stop()
        cases = {"full build": cold, "no-op": warm, "no-op, new server": new}
        return [Row.of("bazel", "bazel 7.7.1", name, runs) for name, runs in cases.items()]


@dataclass(frozen=True)
class _Workspace:
    program: str
    folder: Path
    roots: tuple[str, ...]

    def argv(self, command: str, *arguments: str) -> list[str]:
        return [self.program, *STARTUP, f"--output_base={self.folder.with_name('base')}", command, *arguments]

    def build(self, before: Callable[[], object] = lambda: None) -> Run:
        before()
        used = self._server()[0]
        run = measured(self.argv("build", *OPTIONS, *self.roots), self.folder)
        cpu, megabytes = self._server()
        return replace(run, cpu=cpu - used, megabytes=megabytes)

    def stop(self) -> None:
        subprocess.run(self.argv("shutdown"), cwd=self.folder, capture_output=True, check=False)

    def forget(self) -> None:
        subprocess.run(self.argv("clean", "--expunge"), cwd=self.folder, capture_output=True, check=True)

    def _server(self) -> tuple[float, float]:
        """Seconds of processor time and the largest memory in MB of the server with all it waited for; zeros where none runs (proc(5))."""
        try:
            pid = (self.folder.with_name("base") / "server" / "server.pid.txt").read_text().strip()
            ticks = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[11:15]
            peak = next(line for line in Path("/proc", pid, "status").read_text().splitlines() if line.startswith("VmHWM"))
        except (OSError, StopIteration):
            return 0.0, 0.0
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1000
