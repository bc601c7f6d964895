"""Owns finding tools on this machine and telling them apart: the path, the version and the digest of a compiler.

tool = find_tool(("g++",), "C++ compiler of toolchain=gcc", "apt-get install g++")
tool.version_line       # 'g++ (Debian 12.2.0-14+deb12u1) 12.2.0'
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from litert_build.errors import BuildError

_FIXED_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


@dataclass(frozen=True)
class Tool:
    """An executable: `path` as it is called, the first line of its version text, and the sha256 of the file behind it."""

    path: str
    version_line: str
    sha256: str

    @property
    def version(self) -> tuple[int, ...]:
        """The version in the version line, empty where there is none: clang's and cl's follow the word, gcc's the closing bracket.
        MinGW's is "12-posix"."""
        text = re.sub(r"\([^)]*\)", " ", self.version_line)
        found = re.search(r"[Vv]ersion (\d+(?:\.\d+)*)", text) or re.search(r"\s(\d+(?:\.\d+)*)\S*", f" {text}")
        return tuple(int(part) for part in found.group(1).split(".")) if found else ()


def find_tool(names: Sequence[str], purpose: str, mend: str, *, where: str = "", version_argument: str = "--version") -> Tool:
    """Return the first of `names` (commands or paths) that exists. Raises BuildError that says which were looked for."""
    for name in names:
        found = shutil.which(name)
        if found:
            return examine(found, version_argument)
    looked = ", ".join(names)
    raise BuildError(f"no {purpose}: {looked} not found", where=where, mend=mend)


def examine(path: str, version_argument: str = "--version") -> Tool:
    """Return what is known of the executable at `path`. Raises BuildError where it does not run."""
    if not version_argument:
        return Tool(path, "", digest(path))
    return Tool(path, _version_line(path, version_argument), digest(path))


@cache
def _version_line(path: str, argument: str) -> str:
    try:
        run = subprocess.run([path, argument], capture_output=True, text=True, timeout=60, env=fixed_environment(path), check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{path} does not run: {error}", mend="name a working compiler with cc=PATH cxx=PATH") from error
    lines = [line.strip() for line in (run.stdout + run.stderr).splitlines() if line.strip()]
    if run.returncode != 0 or not lines:
        raise BuildError(
            f"{path} {argument} failed with exit code {run.returncode}",
            notes=lines[:3],
            mend="name a working compiler with cc=PATH cxx=PATH",
        )
    return next((line for line in lines if re.search(r"\d+\.\d+", line)), lines[0])  # cl.exe's banner is on the other stream


@cache
def digest(path: str) -> str:
    """Return the sha256 (hexadecimal) of the file that `path` resolves to."""
    sha = hashlib.sha256()
    with Path(path).resolve().open("rb") as stream:
        while block := stream.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def fixed_environment(*tools: str) -> dict[str, str]:
    """Return the whole environment of a command: a fixed PATH (folders of `tools` first), the C locale, and where temporary files
    go. Nothing of CC, CFLAGS, CPATH or LIBRARY_PATH of the calling shell reaches a compiler."""
    folders = [str(Path(tool).parent) for tool in tools if os.sep in tool]
    system = [os.path.join(os.environ["SYSTEMROOT"], "System32")] if sys.platform == "win32" else _FIXED_PATH  # noqa: PTH118
    environment = {"PATH": os.pathsep.join(dict.fromkeys((*folders, *system))), "LC_ALL": "C"}
    for name in ("TMPDIR", "TEMP", "TMP", "SYSTEMROOT"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return environment
