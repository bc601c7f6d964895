"""Owns the contract every toolchain module fulfils: it renders the typed action list for one compiler family.

toolchain = find_toolchain("gcc", target)
toolchain.compile_argv(action)
"""

from __future__ import annotations

from typing import Protocol

from litert_build.actions import Compile, Link


class Toolchain(Protocol):
    """A compiler family set up for one target (or, for exec tools, for this machine).

    `identity` names what must rebuild everything when it changes: versions and digests of the tools. argv lists are for a process
    whose working directory is the execution root; `response_file` is where the linker's long argument list is written by the caller
    from `response_lines`.
    """

    name: str
    identity: str
    cxx_runtime: str  # "libstdc++" or "libc++", and how it is linked, as the bundle's manifest words it

    def compile_argv(self, action: Compile) -> list[str]: ...

    def link_argv(self, action: Link, response_file: str) -> list[str]: ...

    def response_lines(self, action: Link) -> list[str]: ...

    def host_link_flags(self, soname: str, version_script: str) -> tuple[str, ...]: ...

    def missing(self) -> list[tuple[str, str]]:
        """(what is missing, the command that installs it) for this machine; empty where the toolchain can build."""
        ...
