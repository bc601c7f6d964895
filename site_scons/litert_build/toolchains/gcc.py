"""Owns GCC: the machine's own on linux-x64, Debian's cross compiler for linux-arm64.

create(find_target("linux-x64"), Options()).cxx_runtime     # 'libstdc++, static'
"""

from __future__ import annotations

from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.gnu import GnuToolchain, driver_pair
from litert_build.toolchains.options import Options, require_version
from litert_build.toolchains.probe import find_tool

MINIMUM = (11,)
_PREFIX = {"x64": "x86_64-linux-gnu-", "arm64": "aarch64-linux-gnu-"}
_PACKAGE = {"x64": "g++", "arm64": "g++-aarch64-linux-gnu"}


def create(target: Target, options: Options) -> GnuToolchain:
    """Return GCC for `target`. Raises BuildError for a missing, foreign or too old compiler."""
    if options.runtime not in ("", "libstdc++"):
        raise BuildError(f"gcc cannot build with {options.runtime}", where="runtime=", mend="use runtime=libstdc++, or toolchain=clang")
    prefix = "" if target.is_this_machine else _PREFIX[target.arch]
    package = "g++" if not prefix else _PACKAGE[target.arch]
    cc_name, cxx_name = driver_pair(options.cc, options.cxx, (("gcc", "g++"),)) if options.cc or options.cxx else ("", "")
    mend = f"apt-get install {package} (Fedora: dnf install gcc-c++), or name one with cc=PATH cxx=PATH"
    cc = find_tool((cc_name or f"{prefix}gcc",), f"C compiler for {target.name}", mend, where="toolchain=gcc")
    cxx = find_tool((cxx_name or f"{prefix}g++",), f"C++ compiler for {target.name}", mend, where="toolchain=gcc")
    for tool in (cc, cxx):
        if "clang" in tool.version_line:
            raise BuildError(f"{tool.path} is clang: {tool.version_line}", where="toolchain=gcc", mend="use toolchain=clang")
    require_version("gcc", cxx, MINIMUM, "apt-get install g++-12 and name it with cc=gcc-12 cxx=g++-12")
    return GnuToolchain(
        name="gcc",
        target=target,
        cc=cc,
        cxx=cxx,
        strip=(f"{prefix}strip",),
        ar=(f"{prefix}ar",),
        dialect="gcc",
        cxx_runtime="libstdc++, static",
        driver=(f"--sysroot={options.sysroot}",) if options.sysroot else (),
        link_flags=("-pthread",),
        runtime_link_flags=("-static-libstdc++", "-static-libgcc"),
    )
