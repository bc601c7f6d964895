"""Owns running a target's programs on this machine: natively, under qemu-user or under wine.

run_argv(find_target("linux-arm64"), "smoke")     # ['/usr/bin/qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', 'smoke']
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.probe import find_tool, fixed_environment

# Where Debian's cross libraries are, which qemu looks into before the machine's own.
_LOADER_ROOT = {"arm64": "/usr/aarch64-linux-gnu", "x64": "/usr/x86_64-linux-gnu"}
_QEMU = {"arm64": ("qemu-aarch64", "qemu-aarch64-static"), "x64": ("qemu-x86_64", "qemu-x86_64-static")}


def run_argv(target: Target, program: str, arguments: Sequence[str] = ()) -> list[str]:
    """Return the command that runs `program` of `target` here.

    Raises BuildError where the row names no runner, where the runner is not installed, or where this machine's CPU lacks what the
    target's code is compiled for.
    """
    if target.is_this_machine:
        require_cpu(target, _cpu_flags())
        return [program, *arguments]
    if target.runner == "wine":
        wine = find_tool(("wine64", "wine", "/usr/lib/wine/wine64"), f"wine for {target.name}", "apt-get install wine64")
        return [wine.path, program, *arguments]
    if target.runner in ("qemu", "native"):
        qemu = find_tool(_QEMU[target.arch], f"qemu for {target.name}", "apt-get install qemu-user")
        return [qemu.path, "-L", _LOADER_ROOT[target.arch], program, *arguments]
    raise BuildError(f"{target.name} cannot be run on this machine", where="target=", mend=f"run it on {target.os} {target.arch}")


def run_environment(target: Target, folder: Path) -> dict[str, str]:
    """Return the whole environment of a run; wine's prefix lives in `folder`, its messages are off, its file names are UTF-8."""
    if target.runner == "wine" and not target.is_this_machine:
        return {**fixed_environment(), "WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    return fixed_environment()


def require_cpu(target: Target, cpu_flags: frozenset[str]) -> None:
    """Raise BuildError where the target's code is compiled for instructions that this machine lacks. An empty set is unknown.

    Exec tools never get the target's -m flags, so they run on any machine; only running the target's own code needs this.
    """
    needed = {flag.removeprefix("-m") for flag in target.flags.copts if flag in ("-mavx", "-mavx2", "-mavx512f")}
    missing = sorted(needed - cpu_flags)
    if cpu_flags and missing:
        raise BuildError(
            f"this machine's CPU lacks {', '.join(missing)}, which {target.name} is compiled for",
            where="target=",
            mend="build here, and run the smoke test on a machine that has it",
        )


def _cpu_flags() -> frozenset[str]:
    cpuinfo = Path("/proc/cpuinfo")
    if sys.platform != "linux" or not cpuinfo.exists():
        return frozenset()
    line = next((line for line in cpuinfo.read_text(encoding="utf-8").splitlines() if line.startswith("flags")), "")
    return frozenset(line.partition(":")[2].split())
