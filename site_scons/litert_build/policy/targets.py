"""Owns the platform table: one row a target, everything that differs between platforms.

TARGETS["linux-x64"].library       # 'libLiteRtLm.so'

docs/targets.md is generated from this table.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass, field
from typing import Literal

from litert_build.errors import BuildError, nearest

Format = Literal["elf", "pe", "macho"]
EXPORT_MECHANISM: dict[Format, str] = {"elf": "version script", "pe": ".def file and dllexport", "macho": "exported symbols list"}


@dataclass(frozen=True)
class Runtime:
    """The one C++ runtime of a target's host: how it is linked and why so. Which library it is follows from the toolchain."""

    linkage: Literal["static", "system"]
    why: str


@dataclass(frozen=True)
class PlatformFlags:
    """What upstream's .bazelrc sets for a platform, in the target configuration alone: none of it reaches exec tools."""

    copts: tuple[str, ...] = ()
    cxxopts: tuple[str, ...] = ()
    conlyopts: tuple[str, ...] = ()
    linkopts: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Target:
    """One platform. `constraints` are the constraint_value labels that hold for select(); `cpu` is Bazel's --cpu value, which also
    names the output folder (`<cpu>-opt`); `toolchains` are those that can build it, the system's own first; `system_libraries` are the
    names (or wildcards; Windows compares without case) a host may need without bundling them.

    `minimum_os` is what the host is built for, `minimum_os_limit` the highest that a bundle may ask for; `glibc` is the highest
    symbol version of a release build; `page_size` the alignment of loadable segments in bytes, 0 where the platform's own is right.
    """

    name: str
    aliases: tuple[str, ...]
    os: str
    arch: str
    cpu: str
    constraints: tuple[str, ...]
    format: Format
    library: str
    toolchains: tuple[str, ...]
    system_libraries: tuple[str, ...]
    runner: Literal["native", "qemu", "wine", "none"] = "none"
    runtime: Runtime = field(kw_only=True)
    flags: PlatformFlags = field(kw_only=True)
    release_toolchain: str = field(kw_only=True)
    minimum_os: str = ""
    minimum_os_limit: str = ""
    glibc: str = ""
    page_size: int = 0
    note: str = ""

    @property
    def is_this_machine(self) -> bool:
        """Whether this machine runs the target's programs itself."""
        return (self.os, self.arch) == this_machine()

    @property
    def default_toolchain(self) -> str:
        """The first of the row; zig, which needs nothing installed, where the row has it and this is another system.

        A Mac and a Windows machine build for each of their own architectures with the system's compiler.
        """
        os_here, _ = this_machine()
        at_home = self.is_this_machine if self.os == "linux" else self.os == os_here
        return "zig" if "zig" in self.toolchains and not at_home else self.toolchains[0]

    @property
    def export_mechanism(self) -> str:
        return EXPORT_MECHANISM[self.format]


_STATIC_LINUX = Runtime("static", "users' systems carry other versions; a second copy in a plug-in shares nothing with it")
_STATIC_WINDOWS = Runtime("static", "no redistributable has to be installed, and no MSVCP of another program is met")
_STATIC_ANDROID = Runtime("static", "the system has no C++ library for applications, and each library of an application brings its own")
_SYSTEM_APPLE = Runtime("system", "libc++ is part of the system, with a stable ABI; a second copy would break exceptions across images")

