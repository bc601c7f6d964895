"""Typed flags: their kinds, their spelling for each compiler, what is dropped and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.actions import Origin, Traced
from litert_build.bazel.analysis import Analyzer, on_deep_stack
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.reports.explain import explain
from litert_build.sources.lock import Lock, Product, Repository
from litert_build.toolchains.flag_tables import CL, DROPS, GNU, Dialect
from litert_build.toolchains.flags import check, dropped, kind, render, render_link, words

AT = Origin("copts", "//a:b", "a/BUILD:7")


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("-Wall", "warning"),
        ("-Wl,-z,now", "link"),
        ("-Wa,-mbig-obj", "tool"),
        ("-Wp,-DX", "define"),
        ("-std=c++20", "standard"),
        ("/std:c++20", "standard"),
        ("-O3", "optimize"),
        ("-g0", "debug"),
        ("-mavx2", "arch"),
        ("/arch:AVX2", "arch"),
        ("-fno-exceptions", "codegen"),
        ("-ffp-contract=off", "codegen"),
        ("/EHsc", "codegen"),
        ("-pthread", "thread"),
        ("-DX=1", "define"),
        ("-isystem", "include"),
        ("/wd4018", "warning"),
    ],
)
def test_a_flag_has_a_kind(flag: str, expected: str) -> None:
    assert kind(flag) == expected


def test_an_unknown_flag_names_its_build_line_and_the_nearest() -> None:
    with pytest.raises(BuildError) as caught:
        check([Traced("-fno-excptions", AT)])
    assert str(caught.value) == "a/BUILD:7: no compiler knows the flag '-fno-excptions'\n  -> did you mean -fno-exceptions?"


@pytest.mark.parametrize("dialect", [*GNU, *CL])
def test_no_compiler_is_given_a_flag_that_none_knows(dialect: Dialect) -> None:
    with pytest.raises(BuildError, match="a/BUILD:7: no compiler knows the flag '--turbo'"):
        render([Traced("--turbo", AT)], dialect)


def test_a_flag_without_its_argument_is_refused() -> None:
    with pytest.raises(BuildError) as caught:
        list(words(["-O2", Traced("-include", AT)]))
    assert str(caught.value) == "a/BUILD:7: flag '-include' has no argument\n  -> give it one, or remove it"


def test_an_argument_stays_with_its_flag() -> None:
    assert render(["-include", "a b.h", "-Xclang", "-fno-validate-pch"], "clang") == ["-include", "a b.h", "-Xclang", "-fno-validate-pch"]


@pytest.mark.parametrize(
    ("flags", "dialect", "expected"),
    [
        (["-std=c++20", "-O3", "-fno-exceptions", "-fno-rtti"], "msvc", ["/std:c++20", "/O2", "/EHs-c-", "/GR-"]),
        (["-mavx2", "-ffp-contract=off", "-fdata-sections"], "msvc", ["/arch:AVX2", "/fp:precise", "/Gw"]),
        (["-fno-strict-aliasing", "-Wextra"], "clang-cl", ["/clang:-fno-strict-aliasing", "/clang:-Wextra"]),
        (["-w", "-include", "x.h"], "msvc", ["/w", "/FIx.h"]),
        (["-Wall", "--pedantic-errors", "-pedantic", "-O2"], "msvc", ["/O2"]),
        (["-Wall", "--pedantic-errors", "-pedantic", "-O2"], "gcc", ["-Wall", "--pedantic-errors", "-pedantic", "-O2"]),
        (["/std:c++20", "/EHsc", "/W0", "/O2", "/DX=1"], "gcc", ["-std=c++20", "-fexceptions", "-w", "-O2", "-DX=1"]),
        (["/clang:-O3", "/arch:AVX2"], "clang", ["-O3", "-mavx2"]),
        (["/bigobj"], "mingw", ["-Wa,-mbig-obj"]),
        (["-mtune=generic", "-march=armv8-a"], "zig", ["-march=armv8-a"]),
        (["-fPIC", "-fvisibility=hidden", "-O2"], "mingw", ["-O2"]),
    ],
)
def test_flags_are_spelled_for_the_compiler(flags: list[str], dialect: Dialect, expected: list[str]) -> None:
    assert render(flags, dialect) == expected


@pytest.mark.parametrize("dialect", GNU)
def test_what_upstream_needs_for_exact_numbers_survives(dialect: Dialect) -> None:
    flags = ["-fno-exceptions", "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno"]
    assert render(flags, dialect) == flags


def test_a_flag_without_a_spelling_says_where_it_belongs() -> None:
    with pytest.raises(BuildError) as caught:
        render([Traced("-fsanitize=address", AT)], "msvc")
    assert str(caught.value) == (
        "a/BUILD:7: msvc has no spelling for the flag '-fsanitize=address'\n"
        "  -> put it into a select() branch of its compilers, or into DROPS with the reason why it can go"
    )


def test_a_drop_has_a_reason_that_can_be_shown() -> None:
    assert dropped(["-Wthread-safety", "-O2"], "gcc") == [("-Wthread-safety", "clang's warning; gcc refuses the name")]
    assert all(drop.reason for drop in DROPS)


def test_clang_alone_gets_its_warnings() -> None:
    assert render(["-Werror=thread-safety", "-Wno-self-assign"], "gcc") == ["-Wno-self-assign"]
    assert render(["-Werror=thread-safety"], "clang") == ["-Werror=thread-safety"]


@pytest.mark.parametrize(
    ("flags", "dialect", "expected"),
    [
        (["-lpthread", "-ldl", "-lz"], "elf", ["-lpthread", "-ldl", "-lz"]),
        (["-lpthread", "-lrt", "-landroid"], "android", ["-landroid"]),
        (["-ldl", "-Wl,-z,now", "-lws2_32"], "pe-gnu", ["-lws2_32"]),
        (["-lm", "-framework", "Metal", "-Wl,--gc-sections"], "macho", ["-framework", "Metal"]),
        (["-lm", "-lws2_32", "-DEFAULTLIB:ole32.lib"], "cl", ["ws2_32.lib", "/DEFAULTLIB:ole32.lib"]),
        (["/DELAYLOAD:dxgi.dll"], "cl", ["/DELAYLOAD:dxgi.dll"]),
        (["-lstdc++", "-static-libgcc", "-lc++"], "elf", []),
        (["-framework", "Metal"], "elf", []),
    ],
)  # fmt: skip
def test_link_options_are_spelled_for_the_linker(flags: list[str], dialect: str, expected: list[str]) -> None:
    assert render_link(flags, dialect) == expected  # type: ignore[arg-type]


def test_a_linker_option_that_link_exe_lacks_is_refused() -> None:
    with pytest.raises(BuildError, match=r"a/BUILD:7: link\.exe has no spelling for '-Wl,--wrap=malloc'"):
        render_link([Traced("-Wl,--wrap=malloc", AT)], "cl")


def test_explain_shows_why_a_flag_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "BUILD").write_text('cc_library(name = "a", srcs = ["a.cc"], copts = ["-Wthread-safety"])\n')
    (tmp_path / "a.cc").touch()
    lock = Lock(tmp_path / "l.json", "r", "r", "main", {"main": Repository("main", tmp_path)}, ("//:a",), Product("objects"))
    analyzer = Analyzer(lock, {"main": tmp_path}, find_target("linux-x64"), "gcc", "gcc")
    text = on_deep_stack(lambda: explain(analyzer, "//:a", flag="-Wthread-safety"))
    assert text.endswith("; left out for gcc: clang's warning; gcc refuses the name")
    assert text.startswith("-Wthread-safety: added by copts of //:a at ")
