"""Owns Bazel's cc toolchain flag table: what stands before a target's own flags, and what stands after them.

default_flags("gcc", "c++", "opt", pic=True)      # ('-U_FORTIFY_SOURCE', '-fstack-protector', ..., '-std=c++14', '-fPIC')

The rows are those of Bazel 7's unix and windows cc toolchains (bazelbuild/bazel tools/cpp/unix_cc_configure.bzl and
windows_cc_toolchain_config.bzl); the oracle snapshot of real Bazel commands holds the gcc column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from litert_build.actions import Language, Origin, Traced
from litert_build.errors import BuildError, nearest

Family = Literal["gcc", "clang", "mingw", "cl"]
Mode = Literal["opt", "fastbuild", "dbg"]

# The family a toolchain's flags come from, and the value it gives to @bazel_tools//tools/cpp:compiler, which select() reads.
_FAMILY: dict[str, tuple[Family, str]] = {
    "gcc": ("gcc", "gcc"),
    "clang": ("clang", "clang"),
    "zig": ("clang", "clang"),
    "ndk": ("clang", "clang"),
    "apple-clang": ("clang", "clang"),
    "mingw": ("mingw", "mingw-gcc"),
    "msvc": ("cl", "msvc-cl"),
    "clang-cl": ("cl", "clang-cl"),
}

_GCC_WARNINGS = ("-Wall", "-Wunused-but-set-parameter", "-Wno-free-nonheap-object")
# -fcolor-diagnostics is left out of clang's row: colour is the console's choice.
_CLANG_WARNINGS = ("-Wall", "-Wthread-safety", "-Wself-assign", "-Wunused-but-set-parameter", "-Wno-free-nonheap-object")
_CL_BASE = (
    "-DCOMPILER_MSVC", "-DNOMINMAX", "-D_WIN32_WINNT=0x0601", "-D_CRT_SECURE_NO_DEPRECATE", "-D_CRT_SECURE_NO_WARNINGS",
    "/bigobj", "/Zm500", "/EHsc", "/wd4351", "/wd4291", "/wd4250", "/wd4996",
)  # fmt: skip
_MINGW_BASE = ("-DNOMINMAX", "-Wa,-mbig-obj")
_BASE: dict[Family, tuple[str, ...]] = {
    "gcc": ("-U_FORTIFY_SOURCE", "-fstack-protector", *_GCC_WARNINGS, "-fno-omit-frame-pointer"),
    "clang": ("-U_FORTIFY_SOURCE", "-fstack-protector", *_CLANG_WARNINGS, "-fno-omit-frame-pointer"),
    "mingw": (*_MINGW_BASE, *_GCC_WARNINGS, "-fno-omit-frame-pointer"),
    "cl": _CL_BASE,
}
_UNIX_OPT = ("-g0", "-O2", "-D_FORTIFY_SOURCE=1", "-DNDEBUG", "-ffunction-sections", "-fdata-sections")
_MINGW_OPT = ("-g0", "-O2", "-DNDEBUG", "-ffunction-sections", "-fdata-sections")
_MODE: dict[tuple[Family, Mode], tuple[str, ...]] = {
    ("gcc", "opt"): _UNIX_OPT,
    ("clang", "opt"): _UNIX_OPT,
    ("mingw", "opt"): _MINGW_OPT,
    ("cl", "opt"): ("/O2", "/Oy-", "-DNDEBUG", "/Gy", "/Gw"),
    ("gcc", "dbg"): ("-g",),
    ("clang", "dbg"): ("-g",),
    ("mingw", "dbg"): ("-g",),
    ("cl", "dbg"): ("/Od", "/Z7"),
}
_CXX_STANDARD: dict[Family, tuple[str, ...]] = {"gcc": ("-std=c++14",), "clang": ("-std=c++14",), "mingw": ("-std=c++14",)}
_PIC: dict[Family, tuple[str, ...]] = {"gcc": ("-fPIC",), "clang": ("-fPIC",)}  # all code of PE is position independent
_REDACTED = ('-D__DATE__="redacted"', '-D__TIMESTAMP__="redacted"', '-D__TIME__="redacted"')
_UNFILTERED: dict[Family, tuple[str, ...]] = {
    "gcc": ("-fno-canonical-system-headers", "-Wno-builtin-macro-redefined", *_REDACTED),
    "clang": ("-no-canonical-prefixes", "-Wno-builtin-macro-redefined", *_REDACTED),
    "mingw": ("-Wno-builtin-macro-redefined", *_REDACTED),
    "cl": ("/wd4117", *_REDACTED),
}
_WERROR: dict[Family, str] = {"gcc": "-Werror", "clang": "-Werror", "mingw": "-Werror", "cl": "/WX"}

# Features that BUILD files of the closure name. What Bazel's toolchain does on each, or why it changes no command here.
FEATURES: dict[str, str] = {
    "default_compile_flags": "the rows before a target's own flags",
    "unfiltered_compile_flags": "the rows after a target's own flags",
    "treat_warnings_as_errors": "-Werror",
    "layering_check": "no effect: needs clang module maps; undeclared inclusions are found from depfiles",
    "parse_headers": "no effect: headers are compiled by who includes them",
    "header_modules": "no effect: headers are read as text",
    "use_header_modules": "no effect: headers are read as text",
    "no_legacy_features": "no effect: there are no legacy features",
    "legacy_whole_archive": "no effect: a host is linked from objects",
    "windows_export_all_symbols": "no effect: export lists are generated",
    "dynamic_link_test_srcs": "no effect: tests are declared, not linked",
    "pic": "no effect: every object is position independent",
    "supports_pic": "no effect: every object is position independent",
    "static_link_cpp_runtimes": "no effect: the runtime policy of the target decides",
    "compiler_param_file": "no effect: the toolchain decides",
    "static_link_msvcrt": "no effect: the runtime policy of the target decides",
    "dynamic_link_msvcrt": "no effect: the runtime policy of the target decides",
}


def family_of(toolchain: str) -> Family:
    """Return which column of the table a toolchain name reads."""
    return _FAMILY[toolchain][0]


def bazel_compiler(toolchain: str) -> str:
    """Return the value of @bazel_tools//tools/cpp:compiler that select() sees under a toolchain name."""
    return _FAMILY[toolchain][1]


