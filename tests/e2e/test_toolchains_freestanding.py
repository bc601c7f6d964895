"""The toolchains whose systems cannot be had here, run for real over code that needs no system: LLVM's clang stands in for the
NDK's and Apple's, stub libraries for the SDK's. What they link is judged like any host."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.actions import Compile, Link, LinkInputs, Write
from litert_build.binaries.facts import BinaryFacts
from litert_build.binaries.reader import read_binary
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy
from litert_build.errors import BuildError
from litert_build.hosts import plan_host
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains import apple, clang_cl, msvc, ndk
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.cl import SYSTEM_LIBRARIES
from litert_build.toolchains.clang import llvm_tools, versioned
from litert_build.toolchains.features import default_flags
from litert_build.toolchains.gnu import GnuToolchain
from litert_build.toolchains.probe import Tool, find_tool

from tests.e2e.toolchain_builds import answer_under_wine, run, toolchain_or_skip

SOURCE = """
static int table[3] = {40, 1, 1};
#ifdef _WIN32
__declspec(dllexport)
#endif
int answer(void) { return table[0] + table[1] + table[2]; }
"""


def llvm(name: str, beside: Tool | None = None) -> Tool:
    try:
        return find_tool(llvm_tools(beside, name) if beside else versioned(name), name, "apt-get install llvm-19", version_argument="")
    except BuildError as missing:
        pytest.skip(missing.what)


def link(folder: Path, toolchain: Toolchain) -> Path:
    """Compile SOURCE and link it by the plan of a host; returns the library."""
    flags = [*default_flags(toolchain.name, "c"), "-ffreestanding"]
    (folder / "answer.c").write_text(SOURCE)
    (folder / "out").mkdir()
    compiling = Compile("//:a", "answer.c", "out/answer.o", "out/answer.d", "target", "c", (), (), tuple(f for f in flags if f[:2] != "-D"))
    run(folder, toolchain, toolchain.compile_argv(compiling))
    lock = Lock(folder / "a.json", "a", "a", "a", {}, (), Product("host", required=("answer",)))
    plan = plan_host(LinkInputs((compiling.output,)), lock, toolchain.target, toolchain, out_dir="out")
    for action in plan.actions:
        if isinstance(action, Write):
            (folder / action.output).write_text(action.content)
        elif isinstance(action, Link):
            (folder / "out/link.rsp").write_text("\n".join(toolchain.response_lines(action)))
            run(folder, toolchain, toolchain.link_argv(action, "out/link.rsp"))
    return folder / plan.library


def android(page_size: int) -> GnuToolchain:
    clang, clangxx = llvm("clang"), llvm("clang++")
    llvm("ld.lld", clang)
    target = replace(find_target("android-arm64"), page_size=page_size)
    toolchain = ndk.assemble(target, clang, clangxx, "llvm-strip")
    assert isinstance(toolchain, GnuToolchain)
    return replace(toolchain, link_flags=("-fuse-ld=lld", "-nostdlib"), runtime_link_flags=())


def broken_rules(library: Path, target: str) -> set[str]:
    report = check_host(library, find_target(target), GatePolicy(required=("answer",)))
    return {result.rule.id for result in report.results if result.status == "failed"}


def test_android_pages_are_16_kib_and_the_host_is_global(tmp_path: Path) -> None:
    facts = read_binary(link(tmp_path, android(16384)))
    assert min(facts.alignments) >= 16384
    assert "GLOBAL" in facts.flags
    assert (facts.soname, facts.exported_names) == ("libLiteRtLm.so", {"answer"})


def test_an_android_host_of_4_kib_pages_is_refused(tmp_path: Path) -> None:
    whole, small = tmp_path / "16", tmp_path / "4"
    whole.mkdir()
    small.mkdir()
    difference = broken_rules(link(small, android(4096)), "android-arm64") - broken_rules(link(whole, android(16384)), "android-arm64")
    assert difference == {"page-size"}


@pytest.mark.parametrize("name", ["ios-arm64", "ios-arm64-sim", "macos-arm64"])
def test_apple_hosts_have_their_platform_name_and_minimum_os(tmp_path: Path, name: str) -> None:
    clang, clangxx = llvm("clang"), llvm("clang++")
    llvm("ld64.lld", clang)
    toolchain = apple.assemble(find_target(name), clang, clangxx, str(tmp_path))
    assert isinstance(toolchain, GnuToolchain)
    facts = read_binary(link(tmp_path, replace(toolchain, link_flags=("-fuse-ld=lld", "-nostdlib"))))
    assert facts.exported_names == {"answer"}
    assert (facts.soname, facts.minimum_os) == ("@rpath/libLiteRtLm.dylib", find_target(name).minimum_os)
    assert ("simulator" in facts.platform) == name.endswith("-sim")


def windows(folder: Path) -> Toolchain:
    clang = llvm("clang")
    linker, dlltool = llvm("lld-link", clang), llvm("llvm-dlltool", clang)
    (folder / "lib").mkdir()
    for library in SYSTEM_LIBRARIES:
        (folder / "empty.def").write_text(f"LIBRARY {library.removesuffix('.lib')}.dll\nEXPORTS\n    Unused\n")
        subprocess.run([dlltool.path, "-m", "i386:x86-64", "-d", "empty.def", "-l", f"lib/{library}"], cwd=folder, check=True)
    target = find_target("windows-x64")
    toolchain = msvc.assemble("clang-cl", target, clang, linker, ((), (str(folder / "lib"),)), clang_cl.driver_of(target))
    return replace(toolchain, driver=(*toolchain.driver, "/Zl"), link_flags=("/NOENTRY", "/NODEFAULTLIB"))


def test_clang_cl_links_a_dll_with_its_export_and_hardening(tmp_path: Path) -> None:
    facts = read_binary(link(tmp_path, windows(tmp_path)))
    assert facts.exported_names == {"answer"}
    assert {"DYNAMIC_BASE", "NX_COMPAT", "HIGH_ENTROPY_VA"} <= set(facts.flags)
    assert (tmp_path / "out/answer.d").read_text().startswith("out/answer.o:")


def test_wine_loads_the_dll_of_clang_cl(tmp_path: Path) -> None:
    library = link(tmp_path, windows(tmp_path)).relative_to(tmp_path)
    assert answer_under_wine(tmp_path, toolchain_or_skip("mingw", "windows-x64"), str(library)) == "42"


@pytest.mark.parametrize("make", [lambda folder: android(16384), windows], ids=["android", "clang-cl"])
def test_two_folders_give_the_same_bytes(tmp_path: Path, make: Callable[[Path], Toolchain]) -> None:
    hosts = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        hosts.append(link(folder, make(folder)).read_bytes())
        shutil.rmtree(folder)
    assert hosts[0] == hosts[1]


def test_facts_are_facts_of_the_target(tmp_path: Path) -> None:
    facts: BinaryFacts = read_binary(link(tmp_path, android(16384)))
    assert (facts.format, facts.arch) == ("elf", "arm64")
