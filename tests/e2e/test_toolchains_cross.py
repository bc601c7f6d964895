"""Windows and macOS hosts, cross-built for real where the compilers are installed."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from litert_build.binaries.linkmap import LinkMap
from litert_build.binaries.reader import read_binary

from tests.e2e.toolchain_builds import answer_under_wine, build, toolchain_or_skip

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="needs Linux")

WINDOWS = ["mingw", "zig"]
MACOS = [("macos-arm64", "arm64"), ("macos-x64", "x64")]


@pytest.mark.parametrize("name", WINDOWS)
def test_a_dll_has_one_export_and_needs_the_system_alone(tmp_path: Path, name: str) -> None:
    toolchain = toolchain_or_skip(name, "windows-x64")
    plan = build(tmp_path, toolchain)
    facts = read_binary(tmp_path / plan.library)
    assert facts.exported_names == {"answer", "spoken"}
    assert [needed for needed in facts.needed if needed.lower() not in ("kernel32.dll", "msvcrt.dll") and "api-ms-" not in needed] == []
    assert {"DYNAMIC_BASE", "NX_COMPAT", "HIGH_ENTROPY_VA"} <= set(facts.flags)
    assert (tmp_path / plan.import_library).stat().st_size > 0


@pytest.mark.parametrize("name", WINDOWS)
def test_a_dll_runs_under_wine(tmp_path: Path, name: str) -> None:
    toolchain = toolchain_or_skip(name, "windows-x64")
    plan = build(tmp_path, toolchain)
    assert answer_under_wine(tmp_path, toolchain, plan.library) == "42"


@pytest.mark.parametrize(
    ("target", "name"), [("windows-x64", "mingw"), ("windows-x64", "zig"), ("macos-arm64", "zig"), ("macos-x64", "zig")]
)
def test_two_folders_give_the_same_library(tmp_path: Path, target: str, name: str) -> None:
    toolchain = toolchain_or_skip(name, target)
    libraries = []
    for folder in (tmp_path / "a", tmp_path / "with a longer name"):
        folder.mkdir()
        libraries.append((folder / build(folder, toolchain).library).read_bytes())
    assert libraries[0] == libraries[1]


@pytest.mark.parametrize(("target", "arch"), MACOS)
def test_a_dylib_has_its_exports_its_names_and_its_minimum_os(tmp_path: Path, target: str, arch: str) -> None:
    toolchain = toolchain_or_skip("zig", target)
    plan = build(tmp_path, toolchain)
    facts = read_binary(tmp_path / plan.library)
    assert facts.exported_names == {"answer", "spoken"}
    assert (facts.arch, facts.soname, facts.minimum_os) == (arch, "@rpath/libLiteRtLm.dylib", "14.0")
    assert facts.needed == ("/usr/lib/libSystem.B.dylib",)
    assert list(facts.evidence.families) == ["libc++"]
    assert {symbol.library for symbol in facts.imports} == {"/usr/lib/libSystem.B.dylib"}
    assert facts.runpath == ("@loader_path",)
    assert "answer.pic.o" in (tmp_path / plan.link_map).read_text()


def test_the_map_of_ld64_says_which_object_brought_a_symbol(tmp_path: Path) -> None:
    toolchain = toolchain_or_skip("zig", "macos-arm64")
    plan = build(tmp_path, toolchain)
    link_map = LinkMap.read(tmp_path / plan.link_map)
    assert link_map.sources("answer") == ("out/answer.pic.o",)
    assert not link_map.sources("no_such_symbol")
