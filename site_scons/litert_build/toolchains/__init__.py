"""Owns the choice of a toolchain: one module a compiler family behind the contract of base.py.

find_toolchain("clang", find_target("linux-x64"), runtime="libc++").identity
"""

from __future__ import annotations

from collections.abc import Callable

from litert_build.errors import BuildError, nearest
from litert_build.policy.targets import Target
from litert_build.toolchains import apple, clang, clang_cl, gcc, mingw, msvc, ndk, zig
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.options import Options

TOOLCHAINS: dict[str, Callable[[Target, Options], Toolchain]] = {
    "gcc": gcc.create,
    "clang": clang.create,
    "zig": zig.create,
    "mingw": mingw.create,
    "msvc": msvc.create,
    "clang-cl": clang_cl.create,
    "ndk": ndk.create,
    "apple-clang": apple.create,
}


def find_toolchain(name: str, target: Target, *, cc: str = "", cxx: str = "", sysroot: str = "", runtime: str = "") -> Toolchain:
    """Return the toolchain `name` (empty: the target's default) set up for `target`.

    Raises BuildError for an unknown name (the nearest is named), a toolchain that cannot build the target (those that can are
    named), a compiler that is missing (with the command that installs it) or too old for C++20.
    """
    name = name or target.default_toolchain
    if name not in TOOLCHAINS:
        raise BuildError(
            f"unknown toolchain {name!r}", where="toolchain=", mend=nearest(name, TOOLCHAINS) or f"one of {', '.join(TOOLCHAINS)}"
        )
    if name not in target.toolchains:
        raise BuildError(
            f"toolchain {name} cannot build {target.name}", where="toolchain=", mend=f"one of {', '.join(target.toolchains)} can"
        )
    return TOOLCHAINS[name](target, Options(cc, cxx, sysroot, runtime))
