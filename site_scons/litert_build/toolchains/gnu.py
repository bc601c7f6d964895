"""Owns what the gcc-style drivers (gcc, clang, zig c++, the NDK's and Apple's clang) have in common.

GnuToolchain(name="gcc", target=target, cc=cc, cxx=cxx, ...).compile_argv(action)
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from litert_build.actions import Archive, Compile, Link
from litert_build.policy.targets import Target
from litert_build.toolchains.flag_tables import Dialect, LinkDialect
from litert_build.toolchains.flags import render, render_link
from litert_build.toolchains.linkmodel import HostFiles, elf_host
from litert_build.toolchains.probe import Tool, find_tool, fixed_environment


@dataclass(frozen=True)
class GnuToolchain:
    """A gcc-style driver pair for one target.

    `strip` and `ar` are the names of programs that know the target, `driver` the arguments of every call (target triple, sysroot),
    `compile_flags` those of every compile, `cxx_flags` those of C++ compiles (which standard library), `last_flags` those
    that win over a compile's own, `link_flags` those of every link, `runtime_link_flags` those that link the C++ runtime into a host.
    """

    name: str
    target: Target
    cc: Tool
    cxx: Tool
    strip: tuple[str, ...]
    cxx_runtime: str
    dialect: Dialect
    link_dialect: LinkDialect = "elf"
    driver: tuple[str, ...] = ()
    compile_flags: tuple[str, ...] = ()
    cxx_flags: tuple[str, ...] = ()
    last_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    runtime_link_flags: tuple[str, ...] = ()
    lld: bool = False
    ar: tuple[str, ...] = ("ar",)

    @property
    def identity(self) -> str:
        tools = dict.fromkeys(f"{tool.version_line} sha256:{tool.sha256}" for tool in (self.cc, self.cxx))
        return "; ".join(
            (self.name, *tools, *self.driver, *self.compile_flags, *self.cxx_flags, *self.last_flags, *self.link_flags, self.cxx_runtime)
        )

    @property
    def writes_link_map(self) -> bool:
        return True

    @property
    def environment(self) -> Mapping[str, str]:
        """On Linux the working folder has a name that is the same everywhere: compilers write it into debug information."""
        folder = {"PWD": "/proc/self/cwd"} if sys.platform == "linux" else {}
        return {**fixed_environment(self.cc.path, self.cxx.path), **folder}

    def command(self, cxx: bool) -> list[str]:
        """The driver and its fixed arguments."""
        return [self.cxx.path if cxx else self.cc.path, *self.driver]

    def compile_argv(self, action: Compile) -> list[str]:
        """The compile command in the order of Bazel's: leading -U of the flag table, defines, includes, then the flags.

        A later -U or -D wins with these drivers, so the table's -U must stand before the defines and a target's own -U after them.
        """
        cxx = action.language in ("c++", "objc++")
        undefines, flags = _split_leading_undefines(action.flags)
        argv = [*self.command(cxx), *self.compile_flags, *(self.cxx_flags if cxx else ()), *undefines]
        argv += [f"-D{define}" for define in action.defines]
        for kind, path in action.includes:
            argv += [f"-I{path}"] if kind == "-I" else [kind, path]
        argv += [
            *render(flags, self.dialect),
            *self.last_flags,
            f"-frandom-seed={action.output}",
            "-MD",
            "-MF",
            action.depfile,
            "-c",
            action.source,
            "-o",
            action.output,
        ]
        return argv

    def archive_argv(self, action: Archive, response_file: str) -> list[str]:
        """A thin archive where the linker reads one: it holds paths and an index, so that making it costs no copy (GNU ar, "--thin")."""
        thin = ["--thin"] if self.target.format == "elf" else []
        return [*self.archiver(), "qcsD", *thin, action.output, f"@{response_file}"]

    def archiver(self) -> list[str]:
        tool = find_tool(self.ar, f"ar for {self.target.name}", "apt-get install binutils llvm-19", where=f"toolchain={self.name}")
        return [tool.path]

    def archive_lines(self, action: Archive) -> list[str]:
        return [quote(path) for path in action.objects]

    def link_argv(self, action: Link, response_file: str) -> list[str]:
        return [*self.command(cxx=True), f"@{response_file}"]

    def response_lines(self, action: Link) -> list[str]:
        """The linker's arguments, a line each, quoted as gcc reads response files (GCC manual, "Overall Options", @file)."""
        kind = ["-shared"] if action.kind == "shared" else []
        user = render_link(action.flags, self.link_dialect)
        arguments = [
            *kind,
            "-o",
            action.output,
            *self._linked_files(action),
            *user,
            *action.platform_flags,
            *self.link_flags,
        ]
        return [quote(argument) for argument in arguments]

    def _linked_files(self, action: Link) -> tuple[str, ...]:
        """GNU ld looks through an archive once, unless it is in a group: a prebuilt archive may need what only the archive before it has
        (GNU ld manual, "--start-group"). lld and Apple's linker go back by themselves."""
        prebuilt = [library for library in action.libraries if library.endswith((".a", ".lo"))]
        if self.lld or self.target.format == "macho" or not (action.archive and prebuilt):
            return linked_files(action)
        return (*action.objects, "-Wl,--start-group", action.archive, *action.libraries, "-Wl,--end-group")

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        flags = elf_host(files)
        if self.lld:
            # lld refuses a version script that names an undefined symbol; the gate names the missing export with its reason.
            flags.append("-Wl,--undefined-version")
        return (*flags, *self.runtime_link_flags)

    def strip_argv(self, library: str, output: str) -> list[str]:
        tool = find_tool(self.strip, f"strip for {self.target.name}", "apt-get install binutils llvm-19", where="debug_symbols=split")
        return [tool.path, "--strip-unneeded", "-o", output, library]


def _split_leading_undefines(flags: tuple[str, ...]) -> tuple[list[str], list[str]]:
    count = 0
    while count < len(flags) and flags[count].startswith("-U"):
        count += 1
    return [*flags[:count]], [*flags[count:]]


def linked_files(action: Link) -> tuple[str, ...]:
    """What a link takes, in its order: objects, the archive of what is linked if needed, prebuilt libraries."""
    return (*action.objects, *((action.archive,) if action.archive else ()), *action.libraries)


def quote(argument: str) -> str:
    """Quote one argument for a response file: white space, quotes and backslashes are escaped."""
    if argument and not any(letter in argument for letter in " \t\r\n\v\f\"'\\"):
        return argument
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def driver_pair(cc: str, cxx: str, pairs: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Complete a pair of which the command line gave one half: `pairs` are (C name, C++ name) fragments such as ("gcc", "g++")."""
    for c_name, cxx_name in pairs:
        if cc and not cxx and c_name in cc:
            return cc, cxx_name.join(cc.rsplit(c_name, 1))
        if cxx and not cc and cxx_name in cxx:
            return c_name.join(cxx.rsplit(cxx_name, 1)), cxx
    return cc or cxx, cxx or cc
