"""Owns the platform table as text and as docs/targets.md.

print(targets_text(TARGETS.values()))

docs/targets.md is written by `python -m litert_build.reports.targets > docs/targets.md` (with site_scons on the path).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from litert_build.policy.targets import TARGETS, Target
from litert_build.toolchains.features import bazel_compiler
from litert_build.toolchains.flag_tables import DROPS, LINK_DROPS

_TOOLCHAINS: dict[str, tuple[str, str, str]] = {
    "gcc": ("GCC 11 or later", "libstdc++, static", "`apt-get install g++`; linux-arm64: `g++-aarch64-linux-gnu`"),
    "clang": ("clang 14 or later", "libstdc++, static; `runtime=libc++`: libc++, static", "`apt-get install clang-19 lld-19`"),
    "zig": ("zig 0.17 or later", "libc++, static", "`pip install ziglang`; macOS targets: `apt-get install lld-19`"),
    "mingw": ("MinGW-w64 g++ 11 or later, posix threads", "libstdc++, static", "`apt-get install g++-mingw-w64-x86-64-posix`"),
    "msvc": ("cl.exe 19.29 or later", "MSVC STL, static", "Visual Studio 2022 build tools; `cc=` names cl.exe, `sysroot=` the SDK"),
    "clang-cl": ("clang 14 or later with lld-link", "MSVC STL, static", "`sysroot=` names what `xwin splat` wrote"),
    "ndk": ("Android NDK r28", "libc++, static", "`sysroot=` names the unpacked NDK"),
    "apple-clang": ("Xcode 14 or later", "libc++, system", "`xcode-select --install`"),
}


def targets_text(targets: Iterable[Target]) -> str:
    """Return the table for a console: a row a target, columns aligned."""
    rows = [("target", "library", "default", "toolchains", "runtime", "also named", "note")]
    for row in targets:
        others = ", ".join(name for name in row.toolchains if name != row.default_toolchain) or "-"
        rows.append((row.name, row.library, row.default_toolchain, others, row.runtime.linkage, ", ".join(row.aliases), row.note))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def targets_markdown(targets: Sequence[Target]) -> str:
    """Return docs/targets.md. Nothing in it depends on the machine that writes it."""
    parts = [
        "# Targets",
        "",
        "One row a target; `scons target=NAME toolchain=NAME` chooses. This page is generated from `policy/targets.py` and",
        "`toolchains/`: `PYTHONPATH=site_scons python -m litert_build.reports.targets > docs/targets.md`.",
        "",
        *_table(
            ("target", "also named", "library", "toolchains", "release", "minimum system", "glibc", "pages", "exports", "runs by", "note"),
            [_platform_cells(row) for row in targets],
        ),
        "",
        "`toolchains`: the system's own first. On another system zig is the default where it is listed. `release` builds the published",
        "bundles: for Linux zig, whose hosts need no glibc newer than the column says; other compilers need their own machine's.",
        "A macOS host by zig carries zig's libc++ where Apple's clang takes the system's: it proves the rules on any machine.",
        "",
        "## The one C++ runtime",
        "",
        *_table(("target", "linked", "why"), [(row.name, row.runtime.linkage, row.runtime.why) for row in targets]),
        "",
        "A prebuilt static archive that holds C++ is refused before the link: it was compiled against a standard library that nothing here",
        "can see. Shared companions with a C API are no part of the link.",
        "",
        "## Toolchains",
        "",
        *_table(
            ("toolchain", "needs", "C++ runtime", "how to get it", "`@bazel_tools//tools/cpp:compiler`"),
            [(name, *cells, f"`{bazel_compiler(name)}`") for name, cells in _TOOLCHAINS.items()],
        ),
        "",
        "`cc=`, `cxx=`, `sysroot=` and `runtime=` set them up; `CC`, `CXX`, `CFLAGS` and the like of the calling shell are not read.",
        "",
        "## Constraints and upstream's flags",
        "",
        "The constraint values decide select(); the flags are those of upstream's .bazelrc, for target code alone, never for exec tools.",
        "",
        *_table(("target", "cpu", "constraints", "flags", "defines"), [_flag_cells(row) for row in targets]),
        "",
        "## System libraries",
        "",
        "What a host may need without bundling it.",
        "",
        *_table(("target", "libraries"), [(row.name, ", ".join(f"`{name}`" for name in row.system_libraries)) for row in targets]),
        "",
        "## Flags that are left out on purpose",
        "",
        "Upstream's flags are rendered for the compiler in use. A flag that none knows is an error at its BUILD line; these are left out:",
        "",
        *_table(
            ("flags (regular expression)", "for", "because"),
            [(_code(drop.pattern), ", ".join(drop.dialects), drop.reason) for drop in DROPS]
            + [(_code(drop.pattern), ", ".join(drop.dialects), drop.reason) for drop in LINK_DROPS],
        ),
    ]
    return "\n".join(parts) + "\n"


def _platform_cells(row: Target) -> tuple[str, ...]:
    system = {"android": f"API {row.minimum_os}"}.get(row.os, row.minimum_os) or "-"
    if row.minimum_os_limit != row.minimum_os:
        system += f", at most {row.minimum_os_limit}"
    pages = f"{row.page_size // 1024} KiB" if row.page_size else "-"
    aliases, toolchains = ", ".join(row.aliases), ", ".join(row.toolchains)
    cells = (row.library, toolchains, row.release_toolchain, system, row.glibc or "-", pages, row.export_mechanism, row.runner, row.note)
    return (f"`{row.name}`", aliases, *cells)


def _flag_cells(row: Target) -> tuple[str, ...]:
    flags = " ".join(f"`{flag}`" for flag in (*row.flags.copts, *row.flags.cxxopts, *row.flags.conlyopts, *row.flags.linkopts))
    defines = " ".join(f"`{name}={value}`" for name, value in row.flags.defines)
    return row.name, f"`{row.cpu}`", " ".join(f"`{label}`" for label in row.constraints), flags, defines


def _code(pattern: str) -> str:
    """A pattern in a table cell: a bar would end the cell, and an expression of hundreds of names is shortened."""
    short = pattern if len(pattern) < 120 else pattern[:117] + "..."
    return "`" + short.replace("|", "\\|") + "`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]


if __name__ == "__main__":
    print(targets_markdown(list(TARGETS.values())), end="")
