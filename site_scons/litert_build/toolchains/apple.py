"""Owns Apple's clang for macOS and iOS: the system's libc++, the SDK that xcrun names, ld64's export list.

create(find_target("ios-arm64"), Options()).driver      # ('-target', 'arm64-apple-ios13.0', '-isysroot', '/Applications/Xcode.app/...')
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from litert_build.actions import Link
from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.toolchains.gnu import GnuToolchain
from litert_build.toolchains.linkmodel import HostFiles, macho_host
from litert_build.toolchains.options import Options, require_version
from litert_build.toolchains.probe import Tool, find_tool, fixed_environment

MINIMUM = (14,)
_INSTALL = "install Xcode's command line tools: xcode-select --install"


@dataclass(frozen=True)
class AppleToolchain(GnuToolchain):
    """Apple's clang and ld64."""

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        words = macho_host(files)
        return tuple(word for argument in words for word in ("-Xlinker", argument))

    def response_lines(self, action: Link) -> list[str]:
        return ["-dynamiclib" if line == "-shared" else line for line in super().response_lines(action)]

    def strip_argv(self, library: str, output: str) -> list[str]:
        """strip -x keeps the exported names, which a dylib needs (strip(1))."""
        return ["/usr/bin/strip", "-x", "-o", output, library]


def create(target: Target, options: Options) -> GnuToolchain:
    """Return Apple's clang for `target`. Raises BuildError where it, or the target's SDK, is missing."""
    if options.runtime not in ("", "libc++"):
        raise BuildError(f"apple-clang cannot build with {options.runtime}", where="runtime=", mend="use runtime=libc++")
    xcrun = find_tool(("/usr/bin/xcrun",), f"xcrun for {target.name}", f"{_INSTALL}; it runs on macOS alone", where="toolchain=apple-clang")
    sdk = _sdk_name(target)
    cc = find_tool((options.cc or _xcrun(xcrun, sdk, "--find", "clang"),), f"C compiler for {target.name}", _INSTALL)
    cxx = find_tool((options.cxx or _xcrun(xcrun, sdk, "--find", "clang++"),), f"C++ compiler for {target.name}", _INSTALL)
    require_version("apple-clang", cxx, MINIMUM, "install Xcode 14 or later")
    return assemble(target, cc, cxx, options.sysroot or _xcrun(xcrun, sdk, "--show-sdk-path"))


def assemble(target: Target, cc: Tool, cxx: Tool, sdk: str) -> GnuToolchain:
    """Return the toolchain of a found compiler and SDK folder."""
    arch = {"x64": "x86_64", "arm64": "arm64"}[target.arch]
    simulator = "-simulator" if _sdk_name(target) == "iphonesimulator" else ""
    return AppleToolchain(
        name="apple-clang",
        target=target,
        cc=cc,
        cxx=cxx,
        strip=(),
        ar=("/usr/bin/ar",),
        cxx_runtime="libc++, system",
        dialect="clang",
        link_dialect="macho",
        driver=("-target", f"{arch}-apple-{target.os}{target.minimum_os}{simulator}", "-isysroot", sdk),
        cxx_flags=("-stdlib=libc++",),
        link_flags=("-stdlib=libc++",),
    )


def _sdk_name(target: Target) -> str:
    if target.os == "macos":
        return "macosx"
    return "iphonesimulator" if "sim" in target.cpu else "iphoneos"


def _xcrun(xcrun: Tool, sdk: str, *arguments: str) -> str:
    done = subprocess.run(
        [xcrun.path, "--sdk", sdk, *arguments], capture_output=True, text=True, env=fixed_environment(xcrun.path), check=False
    )
    if done.returncode != 0:
        raise BuildError(f"xcrun finds no SDK {sdk}", where="toolchain=apple-clang", mend=_INSTALL, notes=done.stderr.splitlines()[:3])
    return done.stdout.strip()