_LINUX_COPTS = (
    "-DLITERT_DISABLE_OPENCL_SUPPORT=1", "-DGRPC_BAZEL_BUILD", "-Wno-all", "-Wno-extra", "-Werror=unused-result", "-Werror=switch",
    "-DAUTOLOAD_DYNAMIC_KERNELS",
)  # fmt: skip
_CXX20 = ("-std=c++20",)
_LINUX_X64 = PlatformFlags(copts=(*_LINUX_COPTS, "-mavx2"), cxxopts=_CXX20)
_LINUX_ARM64 = PlatformFlags(
    copts=(*_LINUX_COPTS, "-mtune=generic", "-march=armv8-a", "-O3"), cxxopts=_CXX20, defines=(("litert_enable_ynnpack", "true"),)
)
_WINDOWS_COPTS = (
    "/Zc:__cplusplus", "/Zc:preprocessor", "-D_USE_MATH_DEFINES", "-D_ENABLE_EXTENDED_ALIGNED_STORAGE", "-DWIN32_LEAN_AND_MEAN", "-DNOGDI",
    "/d2ReducedOptimizeHugeFunctions", "/W0", "-DLITERT_DISABLE_OPENCL_SUPPORT=1",
)  # fmt: skip
_WINDOWS = PlatformFlags(
    copts=_WINDOWS_COPTS,
    cxxopts=("/std:c++20",),
    conlyopts=("/std:c11", "/experimental:c11atomics"),
    linkopts=("/DEBUG", "/OPT:REF", "/OPT:ICF"),
)
_WINDOWS_X64 = PlatformFlags((*_WINDOWS.copts, "/arch:AVX2"), _WINDOWS.cxxopts, _WINDOWS.conlyopts, _WINDOWS.linkopts)
_MACOS = PlatformFlags(copts=("-w",), cxxopts=_CXX20)
_IOS = PlatformFlags(
    copts=("-w", "-Wno-c++11-narrowing", "-DABSL_FLAGS_STRIP_NAMES=0"),
    cxxopts=_CXX20,
    defines=(("LITERT_LM_FST_CONSTRAINTS_DISABLED", "1"),),
)
_ANDROID = PlatformFlags(
    copts=("-w", "-DABSL_FLAGS_STRIP_NAMES=0"), cxxopts=_CXX20, defines=(("xnn_enable_avxvnniint8", "false"),)
)  # fmt: skip

_GLIBC_LIBRARIES = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1")
_WINDOWS_LIBRARIES = (
    "kernel32.dll", "ntdll.dll", "msvcrt.dll", "ucrtbase.dll", "api-ms-win-*.dll", "advapi32.dll", "bcrypt.dll", "bcryptprimitives.dll",
    "crypt32.dll", "d3d11.dll", "d3d12.dll", "dbghelp.dll", "dxgi.dll", "gdi32.dll", "iphlpapi.dll", "ole32.dll", "oleaut32.dll",
    "psapi.dll", "secur32.dll", "shell32.dll", "shlwapi.dll", "user32.dll", "userenv.dll", "version.dll", "winmm.dll", "ws2_32.dll",
)  # fmt: skip
_APPLE_LIBRARIES = (
    "/usr/lib/libSystem.B.dylib", "/usr/lib/libc++.1.dylib", "/usr/lib/libc++abi.dylib", "/usr/lib/libobjc.A.dylib",
    "/usr/lib/libresolv.9.dylib", "/System/Library/Frameworks/*",
)  # fmt: skip
_ANDROID_LIBRARIES = (
    "libandroid.so", "libc.so", "libdl.so", "libEGL.so", "libGLESv2.so", "libGLESv3.so", "libjnigraphics.so", "liblog.so", "libm.so",
    "libOpenSLES.so", "libz.so",
)  # fmt: skip


def _linux(arch: Literal["x64", "arm64"]) -> Target:
    x64 = arch == "x64"
    return Target(
        name=f"linux-{arch}",
        aliases=("linux-x86_64", "linux_x86_64", "linux-amd64") if x64 else ("linux-aarch64", "linux_arm64", "linux_aarch64"),
        os="linux",
        arch=arch,
        cpu="k8" if x64 else "aarch64",
        constraints=("@platforms//os:linux", "@platforms//cpu:x86_64" if x64 else "@platforms//cpu:aarch64"),
        format="elf",
        library="libLiteRtLm.so",
        toolchains=("gcc", "clang", "zig"),
        release_toolchain="zig",
        system_libraries=(*_GLIBC_LIBRARIES, "ld-linux-x86-64.so.2" if x64 else "ld-linux-aarch64.so.1"),
        runner="native" if x64 else "qemu",
        runtime=_STATIC_LINUX,
        flags=_LINUX_X64 if x64 else _LINUX_ARM64,
        glibc="2.28",
    )


def _windows(arch: Literal["x64", "arm64"]) -> Target:
    x64 = arch == "x64"
    return Target(
        name=f"windows-{arch}",
        aliases=("windows-x86_64", "windows_x86_64", "windows-amd64", "win-x64")
        if x64
        else ("windows-aarch64", "windows_arm64", "win-arm64"),
        os="windows",
        arch=arch,
        cpu="x64_windows" if x64 else "arm64_windows",
        constraints=("@platforms//os:windows", "@platforms//cpu:x86_64" if x64 else "@platforms//cpu:aarch64"),
        format="pe",
        library="LiteRtLm.dll",
        toolchains=("msvc", "clang-cl", "mingw", "zig") if x64 else ("msvc", "clang-cl", "zig"),
        release_toolchain="msvc",
        system_libraries=_WINDOWS_LIBRARIES,
        runner="wine" if x64 else "none",
        runtime=_STATIC_WINDOWS,
        flags=_WINDOWS_X64 if x64 else _WINDOWS,
        minimum_os="10.0",
        minimum_os_limit="10.0",
        note="" if x64 else "no companions upstream",
    )


