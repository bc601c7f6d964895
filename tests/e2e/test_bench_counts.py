"""What deciding costs, as counts over the benchmark's project: files looked at, files read, nodes defined, steps run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.bench.engines import Scons, ninja_program
from tests.bench.projects import Project, stub_compilers
from tests.bench.report import read_rows
from tests.bench.synthetic import Synthetic
from tests.e2e.engine import REPOSITORY

UNITS = 200
WHAT_ONLY_BUILDS_NEED = {
    "litert_build.bazel", "litert_build.checks", "litert_build.incremental.session", "litert_build.sources", "litert_build.toolchains",
    "filelock", "packaging", "platformdirs",
}  # fmt: skip


def counts(project: Project) -> tuple[dict[str, int], int]:
    """Build; return the counts that scons prints, and how many steps ran."""
    run = subprocess.run(
        [*Scons(project).argv(), "verbose=yes"], cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=300
    ).stdout
    found = re.search(r"counts (\d+) stats, (\d+) hashes, (\d+) changed, (\d+) nodes", run)
    assert found, run
    return dict(zip(("stats", "hashes", "changed", "nodes"), map(int, found.groups()))), len(re.findall("^ran ", run, re.MULTILINE))


def modules_of_a_null_build(project: Project) -> set[str]:
    """Return the modules that a run imports in which nothing moved: they are half of what it costs."""
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    argv = Scons(project).argv()
    run = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=300, env=environment)
    assert "up to date, 0 actions run" in run.stdout
    modules = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    assert "litert_build.incremental.database" in modules
    return modules


def test_counts(tmp_path: Path) -> None:
    project = Synthetic.make(tmp_path, UNITS)
    files = 2 * UNITS + len({header for headers in project.read.values() for header in headers})
    built = Project("synthetic", tmp_path, tmp_path / "lock.json", stub_compilers(tmp_path / "bin"))
    first, ran = counts(built)
    assert (first["nodes"], ran) == (UNITS, UNITS)

    nothing, ran = counts(built)
    assert (nothing["nodes"], nothing["changed"], ran) == (0, 0, 0)
    assert nothing["stats"] < files + 1500  # BUILD files, our own code, folders that were searched

    assert modules_of_a_null_build(built) & WHAT_ONLY_BUILDS_NEED == set()

    source = project.tree / project.units[7]
    source.write_text(source.read_text() + "int more;\n")
    one, ran = counts(built)
    assert (one["nodes"], one["hashes"], one["changed"], ran) == (1, 1, 1, 1)

    header = project.tree / sorted(project.read[project.units[0]])[3]
    readers = project.readers(str(header.relative_to(project.tree)))
    header.write_text(header.read_text() + "// more\n")
    some, ran = counts(built)
    assert (some["nodes"], some["hashes"], ran) == (readers, 1, readers)


@pytest.mark.skipif(not shutil.which(ninja_program()), reason="not installed: ninja")
def test_the_benchmark_counts_the_same_work_on_each_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "speed.json"
    assert main(["--rows", "synthetic:40", "plain:40", "--repeat", "1", "--full", "1", "--json", str(kept)]) == 0
    ran = {(row.engine, row.case): row.ran for row in read_rows(kept)}
    work = {"full build": 40, "no-op": 0, "one source": 1, "deep header": 40}
    assert ran == {(engine, case): count for engine in ("scons", "ninja", "plain scons") for case, count in work.items()} | {
        ("scons", "warm cache"): 40
    }
    assert "ok      commands that ran needlessly, or did not run: 0" in capsys.readouterr().out
