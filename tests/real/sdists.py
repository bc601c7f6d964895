"""Owns source archives of PyPI, pinned by sha256, kept in .cache/sdists.

sdists.sdist("orjson-3.10.18")        # Path(".../orjson-3.10.18.tar.gz")

pip fetches what is missing; a test that needs an archive which cannot be had is skipped by the archive's name.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "sdists"
SHA256 = {"orjson-3.10.18": "e8da3947d92123eda795b68228cafe2724815621fe35e8e320a9e9593a4bcd53"}


@cache
def sdist(name: str) -> Path:
    """Return the archive of `name`, fetched where it is missing. Skips the test where that fails; a wrong digest fails it."""
    path = CACHE / f"{name}.tar.gz"
    if not path.exists():
        project, _, version = name.rpartition("-")
        argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"--no-binary={project}", "-d", str(CACHE)]
        done = subprocess.run([*argv, f"{project}=={version}"], capture_output=True, text=True)
        if done.returncode or not path.exists():
            pytest.skip(f"{path.name} cannot be fetched: {done.stderr.strip().splitlines()[-1:]}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    assert found == SHA256[name], f"{path.name} has sha256 {found}"
    return path
