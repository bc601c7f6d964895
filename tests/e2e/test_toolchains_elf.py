"""Each ELF toolchain builds a small C++ host for real; what is not installed is skipped by name."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest
from litert_build.actions import Compile, Link
from litert_build.binaries.facts import BinaryFacts
from litert_build.binaries.reader import read_binary
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.runners import run_argv
from litert_build.toolchains.variants import with_lto

from tests.e2e.toolchain_builds import build, run, toolchain_or_skip

pytestmark = pytest.mark.skipif(platform.system() != "Linux" or platform.machine() != "x86_64", reason="needs Linux on x86_64")

ROWS = [
    ("linux-x64", "gcc", ""),
    ("linux-x64", "clang", ""),
    ("linux-x64", "clang", "libc++"),
    ("linux-x64", "zig", ""),
    ("linux-arm64", "gcc", ""),
    ("linux-arm64", "clang", ""),
    ("linux-arm64", "zig", ""),
]
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[argc - 1], RTLD_NOW);
  if (!library) { puts(dlerror()); return 1; }
  int (*answer)(void) = (int (*)(void))dlsym(library, "answer");
  printf("%d\\n", answer());
  return 0;
}
"""


def load_and_call(folder: Path, toolchain: Toolchain, library: str) -> str:
    """Build a program of the target that opens `library`, and return what it prints."""
    (folder / "load.c").write_text(LOADER)
    loader = Compile("//:load", "load.c", "out/load.o", "out/load.d", "target", "c", (), (), ("-O1",))
    run(folder, toolchain, toolchain.compile_argv(loader))
    link = Link("//:load", "out/load", "executable", "target", ("out/load.o",), flags=("-ldl",))
    (folder / "out/load.rsp").write_text("\n".join(toolchain.response_lines(link)))
    run(folder, toolchain, toolchain.link_argv(link, "out/load.rsp"))
    argv = run_argv(toolchain.target, "out/load", [f"./{library}"])
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False).stdout


def needs_one_runtime(facts: BinaryFacts) -> None:
    assert not [name for name in facts.needed if "c++" in name or "gcc_s" in name]
    assert len(facts.evidence.families) <= 1


@pytest.mark.parametrize(("target", "name", "runtime"), ROWS)
def test_a_host_has_one_export_one_runtime_and_is_hardened(tmp_path: Path, target: str, name: str, runtime: str) -> None:
    toolchain = toolchain_or_skip(name, target, runtime)
    plan = build(tmp_path, toolchain)
    facts = read_binary(tmp_path / plan.library)
    assert facts.exported_names == {"answer", "spoken"}
    assert (facts.soname, facts.runpath, facts.rpath) == ("libLiteRtLm.so", ("$ORIGIN",), ())
    assert facts.relro and facts.bind_now and facts.nx and not facts.text_relocations
    needs_one_runtime(facts)
    assert load_and_call(tmp_path, toolchain, plan.library) == "42\n"
    assert "answer.pic.o" in (tmp_path / plan.link_map).read_text()


@pytest.mark.parametrize("target", ["linux-x64", "linux-arm64"])
def test_zig_needs_no_symbol_newer_than_the_rows_glibc(tmp_path: Path, target: str) -> None:
    toolchain = toolchain_or_skip("zig", target)
    facts = read_binary(tmp_path / build(tmp_path, toolchain).library)
    versions = [version.removeprefix("GLIBC_") for needs in facts.version_needs.values() for version in needs if "GLIBC_" in version]
    assert versions
    assert max(tuple(map(int, version.split("."))) for version in versions) <= (2, 28)


@pytest.mark.parametrize(("target", "name", "runtime"), ROWS)
def test_two_folders_give_the_same_bytes(tmp_path: Path, target: str, name: str, runtime: str) -> None:
    toolchain = toolchain_or_skip(name, target, runtime)
    libraries = []
    for folder in (tmp_path / "a", tmp_path / "with a longer näme"):
        folder.mkdir()
        libraries.append((folder / build(folder, toolchain).library).read_bytes())
    assert libraries[0] == libraries[1]


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_split_debug_keeps_the_symbols_beside(tmp_path: Path, name: str) -> None:
    toolchain = toolchain_or_skip(name, "linux-x64")
    plan = build(tmp_path, toolchain, split_debug=True)
    stripped, whole = read_binary(tmp_path / plan.library), read_binary(tmp_path / plan.debug_file)
    assert ".symtab" not in dict(stripped.sections)
    assert ".symtab" in dict(whole.sections)
    assert stripped.build_id == whole.build_id


@pytest.mark.parametrize(("target", "name"), [("linux-x64", "gcc"), ("linux-x64", "clang"), ("linux-x64", "zig"), ("linux-arm64", "gcc")])
def test_a_host_that_is_optimized_at_link_time_is_the_same_host(tmp_path: Path, target: str, name: str) -> None:
    toolchain = with_lto(toolchain_or_skip(name, target))
    plan = build(tmp_path, toolchain)
    facts = read_binary(tmp_path / plan.library)
    assert facts.exported_names == {"answer", "spoken"}
    needs_one_runtime(facts)
    assert load_and_call(tmp_path, toolchain, plan.library) == "42\n"


def test_an_undefined_symbol_stops_the_link(tmp_path: Path) -> None:
    toolchain = toolchain_or_skip("gcc", "linux-x64")
    with pytest.raises(AssertionError, match="undefined reference to `absent'"):
        build(tmp_path, toolchain, 'extern "C" int absent(); extern "C" int answer() { return absent(); }')


@pytest.mark.parametrize("name", ["gcc", "clang", "zig"])
def test_a_missing_required_export_is_left_to_the_gate(tmp_path: Path, name: str) -> None:
    toolchain = toolchain_or_skip(name, "linux-x64")
    plan = build(tmp_path, toolchain, 'extern "C" int other() { return 1; }')
    assert read_binary(tmp_path / plan.library).exported_names == set()
