"""Owns clang-cl with lld-link: MSVC's command line and ABI, from any machine that has MSVC's headers in sysroot=.

create(find_target("windows-x64"), Options(sysroot="/opt/msvc")).driver     # ('--driver-mode=cl', '--target=x86_64-pc-windows-msvc', ...)
"""

from __future__ import annotations

from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.cl import ClToolchain
from litert_build.toolchains.clang import MINIMUM, llvm_tools, versioned
from litert_build.toolchains.msvc import assemble
from litert_build.toolchains.options import Options, require_version
from litert_build.toolchains.probe import find_tool

_TRIPLE = {"x64": "x86_64-pc-windows-msvc", "arm64": "aarch64-pc-windows-msvc"}
_INSTALL = "apt-get install clang-19 lld-19 (Windows: the LLVM installer), or name one with cc=PATH"


def create(target: Target, options: Options) -> ClToolchain:
    """Return clang-cl for `target`. Raises BuildError where it, lld-link or MSVC's headers and libraries are missing.

    sysroot= names a folder with `crt` and `sdk`, each with `include` and `lib`, as `xwin splat` lays them out.
    """
    if options.runtime:
        raise BuildError(f"clang-cl cannot build with {options.runtime}", where="runtime=", mend="leave runtime= out: it is the MSVC STL")
    names = (options.cc,) if options.cc else (*versioned("clang-cl"), *versioned("clang"))
    compiler = find_tool(names, f"C++ compiler for {target.name}", _INSTALL, where="toolchain=clang-cl")
    require_version("clang-cl", compiler, MINIMUM, "apt-get install clang-19 lld-19")
    linker = find_tool(llvm_tools(compiler, "lld-link"), f"linker for {target.name}", _INSTALL, where="toolchain=clang-cl")
    root = Path(options.sysroot)
    if not options.sysroot or not (root / "crt/include").is_dir():
        raise BuildError(
            f"clang-cl has no MSVC headers for {target.name}",
            where="sysroot=",
            mend="name a folder that `xwin splat` made with sysroot=PATH, or use toolchain=zig",
        )
    return assemble("clang-cl", target, compiler, linker, sysroot_folders(root, target), driver_of(target))


def driver_of(target: Target) -> tuple[str, ...]:
    """The arguments that make any clang a clang-cl for `target`."""
    return ("--driver-mode=cl", f"--target={_TRIPLE[target.arch]}")


def sysroot_folders(root: Path, target: Target) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (include folders, library folders) of a splatted MSVC and Windows SDK."""
    arch = {"x64": "x86_64", "arm64": "aarch64"}[target.arch]
    includes = [root / "crt/include", *(root / "sdk/include" / part for part in ("ucrt", "shared", "um"))]
    libraries = [root / "crt/lib" / arch, *(root / "sdk/lib" / part / arch for part in ("ucrt", "um"))]
    return tuple(map(str, includes)), tuple(map(str, libraries))
