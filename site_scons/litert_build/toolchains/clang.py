"""Owns clang on Linux, with libstdc++ (the default) or a static libc++ (runtime=libc++).

create(find_target("linux-x64"), Options(runtime="libc++")).cxx_runtime     # 'libc++, static'
"""

from __future__ import annotations

import shutil
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.gnu import GnuToolchain, driver_pair
from litert_build.toolchains.options import Options, require_version
from litert_build.toolchains.probe import Tool, find_tool

MINIMUM = (14,)
_TRIPLE = {"x64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
_VERSIONS = ("", *(f"-{version}" for version in range(22, 13, -1)))
# -static-libstdc++ would leave libc++abi shared.
_STATIC_LIBCXX = ("-nostdlib++", "-Wl,-Bstatic", "-lc++", "-lc++abi", "-Wl,-Bdynamic")


def create(target: Target, options: Options) -> GnuToolchain:
    """Return clang for `target`. Raises BuildError for a missing or too old compiler, or a libc++ that is not there."""
    runtime = options.runtime or "libstdc++"
    if runtime not in ("libstdc++", "libc++"):
        raise BuildError(f"clang cannot build with {runtime}", where="runtime=", mend="use runtime=libstdc++ or runtime=libc++")
    cc_name, cxx_name = driver_pair(options.cc, options.cxx, (("clang", "clang++"),)) if options.cc or options.cxx else ("", "")
    mend = "apt-get install clang-19 lld-19, or name one with cc=PATH cxx=PATH"
    cc = find_tool((cc_name,) if cc_name else versioned("clang"), f"C compiler for {target.name}", mend, where="toolchain=clang")
    cxx = find_tool((cxx_name,) if cxx_name else versioned("clang++"), f"C++ compiler for {target.name}", mend, where="toolchain=clang")
    require_version("clang", cxx, MINIMUM, "apt-get install clang-19 lld-19")
    driver = [] if target.is_this_machine else [f"--target={_TRIPLE[target.arch]}"]
    driver += [f"--sysroot={options.sysroot}"] if options.sysroot else []
    lld = _lld(cxx)
    libcxx = runtime == "libc++"
    if libcxx:
        _require_libcxx(cxx)
    return GnuToolchain(
        name="clang",
        target=target,
        cc=cc,
        cxx=cxx,
        strip=llvm_tools(cxx, "llvm-strip"),
        ar=(*llvm_tools(cxx, "llvm-ar"), "ar"),
        dialect="clang",
        cxx_runtime=f"{runtime}, static",
        driver=tuple(driver),
        cxx_flags=("-stdlib=libc++",) if libcxx else (),
        link_flags=(*(("-fuse-ld=lld",) if lld else ()), *(("-stdlib=libc++",) if libcxx else ()), "-pthread"),
        runtime_link_flags=(*(_STATIC_LIBCXX if libcxx else ("-static-libstdc++",)), "-static-libgcc"),
        lld=lld,
    )


def versioned(name: str) -> tuple[str, ...]:
    """`name` and the names that distributions give its versions, the newest first."""
    return tuple(f"{name}{version}" for version in _VERSIONS)


def llvm_tools(beside: Tool, name: str) -> tuple[str, ...]:
    """Where a program of LLVM may be: beside the compiler itself first, then by name."""
    return (str(Path(beside.path).resolve().parent / name), *versioned(name))


def _lld(cxx: Tool) -> bool:
    return any(shutil.which(name) for name in (str(Path(cxx.path).resolve().parent / "ld.lld"), "ld.lld"))


def _require_libcxx(cxx: Tool) -> None:
    """libc++'s headers and static archives live beside clang: LLVM's own layout (../include/c++/v1, ../lib) or the system's."""
    root = Path(cxx.path).resolve().parent.parent
    folders = (root, Path("/usr"), Path("/usr/local"))
    if not any((folder / "include/c++/v1/__config").exists() for folder in folders):
        major = cxx.version[0]
        raise BuildError(
            f"{cxx.path} has no libc++", where="runtime=libc++", mend=f"apt-get install libc++-{major}-dev libc++abi-{major}-dev"
        )