def _macos(arch: Literal["x64", "arm64"]) -> Target:
    x64 = arch == "x64"
    return Target(
        name=f"macos-{arch}",
        aliases=("macos-x86_64", "macos_x86_64", "darwin-x64") if x64 else ("macos_arm64", "darwin-arm64"),
        os="macos",
        arch=arch,
        cpu="darwin_x86_64" if x64 else "darwin_arm64",
        constraints=("@platforms//os:macos", "@platforms//cpu:x86_64" if x64 else "@platforms//cpu:aarch64"),
        format="macho",
        library="libLiteRtLm.dylib",
        toolchains=("apple-clang", "zig"),
        release_toolchain="apple-clang",
        system_libraries=_APPLE_LIBRARIES,
        runtime=_SYSTEM_APPLE,
        flags=_MACOS,
        minimum_os="14.0",
        minimum_os_limit="14.0",
        note="no companions upstream" if x64 else "",
    )


def _ios(name: str, environment: Literal["device", "simulator"]) -> Target:
    return Target(
        name=name,
        aliases=(name.replace("-", "_"), "ios_sim_arm64", "ios-sim-arm64") if environment == "simulator" else (name.replace("-", "_"),),
        os="ios",
        arch="arm64",
        cpu="ios_sim_arm64" if environment == "simulator" else "ios_arm64",
        constraints=("@platforms//os:ios", "@platforms//cpu:aarch64", f"@build_bazel_apple_support//constraints:{environment}"),
        format="macho",
        library="libLiteRtLm.dylib",
        toolchains=("apple-clang",),
        release_toolchain="apple-clang",
        system_libraries=_APPLE_LIBRARIES,
        runtime=_SYSTEM_APPLE,
        flags=_IOS,
        minimum_os="14.0" if environment == "simulator" else "13.0",  # no simulator of arm64 is older
        minimum_os_limit="16.4",
        note="ships as LiteRtLm.framework",
    )


def _android(arch: Literal["x64", "arm64"]) -> Target:
    x64 = arch == "x64"
    return Target(
        name=f"android-{arch}",
        aliases=("android-x86_64", "android_x86_64") if x64 else ("android-aarch64", "android_arm64", "arm64-v8a"),
        os="android",
        arch=arch,
        cpu="x86_64" if x64 else "arm64-v8a",
        constraints=("@platforms//os:android", "@platforms//cpu:x86_64" if x64 else "@platforms//cpu:aarch64"),
        format="elf",
        library="libLiteRtLm.so",
        toolchains=("ndk",),
        release_toolchain="ndk",
        system_libraries=_ANDROID_LIBRARIES,
        runtime=_STATIC_ANDROID,
        flags=_ANDROID,
        minimum_os="24",
        minimum_os_limit="24",
        page_size=16384,
        note="loaded globally (DF_1_GLOBAL): samplers that are opened later resolve the host's symbols",
    )


TARGETS: dict[str, Target] = {
    row.name: row
    for row in (
        _linux("x64"),
        _linux("arm64"),
        _windows("x64"),
        _windows("arm64"),
        _macos("arm64"),
        _macos("x64"),
        _ios("ios-arm64", "device"),
        _ios("ios-arm64-sim", "simulator"),
        _android("arm64"),
        _android("x64"),
    )
}


def find_target(name: str) -> Target:
    """Return the row of a target name or alias. Raises BuildError that names the nearest one."""
    for row in TARGETS.values():
        if name == row.name or name in row.aliases:
            return row
    known = [*TARGETS, *(alias for row in TARGETS.values() for alias in row.aliases)]
    raise BuildError(
        f"unknown target {name!r}", where="target=", mend=nearest(name, known) or f"one of {', '.join(TARGETS)}; scons targets lists them"
    )


def this_machine() -> tuple[str, str]:
    """Return (os, arch) of the machine this runs on, in the table's words where it has them."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), platform.machine())
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    return system, machine


def host_target() -> str:
    """Return the target name of the machine this runs on, or raise BuildError where it is not a row of the table."""
    return find_target("-".join(this_machine())).name
