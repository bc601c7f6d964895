"""Owns what the gcc-style drivers (gcc, clang, zig c++, the NDK's and Apple's clang) have in common.

GnuToolchain(name="gcc", target=target, cc=cc, cxx=cxx, ...).compile_argv(action)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from litert_build.actions import Compile, Link
from litert_build.policy.targets import Target
from litert_build.toolchains.probe import Tool, fixed_environment


@dataclass(frozen=True)
class GnuToolchain:
    """A gcc-style driver pair for one target.

    `driver` holds the arguments of every call (target triple, sysroot), `cxx_flags` those of C++ compiles (which standard library),
    `link_flags` those of every link, `runtime_link_flags` those that link the C++ runtime into a host.
    """

    name: str
    target: Target
    cc: Tool
    cxx: Tool
    strip: str
    cxx_runtime: str
    driver: tuple[str, ...] = ()
    cxx_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    runtime_link_flags: tuple[str, ...] = ()
    lld: bool = False

    @property
    def identity(self) -> str:
        tools = dict.fromkeys(f"{tool.version_line} sha256:{tool.sha256}" for tool in (self.cc, self.cxx))
        return "; ".join((self.name, *tools, *self.driver, *self.cxx_flags, self.cxx_runtime))

    @property
    def environment(self) -> Mapping[str, str]:
        return fixed_environment(self.cc.path, self.cxx.path)

    def command(self, cxx: bool) -> list[str]:
        """The driver and its fixed arguments."""
        return [self.cxx.path if cxx else self.cc.path, *self.driver]

    def compile_argv(self, action: Compile) -> list[str]:
        """The compile command in the order of Bazel's: leading -U of the flag table, defines, includes, then the flags.

        A later -U or -D wins with these drivers, so the table's -U must stand before the defines and a target's own -U after them.
        """
        cxx = action.language in ("c++", "objc++")
        undefines, flags = _split_leading_undefines(action.flags)
        argv = [*self.command(cxx), *(self.cxx_flags if cxx else ()), *undefines]
        argv += [f"-D{define}" for define in action.defines]
        for kind, path in action.includes:
            argv += [f"-I{path}"] if kind == "-I" else [kind, path]
        argv += [*flags, f"-frandom-seed={action.output}", "-MD", "-MF", action.depfile, "-c", action.source, "-o", action.output]
        return argv

    def link_argv(self, action: Link, response_file: str) -> list[str]:
        return [*self.command(cxx=True), f"@{response_file}"]

    def response_lines(self, action: Link) -> list[str]:
        """The linker's arguments, a line each, quoted as gcc reads response files (GCC manual, "Overall Options", @file)."""
        kind = ["-shared"] if action.kind == "shared" else []
        arguments = [*kind, "-o", action.output, *action.objects, *action.libraries, *action.flags, *self.link_flags]
        return [quote(argument) for argument in arguments]

    def host_link_flags(self, soname: str, export_list: str, link_map: str) -> tuple[str, ...]:
        """ELF: everything but the export list is hidden and bound inside; nothing undefined, nothing relocated in text."""
        flags = [
            f"-Wl,-soname,{soname}",
            f"-Wl,--version-script,{export_list}",
            "-Wl,-rpath,$ORIGIN",
            "-Wl,--enable-new-dtags",
            "-Wl,-z,relro",
            "-Wl,-z,now",
            "-Wl,-z,defs",
            "-Wl,-z,text",
            "-Wl,-z,noexecstack",
            "-Wl,-Bsymbolic",
            "-Wl,--gc-sections",
            "-Wl,--build-id=sha1",
            f"-Wl,-Map,{link_map}",
        ]
        if self.lld:
            # lld refuses a version script that names an undefined symbol; the gate names the missing export with its reason.
            flags.append("-Wl,--undefined-version")
        return (*flags, *self.runtime_link_flags)

    def strip_argv(self, library: str, output: str) -> list[str]:
        return [self.strip, "--strip-unneeded", "-o", output, library]


def _split_leading_undefines(flags: tuple[str, ...]) -> tuple[list[str], list[str]]:
    count = 0
    while count < len(flags) and flags[count].startswith("-U"):
        count += 1
    return [*flags[:count]], [*flags[count:]]


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
