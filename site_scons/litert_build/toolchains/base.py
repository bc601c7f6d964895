"""Owns the contract every toolchain module fulfils: it renders the typed action list for one compiler family.

toolchain = find_toolchain("gcc", target)
toolchain.compile_argv(action)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from litert_build.actions import Archive, Compile, Link
from litert_build.policy.targets import Target
from litert_build.toolchains.linkmodel import HostFiles


class Toolchain(Protocol):
    """A compiler family set up for one target (or, for exec tools, for this machine).

    `identity` names what must rebuild everything when it changes: versions and digests of the tools. argv lists are for a process
    whose working directory is the execution root and whose whole environment is `environment`; `response_file` is where the
    linker's long argument list is written by the caller from `response_lines`.
    """

    @property
    def name(self) -> str: ...

    @property
    def target(self) -> Target: ...

    @property
    def identity(self) -> str: ...

    @property
    def cxx_runtime(self) -> str:
        """The C++ runtime and how it is linked, as the bundle's manifest words it: "libstdc++, static"."""
        ...

    @property
    def environment(self) -> Mapping[str, str]: ...

    def compile_argv(self, action: Compile) -> list[str]: ...

    def archive_argv(self, action: Archive, response_file: str) -> list[str]:
        """The command that makes a static archive of the objects in the response file. Raises BuildError where there is no archiver."""
        ...

    def archive_lines(self, action: Archive) -> list[str]: ...

    def link_argv(self, action: Link, response_file: str) -> list[str]: ...

    def response_lines(self, action: Link) -> list[str]: ...

    @property
    def writes_link_map(self) -> bool:
        """Whether its linker can say what went into a host."""
        ...

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        """The flags that make a shared library a host: its name, its export list, hardening, its C++ runtime, a link map."""
        ...

    def strip_argv(self, library: str, output: str) -> list[str]:
        """The command that writes `library` without debug information and local symbols to `output`. Raises BuildError where no
        strip program for the target is there."""
        ...
