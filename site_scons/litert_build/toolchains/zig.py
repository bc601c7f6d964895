"""Owns zig as a C and C++ cross compiler: one download that holds clang, lld, libc++ and every target's C library.

create(find_target("linux-arm64"), Options()).driver        # ('-target', 'aarch64-linux-gnu.2.28')

Linux hosts need no symbol newer than the row's glibc. Mach-O is linked by LLVM's ld64.lld: zig 0.17's own linker ignores
-exported_symbols_list (https://github.com/ziglang/zig/issues/24662); ZigMachO can go when that is closed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
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
    """zig's objects and zig's own static libc++, linked by ld64.lld against the symbols that zig lists of libSystem."""

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
        platform = ["-arch", arch, "-platform_version", "macos", minimum, minimum]
        user = [word.removeprefix("-Wl,") for word in render_link(action.flags, self.link_dialect)]
        environment = tuple(self.environment.items())
        runtime = [*_runtime_archives(tuple(self.command(cxx=True)), environment), _libsystem(self.cc.path, environment)]
        inputs = [*linked_files(action), *user, *action.platform_flags, *runtime]
        return [quote(word) for word in (*kind, *platform, "-o", action.output, *inputs)]

    def host_link_flags(self, files: HostFiles) -> tuple[str, ...]:
        """Without debug information: the paths of zig's cache are in its libc++'s."""
        return (*macho_host(files), *(() if files.keep_symbols else ("-S",)))


@cache
def _runtime_archives(command: tuple[str, ...], environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the archives that zig links into every C++ library of a target, building them into its cache where they are missing.

    zig names them when it is asked to show its linker's command line. Raises BuildError where it does not.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "empty.cc").touch()
        argv = [*command, "-shared", "-o", "empty.dylib", "empty.cc"]
        shown = {**dict(environment), "ZIG_VERBOSE_LINK": "1"}
        done = subprocess.run(argv, cwd=folder, env=shown, capture_output=True, text=True, check=False)
    line = next((line for line in done.stderr.splitlines() if line.startswith("zig ld ")), "")
    archives = tuple(word for word in line.split() if word.endswith(".a") and "ubsan" not in word)
    if not any(word.endswith("libc++.a") for word in archives):
        notes = done.stderr.splitlines()[-3:]
        raise BuildError("zig does not tell where its libc++ is", where="toolchain=zig", notes=notes, mend="pip install ziglang==0.17.1")
    return archives


@cache
def _libsystem(zig: str, environment: tuple[tuple[str, str], ...]) -> str:
    """Return a list of libSystem's symbols that ld64.lld reads: zig's, without the architecture that LLVM 19 does not know."""
    listed = Path(zig).resolve().parent / "lib/libc/darwin/libSystem.tbd"
    text = listed.read_text(encoding="utf-8").replace("arm64e.x1-", "arm64-")
    file = Path(dict(environment)["ZIG_GLOBAL_CACHE_DIR"]) / "libSystem" / hashlib.sha256(text.encode()).hexdigest()[:16] / "libSystem.tbd"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    return str(file)


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
    return ZigMachO(**fields, linker=linker)


def _from_package() -> tuple[str, ...]:
    """The executable of the Python package `ziglang`, where this interpreter has it."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return ()
    return (str(Path(spec.submodule_search_locations[0]) / ("zig.exe" if sys.platform == "win32" else "zig")),)
