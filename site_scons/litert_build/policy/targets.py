"""Owns the platform table: one row a target, everything that differs between platforms.

TARGETS["linux-x64"].library       # 'libLiteRtLm.so'
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from typing import Literal

from litert_build.errors import BuildError, nearest


@dataclass(frozen=True)
class Target:
    """One platform. `constraints` are the constraint_value labels that hold for select(); `cpu` is Bazel's --cpu value, which also
    names the output folder (`<cpu>-opt`); `system_libraries` are the names a host may need without bundling them."""

    name: str
    aliases: tuple[str, ...]
    os: str
    arch: str
    cpu: str
    constraints: tuple[str, ...]
    format: Literal["elf", "pe", "macho"]
    library: str
    toolchains: tuple[str, ...]
    system_libraries: tuple[str, ...]
    runner: Literal["native", "qemu", "wine", "none"] = "none"

    @property
    def is_this_machine(self) -> bool:
        """Whether this machine runs the target's programs itself."""
        return (self.os, self.arch) == this_machine()


TARGETS: dict[str, Target] = {
    row.name: row
    for row in (
        Target(
            name="linux-x64",
            aliases=("linux-x86_64", "linux_x86_64", "linux-amd64"),
            os="linux",
            arch="x64",
            cpu="k8",
            constraints=("@platforms//os:linux", "@platforms//cpu:x86_64"),
            format="elf",
            library="libLiteRtLm.so",
            toolchains=("gcc", "clang"),
            system_libraries=("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"),
            runner="native",
        ),
    )
}


def find_target(name: str) -> Target:
    """Return the row of a target name or alias. Raises BuildError that names the nearest one."""
    for row in TARGETS.values():
        if name == row.name or name in row.aliases:
            return row
    known = [*TARGETS, *(alias for row in TARGETS.values() for alias in row.aliases)]
    raise BuildError(
        f"unknown target {name!r}", where="target=", mend=nearest(name, known) or f"one of {', '.join(TARGETS)}; scons targets lists them"
    )


def this_machine() -> tuple[str, str]:
    """Return (os, arch) of the machine this runs on, in the table's words where it has them."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), platform.machine())
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    return system, machine


def host_target() -> str:
    """Return the target name of the machine this runs on, or raise BuildError where it is not a row of the table."""
    return find_target("-".join(this_machine())).name
