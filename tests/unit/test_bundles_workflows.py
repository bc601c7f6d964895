"""The CI recipes: valid workflows whose steps run scons and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github" / "workflows").glob("*.yml"))
MATRIX = 'echo "targets=$(scons -Q targets format=json)" >> "$GITHUB_OUTPUT"'
ACTIONLINT = shutil.which("actionlint") or shutil.which("actionlint", path=str(Path(sys.executable).parent))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_steps_run_scons_only(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    commands = re.findall(r"^\s+run: (.*)$", text, re.MULTILINE)
    assert commands
    others = [command for command in commands if command.split()[0] not in ("scons", "pip")]
    assert others == [command for command in others if command == MATRIX]
    assert all(command.startswith("pip install --require-hashes -r requirements.txt") for command in commands if command.startswith("pip"))


def test_the_matrix_is_that_of_the_target_table() -> None:
    text = next(file for file in WORKFLOWS if file.name == "bundles.yml").read_text(encoding="utf-8")
    assert MATRIX in text and "fromJSON(needs.matrix.outputs.targets)" in text


@pytest.mark.skipif(ACTIONLINT is None, reason="actionlint is absent: pip install -r tests/requirements.txt")
@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actionlint(file: Path) -> None:
    assert ACTIONLINT
    done = subprocess.run([ACTIONLINT, "-no-color", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
