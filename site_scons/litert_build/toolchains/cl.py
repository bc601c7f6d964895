"""Owns MSVC's cl.exe and clang-cl, which take the same command line, and link.exe or lld-link.

ClToolchain(name="msvc", target=target, compiler=cl, linker=link, ...).compile_argv(action)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from litert_build.actions import Archive, Compile, Link
from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.flag_tables import Dialect
from litert_build.toolchains.flags import render, render_link
from litert_build.toolchains.gnu import linked_files
from litert_build.toolchains.linkmodel import HostFiles, cl_host
from litert_build.toolchains.probe import Tool, fixed_environment

# The C++ standard library and the C library are linked in (/MT); __cplusplus says which C++ it is.
_ALWAYS = ("/nologo", "/MT", "/utf-8", "/Zc:__cplusplus", "/Zc:preprocessor", "/Zc:inline", "/permissive-")
SYSTEM_LIBRARIES = ("advapi32.lib", "bcrypt.lib", "ntdll.lib", "shell32.lib", "user32.lib", "userenv.lib", "ws2_32.lib")


@dataclass(frozen=True)
class ClToolchain:
    """A cl.exe command line for one target. `driver` holds the arguments of every compile (target triple, system include folders),
    `library_folders` where the linker looks for the SDK's and the runtime's import libraries."""

    name: str
    target: Target
    compiler: Tool
    linker: Tool
    dialect: Dialect
    driver: tuple[str, ...] = ()
    library_folders: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()

    @property
    def cxx_runtime(self) -> str:
        return "MSVC STL, static"

    @property
    def identity(self) -> str:
        tools = (f"{tool.version_line} sha256:{tool.sha256}" for tool in (self.compiler, self.linker))
        return "; ".join((self.name, *tools, *self.driver, *self.link_flags, *_ALWAYS))

    @property
    def environment(self) -> Mapping[str, str]:
        """With English messages, and without the INCLUDE, LIB and CL of the calling shell: the folders are arguments."""
        return {**fixed_environment(self.compiler.path, self.linker.path), "VSLANG": "1033"}

    @property
    def writes_link_map(self) -> bool:
        """link.exe's /MAP names no folder of an object, so it could not say which of two was meant."""
        return False

    def compile_argv(self, action: Compile) -> list[str]:
        """The compile command. Dependencies go to the action's depfile: a Makefile rule by clang-cl, JSON by cl.exe
        (MSVC, "/sourceDependencies")."""
        if action.language == "asm":
            raise BuildError(f"{self.name} does not assemble gcc's {action.source}", where=action.location, mend="select() MASM's source")
        argv = [self.compiler.path, *self.driver, *_ALWAYS, *(f"/D{define}" for define in action.defines)]
        for kind, path in action.includes:
            argv += ["/external:I", path] if kind == "-isystem" else [f"/I{path}"]
        argv += ["/external:W0"] if any(kind == "-isystem" for kind, _ in action.includes) else []
        argv += render(action.flags, self.dialect)
        if self.dialect == "clang-cl":
            argv += ["/Brepro", "/clang:-MD", f"/clang:-MF{action.depfile}"]
        else:
            argv += ["/Brepro", "/experimental:deterministic", "/sourceDependencies", action.depfile]
        return [*argv, "/TP" if action.language == "c++" else "/TC", "/c", action.source, f"/Fo{action.output}"]

    def archive_argv(self, action: Archive, response_file: str) -> list[str]:
        """link.exe and lld-link are lib.exe too (MSVC, "LINK, /LIB")."""
        return [self.linker.path, "/LIB", f"@{response_file}"]

    def archive_lines(self, action: Archive) -> list[str]:
        return [_quote(word) for word in ("/NOLOGO", f"/OUT:{action.output}", *action.objects)]

    def link_argv(self, action: Link, response_file: str) -> list[str]:
        return [self.linker.path, f"@{response_file}"]

    def response_lines(self, action: Link) -> list[str]:
        machine = {"x64": "/MACHINE:X64", "arm64": "/MACHINE:ARM64"}[self.target.arch]
        kind = ["/DLL"] if action.kind == "shared" else ["/SUBSYSTEM:CONSOLE"]
        user = render_link(action.flags, "cl")
        folders = [f"/LIBPATH:{folder}" for folder in self.library_folders]
        delayed = ["delayimp.lib"] if any(word.upper().startswith("/DELAYLOAD:") for word in user) else []
        words = [
            "/NOLOGO",
            machine,
            *kind,
            f"/OUT:{action.output}",
            *folders,
            *linked_files(action),
            *user,
        ]
        return [_quote(word) for word in (*words, *action.platform_flags, *self.link_flags, *delayed, *SYSTEM_LIBRARIES)]

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        return tuple(cl_host(files))

    def strip_argv(self, library: str, output: str) -> list[str]:
        raise BuildError("debug symbols of a DLL are in its .pdb already", where="debug_symbols=split", mend="leave debug_symbols out")


def _quote(word: str) -> str:
    return f'"{word}"' if any(letter in word for letter in " \t") else word
