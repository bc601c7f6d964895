"""Owns the published libraries that the readers and rules are held to: Python wheels, pinned by sha256, kept in .cache/wheels.

wheels.library("litert_lm_api-0.18.1-py3-none-manylinux_2_27_x86_64", "liblitert-lm.so")

pip fetches what is missing; a test that needs a wheel which cannot be had is skipped by the wheel's name.
"""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "wheels"
TARGETS = {
    "manylinux_2_27_x86_64": "linux-x64", "manylinux_2_35_x86_64": "linux-x64", "manylinux_2_27_aarch64": "linux-arm64",
    "manylinux_2_35_aarch64": "linux-arm64", "macosx_12_0_arm64": "macos-arm64", "win_amd64": "windows-x64",
    "android_23_arm64_v8a": "android-arm64", "android_23_x86_64": "android-x64",
}  # fmt: skip
SHA256 = {
    name.removesuffix(".whl"): digest
    for digest, name in (line.split() for line in Path(__file__).with_suffix(".sha256").read_text(encoding="utf-8").splitlines())
}
_SUFFIXES = (".so", ".dll", ".dylib", ".pyd")


@cache
def wheel(name: str) -> Path:
    """Return the wheel `name` (without .whl), fetched where it is missing. Skips the test where that fails; a wrong digest fails it."""
    path = CACHE / f"{name}.whl"
    if not path.exists():
        project, version, python, abi, platform = name.split("-", 4)
        argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(CACHE)]
        version_of_python = python[2:] if len(python) > 3 else "312"  # "py3" fits any 3, but pip compares what the project requires
        argv += ["--platform", platform, "--implementation", python[:2], "--python-version", version_of_python, "--abi", abi]
        done = subprocess.run([*argv, f"{project}=={version}"], capture_output=True, text=True)
        if done.returncode or not path.exists():
            pytest.skip(f"{name}.whl cannot be fetched: {done.stderr.strip().splitlines()[-1:]}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    assert found == SHA256[name], f"{path.name} has sha256 {found}"
    return path


def folder(name: str) -> Path:
    """Return the folder that the wheel's files are unpacked into, once."""
    target, source = CACHE / "unpacked" / name, wheel(name)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch, zipfile.ZipFile(source) as archive:
            archive.extractall(Path(scratch) / name)
            with contextlib.suppress(OSError):  # another test process was first
                (Path(scratch) / name).rename(target)
    return target


def libraries(name: str) -> list[Path]:
    """Return the native libraries of a wheel, sorted by path."""
    return sorted(path for path in folder(name).rglob("*") if path.suffix in _SUFFIXES)


def library(name: str, file: str) -> Path:
    """Return the one library of a wheel that is called `file`."""
    (found,) = [path for path in libraries(name) if path.name == file]
    return found


def target_of(name: str) -> str:
    """Return the target whose platform tag a wheel carries."""
    return TARGETS[name.split("-", 4)[4]]
