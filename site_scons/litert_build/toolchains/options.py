"""Owns what the command line may say about a toolchain, and the checks that every compiler module shares.

Options(cxx="g++-14", runtime="libstdc++")
"""

from __future__ import annotations

from dataclasses import dataclass

from litert_build.errors import BuildError
from litert_build.toolchains.probe import Tool


@dataclass(frozen=True)
class Options:
    """cc=, cxx=, sysroot= and runtime= as given; empty means the toolchain's default. Nothing of it comes from the environment."""

    cc: str = ""
    cxx: str = ""
    sysroot: str = ""
    runtime: str = ""


def require_version(name: str, tool: Tool, minimum: tuple[int, ...], mend: str) -> None:
    """Raise BuildError where `tool` is older than the first version of `name` that builds upstream's C++20."""
    if tool.version[: len(minimum)] < minimum:
        need = ".".join(map(str, minimum))
        raise BuildError(
            f"{tool.path} is too old for C++20: {tool.version_line}", where=f"toolchain={name}", mend=f"{name} {need} or later: {mend}"
        )
