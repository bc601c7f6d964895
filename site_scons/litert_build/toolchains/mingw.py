"""Owns MinGW-w64's g++ with the posix thread model: the win32 model's headers lack std::mutex.

create(find_target("windows-x64"), Options()).cxx_runtime       # 'libstdc++, static'
"""

from __future__ import annotations

from dataclasses import dataclass

from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.gcc import MINIMUM
from litert_build.toolchains.gnu import GnuToolchain, driver_pair
from litert_build.toolchains.linkmodel import HostFiles, mingw_host
from litert_build.toolchains.options import Options, require_version
from litert_build.toolchains.probe import find_tool

_PREFIX = "x86_64-w64-mingw32-"
_INSTALL = "apt-get install g++-mingw-w64-x86-64-posix, or name one with cc=PATH cxx=PATH"


@dataclass(frozen=True)
class MingwToolchain(GnuToolchain):
    """MinGW's gcc and g++: -static, or libwinpthread-1.dll would be imported beside the C++ runtime."""

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        return (*mingw_host(files), *self.runtime_link_flags)


def create(target: Target, options: Options) -> GnuToolchain:
    """Return MinGW for `target`. Raises BuildError where it is missing, too old, or of the win32 thread model by its name."""
    if options.runtime not in ("", "libstdc++"):
        raise BuildError(f"mingw cannot build with {options.runtime}", where="runtime=", mend="use runtime=libstdc++, or toolchain=zig")
    given = driver_pair(options.cc, options.cxx, (("gcc", "g++"),)) if options.cc or options.cxx else ("", "")
    for name in reversed(given):
        if name.endswith("-win32"):
            raise BuildError(f"{name} has the win32 thread model: no std::mutex", where="cxx=", mend="name the -posix compiler")
    cc = find_tool((given[0],) if given[0] else _names("gcc"), f"C compiler for {target.name}", _INSTALL, where="toolchain=mingw")
    cxx = find_tool((given[1],) if given[1] else _names("g++"), f"C++ compiler for {target.name}", _INSTALL, where="toolchain=mingw")
    require_version("mingw", cxx, MINIMUM, "apt-get install g++-mingw-w64-x86-64-posix")
    return MingwToolchain(
        name="mingw",
        target=target,
        cc=cc,
        cxx=cxx,
        strip=(f"{_PREFIX}strip",),
        ar=(f"{_PREFIX}ar",),
        cxx_runtime="libstdc++, static",
        dialect="mingw",
        link_dialect="pe-gnu",
        driver=(f"--sysroot={options.sysroot}",) if options.sysroot else (),
        runtime_link_flags=("-static",),
    )


def _names(name: str) -> tuple[str, ...]:
    return (f"{_PREFIX}{name}-posix", f"{_PREFIX}{name}")
