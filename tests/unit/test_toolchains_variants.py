"""Link-time optimization, debug information and split symbols, in command lines and plans."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.actions import Compile, Link, LinkInputs, Run
from litert_build.errors import BuildError
from litert_build.hosts import export_list, plan_host
from litert_build.incremental.depfile import read_depfile
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains import apple, clang_cl, msvc, ndk
from litert_build.toolchains.gnu import GnuToolchain, quote
from litert_build.toolchains.probe import Tool
from litert_build.toolchains.variants import with_debug, with_lto

TOOL = Tool("/bin/cc", "cc version 1.2.3", "0" * 64)
ACTION = Compile("//:a", "a.cc", "a.o", "a.d", "target", "c++", ("X=1",), (), ("-U_FORTIFY_SOURCE", "-g0", "-UNDEBUG"))
LOCK = Lock(Path("a.json"), "a", "a", "a", {}, (), Product("host", required=("api_create",), allowed=("api_*",)))


def plain_gcc(**fields: object) -> GnuToolchain:
    known: dict[str, object] = {
        "name": "gcc",
        "cc": TOOL,
        "cxx": TOOL,
        "strip": ("true",),
        "cxx_runtime": "libstdc++, static",
        "dialect": "gcc",
    }
    return GnuToolchain(target=find_target("linux-x64"), **{**known, **fields})  # type: ignore[arg-type]


def test_the_tables_undefine_stands_before_the_defines_and_a_targets_own_after() -> None:
    argv = plain_gcc().compile_argv(ACTION)
    assert argv.index("-U_FORTIFY_SOURCE") < argv.index("-DX=1") < argv.index("-UNDEBUG")


def test_debug_information_wins_over_the_tables_g0() -> None:
    argv = with_debug(plain_gcc()).compile_argv(ACTION)
    assert argv.index("-g0") < argv.index("-g")


def test_gcc_optimizes_at_link_time_with_counted_threads() -> None:
    toolchain = with_lto(plain_gcc())
    assert "-flto" in toolchain.compile_argv(ACTION)
    lines = toolchain.response_lines(Link("//:h", "h.so", "shared", "target", ("a.o",)))
    assert any(line.startswith("-flto=") and line.removeprefix("-flto=").isdigit() for line in lines)
    assert toolchain.identity != plain_gcc().identity


def test_clang_without_lld_cannot_optimize_at_link_time() -> None:
    with pytest.raises(BuildError, match="clang cannot optimize at link time here"):
        with_lto(plain_gcc(name="clang", dialect="clang"))


def test_msvc_and_clang_cl_optimize_at_link_time() -> None:
    target = find_target("windows-x64")
    link = Link("//:h", "h.dll", "shared", "target", ("a.o",))
    cl = with_lto(msvc.assemble("msvc", target, TOOL, TOOL, ((), ())))
    assert "/GL" in cl.compile_argv(ACTION)
    assert "/LTCG" in cl.response_lines(link)
    llvm = with_lto(msvc.assemble("clang-cl", target, TOOL, TOOL, ((), ()), clang_cl.driver_of(target)))
    assert "-flto=thin" in llvm.compile_argv(ACTION)


def test_a_delay_load_brings_its_helper() -> None:
    cl = msvc.assemble("msvc", find_target("windows-x64"), TOOL, TOOL, ((), ()))
    lines = cl.response_lines(Link("//:h", "h.dll", "shared", "target", ("a.o",), flags=("/DELAYLOAD:dxgi.dll",)))
    assert "delayimp.lib" in lines


def test_assembly_for_gcc_is_refused_by_cl() -> None:
    cl = msvc.assemble("msvc", find_target("windows-x64"), TOOL, TOOL, ((), ()))
    with pytest.raises(BuildError, match=r"a/BUILD:3: msvc does not assemble gcc's a\.S"):
        cl.compile_argv(Compile("//:a", "a.S", "a.o", "a.d", "target", "asm", (), (), (), location="a/BUILD:3"))


def test_split_symbols_strip_after_the_link() -> None:
    plan = plan_host(LinkInputs(("a.o",)), LOCK, find_target("linux-x64"), plain_gcc(), out_dir="out", split_debug=True)
    link, strip = plan.actions[1:]
    assert isinstance(link, Link) and isinstance(strip, Run)
    assert (link.output, strip.outputs) == ("out/libLiteRtLm.so.debug", ("out/libLiteRtLm.so",))
    assert (plan.library, plan.debug_file) == ("out/libLiteRtLm.so", "out/libLiteRtLm.so.debug")


def test_apple_keeps_exported_names_when_it_strips() -> None:
    toolchain = apple.assemble(find_target("macos-arm64"), TOOL, TOOL, "/sdk")
    assert toolchain.strip_argv("a.dylib", "b.dylib") == ["/usr/bin/strip", "-x", "-o", "b.dylib", "a.dylib"]


def test_android_links_its_own_page_size_and_scope() -> None:
    toolchain = ndk.assemble(find_target("android-arm64"), TOOL, TOOL, "strip")
    plan = plan_host(LinkInputs(("a.o",)), LOCK, find_target("android-arm64"), toolchain, out_dir="out")
    link = plan.actions[1]
    assert isinstance(link, Link)
    assert {"-Wl,-z,max-page-size=16384", "-Wl,-z,global"} <= set(link.platform_flags)


@pytest.mark.parametrize(
    "flag",
    [
        "-Wl,-soname,libx.so",
        "-Wl,-soname=libx.so",
        "-Wl,--version-script,x.lds",
        "-Wl,--version-script=x.lds",
        "-Wl,-rpath,$ORIGIN/,-rpath,$ORIGIN/..",
        "-Wl,-s",
    ],
)
def test_a_host_has_its_own_name_exports_and_search_path(flag: str) -> None:
    """A root that is a shared library says how its own file is linked: of that a host takes what holds for any file."""
    inputs = LinkInputs(("a.o",), flags=("-Wl,--no-undefined", flag, "-ldl"))
    link = plan_host(inputs, LOCK, find_target("linux-x64"), plain_gcc(), out_dir="out").actions[1]
    assert isinstance(link, Link)
    assert link.flags == ("-Wl,--no-undefined", "-ldl")


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("linux-x64", "{\n  global:\n    api_*;\n    api_create;\n    hel[p];\n  local:\n    *;\n};\n"),
        ("macos-arm64", "_api_*\n_api_create\n_hel[p]\n"),
        ("windows-x64", "LIBRARY L\nEXPORTS\n    api_create\n"),
    ],
)
def test_the_export_list_is_in_the_linkers_form(target: str, text: str) -> None:
    product = Product("host", required=("api_create",), allowed=("help", "api_*"))
    assert export_list(product, find_target(target), "L", "a.json") == text


@pytest.mark.parametrize("names", [(), ("*",), ("_*",), ("api*",), ("_ZN*",), ("a b",), ("api_*_x",)])
def test_an_export_list_that_means_nothing_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(BuildError, match=r"exports nothing|is not a C symbol name|lets out more than a C API"):
        export_list(Product("host", allowed=names), find_target("linux-x64"), "L", "a.json")


def test_a_prebuilt_archive_of_cxx_stops_the_plan_of_a_host(tmp_path: Path) -> None:
    (tmp_path / "libx.a").write_bytes(b"!<arch>\n\0_Znwm\0")
    with pytest.raises(BuildError, match=r"a\.json: libx\.a is a prebuilt static archive that holds C\+\+"):
        plan_host(LinkInputs(("a.o",), libraries=("libx.a",)), LOCK, find_target("linux-x64"), plain_gcc(), out_dir="out", root=tmp_path)


def test_a_lock_of_objects_makes_no_host() -> None:
    lock = Lock(Path("a.json"), "abseil", "a", "a", {}, (), Product("objects"))
    with pytest.raises(BuildError, match="abseil makes objects, not a host"):
        plan_host(LinkInputs(), lock, find_target("linux-x64"), plain_gcc(), out_dir="out")


def test_a_response_file_keeps_spaces_and_backslashes() -> None:
    assert quote("a b.o") == '"a b.o"'
    assert quote('c:\\x"y') == '"c:\\\\x\\"y"'


def test_the_dependencies_that_cl_writes_are_read() -> None:
    text = '{"Version": "1.2", "Data": {"Source": "a.cc", "ProvidedModule": "", "Includes": ["c:\\\\sdk\\\\x.h", "y.h", "y.h"]}}'
    assert read_depfile(text) == ["a.cc", "c:\\sdk\\x.h", "y.h"]
