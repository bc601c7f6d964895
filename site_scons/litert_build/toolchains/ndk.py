"""Owns the Android NDK: its clang with its static libc++, for devices with pages of 16 KiB.

create(find_target("android-arm64"), Options(sysroot="/opt/android-ndk-r28b")).driver      # ('--target=aarch64-linux-android24',)
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.gnu import GnuToolchain
from litert_build.toolchains.linkmodel import HostFiles, android_host
from litert_build.toolchains.options import Options
from litert_build.toolchains.probe import Tool, find_tool

REVISION = 28  # r28b: the first whose libc++ and default link are made for 16 KiB pages, and what upstream builds with
_MACHINE = {"x64": "x86_64", "arm64": "aarch64"}
_PREBUILT = {"linux": "linux-x86_64", "darwin": "darwin-x86_64", "win32": "windows-x86_64"}
_INSTALL = "unpack NDK r28b and name its folder with sysroot=PATH"


@dataclass(frozen=True)
class NdkToolchain(GnuToolchain):
    """The NDK's clang and lld."""

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        return (*android_host(files, self.target), "-Wl,--undefined-version", *self.runtime_link_flags)


def create(target: Target, options: Options) -> GnuToolchain:
    """Return the NDK in the folder that sysroot= names. Raises BuildError where it is missing or of another revision."""
    if not options.sysroot:
        raise BuildError(f"no Android NDK for {target.name}: sysroot= is not given", where="toolchain=ndk", mend=_INSTALL)
    root = Path(options.sysroot)
    _require_revision(root)
    programs = root / "toolchains/llvm/prebuilt" / _PREBUILT[sys.platform] / "bin"
    cc = find_tool((options.cc or str(programs / "clang"),), f"C compiler for {target.name}", _INSTALL, where="toolchain=ndk")
    cxx = find_tool((options.cxx or str(programs / "clang++"),), f"C++ compiler for {target.name}", _INSTALL, where="toolchain=ndk")
    return assemble(target, cc, cxx, str(programs / "llvm-strip"))


def assemble(target: Target, cc: Tool, cxx: Tool, strip: str) -> GnuToolchain:
    """Return the toolchain of a found NDK."""
    return NdkToolchain(
        name="ndk",
        target=target,
        cc=cc,
        cxx=cxx,
        strip=(strip,),
        ar=(str(Path(strip).with_name("llvm-ar")),),
        cxx_runtime="libc++, static",
        dialect="clang",
        link_dialect="android",
        driver=(f"--target={_MACHINE[target.arch]}-linux-android{target.minimum_os}",),
        runtime_link_flags=("-static-libstdc++",),
        lld=True,
    )


def _require_revision(root: Path) -> None:
    properties = root / "source.properties"
    if not properties.is_file():
        raise BuildError(f"{root} is no Android NDK: it has no source.properties", where="sysroot=", mend=_INSTALL)
    found = re.search(r"Pkg\.Revision\s*=\s*(\d+)\.(\S*)", properties.read_text(encoding="utf-8"))
    if not found or int(found.group(1)) != REVISION:
        revision = f"{found.group(1)}.{found.group(2)}" if found else "unknown"
        raise BuildError(f"NDK revision {revision} at {root}, not {REVISION}", where="sysroot=", mend=_INSTALL)
