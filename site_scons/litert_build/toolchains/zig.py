"""Owns zig as a C and C++ cross compiler: one download that holds clang, lld, libc++ and every target's C library.

create(find_target("linux-arm64"), Options()).driver        # ('-target', 'aarch64-linux-gnu.2.28')

Linux hosts need no symbol newer than the row's glibc. Mach-O is linked by LLVM's ld64.lld: zig 0.17's own linker ignores
-exported_symbols_list (https://github.com/ziglang/zig/issues/24662); ZigMachO can go when that is closed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from litert_build.actions import Link
from litert_build.errors import BuildError
from litert_build.policy.targets import Format, Target
from litert_build.toolchains.clang import versioned
from litert_build.toolchains.flag_tables import LinkDialect
from litert_build.toolchains.flags import render_link
from litert_build.toolchains.gnu import GnuToolchain, linked_files, quote
from litert_build.toolchains.linkmodel import HostFiles, elf_host, macho_host
from litert_build.toolchains.options import Options, require_version
from litert_build.toolchains.probe import Tool, find_tool

MINIMUM = (0, 17)  # whose linker options were measured
_MACHINE = {"x64": "x86_64", "arm64": "aarch64"}
_LINK_DIALECT: dict[Format, LinkDialect] = {"elf": "elf", "pe": "pe-gnu", "macho": "macho"}
_STUBS = Path(__file__).parent / "stubs"
_INSTALL = "pip install ziglang, or name one with cc=PATH"


@dataclass(frozen=True)
class ZigToolchain(GnuToolchain):
    """`zig cc` and `zig c++`, one executable for both."""

    @property
    def environment(self) -> Mapping[str, str]:
        """With the cache of zig's own libraries in the user's cache folder, so that a target's libc++ is built once."""
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        folder = str(Path(cache) / "litert-lm-native" / "zig")
        return {**super().environment, "ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}

    @property
    def writes_link_map(self) -> bool:
        """Its ELF linker prints a map, which a POSIX shell puts into the file; its PE linker prints none."""
        return self.target.format == "elf" and sys.platform != "win32"

    def command(self, cxx: bool) -> list[str]:
        return [self.cc.path, "c++" if cxx else "cc", *self.driver]

    def archiver(self) -> list[str]:
        return [self.cc.path, "ar"]

    def link_argv(self, action: Link, response_file: str) -> list[str]:
        link_map = next((side for side in action.side_outputs if side.endswith(".map")), "")
        argv = super().link_argv(action, response_file)
        return ["/bin/sh", "-c", 'exec "$@" > "$0"', link_map, *argv] if link_map else argv

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        strip = () if files.keep_symbols else ("-s",)
        if self.target.format == "pe":
            # zig's driver knows no hardening options of PE: its lld sets them by default.
            known = (files.export_list, f"-Wl,--out-implib,{files.import_library}", "-Wl,--gc-sections", "-Wl,-Brepro")
            return (*known, *strip)
        flags = [flag for flag in elf_host(replace(files, link_map="")) if flag != "-Wl,-z,text"]  # always so with zig
        return (*flags, "-Wl,--undefined-version", *(["-Wl,--print-map"] if files.link_map else []), *strip)


@dataclass(frozen=True)
class ZigMachO(ZigToolchain):
    """zig's objects, linked by ld64.lld against stubs that hold the install names of the system's libraries alone.

    Every other symbol is looked up when the library loads, so a symbol that the system's libc++ lacks is not found here: these
    builds prove the Mach-O rules and the exports on any machine, release builds come from Apple's clang.
    """

    linker: Tool | None = None

    @property
    def writes_link_map(self) -> bool:
        return True

    @property
    def identity(self) -> str:
        assert self.linker is not None
        return f"{super().identity}; {self.linker.version_line} sha256:{self.linker.sha256}"

    def link_argv(self, action: Link, response_file: str) -> list[str]:
        assert self.linker is not None
        return [self.linker.path, f"@{response_file}"]

    def response_lines(self, action: Link) -> list[str]:
        arch = {"x64": "x86_64", "arm64": "arm64"}[self.target.arch]
        minimum = self.target.minimum_os
        kind = ["-dylib"] if action.kind == "shared" else ["-execute"]
        platform = ["-arch", arch, "-platform_version", "macos", minimum, minimum, "-undefined", "dynamic_lookup"]
        user = [word.removeprefix("-Wl,") for word in render_link(action.flags, self.link_dialect)]
        stubs = [str(_STUBS / name) for name in ("libSystem.tbd", "libc++.tbd")]
        inputs = [*linked_files(action), *user, *action.platform_flags, *stubs]
        return [quote(word) for word in (*kind, *platform, "-o", action.output, *inputs)]

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        return tuple(macho_host(files))


def create(target: Target, options: Options) -> GnuToolchain:
    """Return zig for `target`. Raises BuildError where it is missing or too old, or where Mach-O's linker is."""
    if options.runtime not in ("", "libc++"):
        raise BuildError(f"zig cannot build with {options.runtime}", where="runtime=", mend="use runtime=libc++, or toolchain=gcc")
    names = tuple(name for name in (options.cc, options.cxx) if name) or (*_from_package(), "zig")
    found = find_tool(names, f"zig for {target.name}", _INSTALL, where="toolchain=zig", version_argument="version")
    tool = Tool(found.path, f"zig {found.version_line}", found.sha256)
    require_version("zig", tool, MINIMUM, "pip install --upgrade ziglang")
    machine = _MACHINE[target.arch]
    abi = {"linux": f"linux-gnu.{target.glibc}", "windows": "windows-gnu", "macos": f"macos.{target.minimum_os}"}[target.os]
    toolchain = ZigToolchain(
        name="zig",
        target=target,
        cc=tool,
        cxx=tool,
        strip=versioned("llvm-strip"),
        ar=(tool.path,),
        cxx_runtime="libc++, static",
        dialect="zig",
        link_dialect=_LINK_DIALECT[target.format],
        driver=("-target", f"{machine}-{abi}", *((f"--sysroot={options.sysroot}",) if options.sysroot else ())),
        compile_flags=("-fno-sanitize=undefined",),  # zig's default where nothing is optimized
    )
    if target.format != "macho":
        return toolchain
    linker = find_tool(versioned("ld64.lld"), f"Mach-O linker for {target.name}", "apt-get install lld-19", where="toolchain=zig")
    fields = {name: getattr(toolchain, name) for name in toolchain.__dataclass_fields__}
    return ZigMachO(**{**fields, "cxx_runtime": "libc++, system"}, linker=linker)


def _from_package() -> tuple[str, ...]:
    """The executable of the Python package `ziglang`, where this interpreter has it."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return ()
    return (str(Path(spec.submodule_search_locations[0]) / ("zig.exe" if sys.platform == "win32" else "zig")),)
