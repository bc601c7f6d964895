"""Owns the programs that the making of a tree runs: patch_cmds by the shell, git; each bounded in time, its output kept for the error.

run(["git", "fetch"], cwd=folder, where="WORKSPACE:12", what="git fetch failed")
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from litert_build.errors import BuildError


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    where: str,
    what: str,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    mend: str = "",
    merged: bool = False,
) -> str:
    """Run a program and return its standard output (`merged`: and standard error).

    Raises BuildError `what` with its last lines where it fails, is missing or hangs.
    """
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError as error:
        raise BuildError(f"{what}: {argv[0]} is not installed", where=where, mend=f"install {argv[0]}") from error
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{what}: no end within {timeout:.0f} s", where=where, mend=mend) from error
    if done.returncode:
        raise BuildError(f"{what} (exit {done.returncode})", where=where, notes=(done.stdout + done.stderr).splitlines()[-20:], mend=mend)
    return done.stdout + done.stderr if merged else done.stdout


def run_patch_commands(commands: Sequence[str], windows_commands: Sequence[str], folder: Path, where: str) -> None:
    """Run patch_cmds in a tree, each by `bash -c`; on Windows patch_cmds_win by PowerShell where there are any (Bazel: http_archive).

    Raises BuildError with the command and what it printed.
    """
    if os.name == "nt" and windows_commands:
        shell, commands = ["powershell", "-NoProfile", "-Command"], windows_commands
    else:
        shell = [shutil.which("bash") or "bash", "-c"]
    for command in commands:
        run(
            [*shell, command],
            cwd=folder,
            where=where,
            what=f"a patch command failed: {command}",
            env={"LC_ALL": "C"},
            mend="correct patch_cmds",
        )
