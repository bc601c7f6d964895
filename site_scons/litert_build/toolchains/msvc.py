"""Owns Microsoft's cl.exe and link.exe, found in a developer command prompt or named with cc=.

create(find_target("windows-x64"), Options(cc="C:/VS/VC/Tools/MSVC/14.44/bin/Hostx64/x64/cl.exe", sysroot="C:/sdk"))
"""

from __future__ import annotations

import sys
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.cl import ClToolchain
from litert_build.toolchains.options import Options, require_version
from litert_build.toolchains.probe import Tool, find_tool

MINIMUM = (19, 29)  # Visual Studio 2019 16.11: /std:c++20
_INSTALL = "install the Visual Studio 2022 build tools (Desktop C++) and name cl.exe with cc=PATH"


def create(target: Target, options: Options) -> ClToolchain:
    """Return MSVC for `target`. Raises BuildError off Windows, and where cl.exe or its libraries are missing or too old."""
    if options.runtime:
        raise BuildError(f"msvc cannot build with {options.runtime}", where="runtime=", mend="leave runtime= out: it is the MSVC STL")
    if sys.platform != "win32" and not options.cc:
        raise BuildError(f"msvc for {target.name} runs on Windows alone", where="toolchain=msvc", mend="use toolchain=zig here")
    compiler = find_tool(
        (options.cc or "cl.exe",), f"C++ compiler for {target.name}", _INSTALL, where="toolchain=msvc", version_argument="/?"
    )
    require_version("msvc", compiler, MINIMUM, "install the Visual Studio 2022 build tools")
    link = str(Path(compiler.path).with_name("link.exe"))
    linker = find_tool((link,), f"linker for {target.name}", _INSTALL, where="toolchain=msvc", version_argument="")
    return assemble("msvc", target, compiler, linker, system_folders(compiler, target, options.sysroot))


def system_folders(compiler: Tool, target: Target, sdk: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (include folders, library folders) of the compiler's own tools (<tools>/bin/Hostx64/x64/cl.exe) and of the Windows SDK
    version folder `sdk`, which holds Include and Lib."""
    tools = Path(compiler.path).parents[3]
    arch = target.arch
    includes = [tools / "include", *(Path(sdk) / "Include" / part for part in ("ucrt", "shared", "um", "winrt") if sdk)]
    libraries = [tools / "lib" / arch, *(Path(sdk) / "Lib" / part / arch for part in ("ucrt", "um") if sdk)]
    return tuple(map(str, includes)), tuple(map(str, libraries))


def assemble(
    name: str, target: Target, compiler: Tool, linker: Tool, folders: tuple[tuple[str, ...], tuple[str, ...]], driver: tuple[str, ...] = ()
) -> ClToolchain:
    """Return the toolchain of a found compiler, linker and (include, library) folders."""
    includes, libraries = folders
    words = [word for folder in includes for word in ("/external:I", folder)]
    return ClToolchain(
        name=name,
        target=target,
        compiler=compiler,
        linker=linker,
        dialect="clang-cl" if name == "clang-cl" else "msvc",
        driver=(*driver, *words),
        library_folders=libraries,
    )