def default_flags(
    toolchain: str, language: Language, mode: Mode = "opt", pic: bool = True, features: Iterable[str] = ()
) -> tuple[Traced, ...]:
    """Return the flags and -D defines that stand before a target's own, in Bazel's order, each traced to its row.

    `features` are a target's effective feature names, `-name` where it is switched off. Raises BuildError, at its BUILD line, for one
    that is switched on and that the table does not know.
    """
    off, on = _switches(features)
    family = family_of(toolchain)
    rows: list[Traced] = []
    if "default_compile_flags" not in off:
        rows += [*_traced(family, "base", _BASE[family]), *_traced(family, mode, _MODE.get((family, mode), ()))]
        if language in ("c++", "objc++"):
            rows += _traced(family, "c++", _CXX_STANDARD.get(family, ()))
    if pic:
        rows += _traced(family, "pic", _PIC.get(family, ()))
    if "treat_warnings_as_errors" in on:
        rows += _traced(family, "treat_warnings_as_errors", (_WERROR[family],))
    return tuple(rows)


def unfiltered_flags(toolchain: str, features: Iterable[str] = ()) -> tuple[Traced, ...]:
    """Return the flags and -D defines that stand after a target's own: what makes objects reproducible."""
    off, _ = _switches(features)
    family = family_of(toolchain)
    return () if "unfiltered_compile_flags" in off else tuple(_traced(family, "unfiltered", _UNFILTERED[family]))


def _switches(features: Iterable[str]) -> tuple[Collection[str], Collection[str]]:
    """Return (names switched off, names switched on). What the table does not know may be switched off: it is off."""
    off, on = set[str](), set[str]()
    for feature in features:
        if feature.startswith("-"):
            off.add(feature[1:])
        elif feature in FEATURES:
            on.add(feature)
        else:
            origin = feature.origin if isinstance(feature, Traced) else None
            where = origin.location if origin else ""
            mend = nearest(feature, FEATURES) or "add it to FEATURES in toolchains/features.py with what it does"
            raise BuildError(f"unknown feature {str(feature)!r}", where=where, mend=mend)
    return off, on


def _traced(family: Family, row: str, flags: tuple[str, ...]) -> list[Traced]:
    return [Traced(flag, Origin("flag table", branch=f"{family}, {row}")) for flag in flags]
