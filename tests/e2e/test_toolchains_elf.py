"""Each ELF toolchain builds a small C++ host for real; what is not installed is skipped by name."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from litert_build.actions import Compile, Link, LinkInputs, Write
from litert_build.errors import BuildError
from litert_build.hosts import HostPlan, plan_host
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains import find_toolchain
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.features import default_flags, unfiltered_flags

pytestmark = pytest.mark.skipif(platform.system() != "Linux" or platform.machine() != "x86_64", reason="needs Linux on x86_64")

SOURCE = """
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
thread_local int calls = 0;
extern "C" int answer() {
  std::unordered_map<std::string, int> values{{"forty", 40}};
  int result = 0;
  std::thread([&] { try { values.at("two"); } catch (const std::out_of_range&) { result = 2 + ++calls - 1; } }).join();
  return values.at("forty") + result;
}
extern "C" int hidden() { return 7; }
"""


def toolchain_or_skip(name: str, target: str, runtime: str = "") -> Toolchain:
    try:
        return find_toolchain(name, find_target(target), runtime=runtime)
    except BuildError as missing:
        pytest.skip(f"{name} for {target}: {missing.what}")


def build(folder: Path, toolchain: Toolchain, source: str = SOURCE, *, split_debug: bool = False) -> HostPlan:
    """Run the plan of a one-file host in `folder`, as the execution root."""
    (folder / "answer.cc").write_text(source)
    flags = (*default_flags(toolchain.name, "c++"), "-std=c++20", *unfiltered_flags(toolchain.name))
    compile_action = Compile(
        label="//:answer",
        source="answer.cc",
        output="out/answer.pic.o",
        depfile="out/answer.d",
        configuration="target",
        language="c++",
        defines=tuple(flag[2:] for flag in flags if flag.startswith("-D")),
        includes=(("-iquote", "."),),
        flags=tuple(flag for flag in flags if not flag.startswith("-D")),
    )
    lock = Lock(folder / "a.json", "a", "a", "a", {}, (), Product("host", required=("answer",)))
    plan = plan_host(LinkInputs((compile_action.output,)), lock, toolchain.target, toolchain, out_dir="out", split_debug=split_debug)
    (folder / "out").mkdir()
    run(folder, toolchain, toolchain.compile_argv(compile_action))
    for action in plan.actions:
        if isinstance(action, Write):
            (folder / action.output).write_text(action.content)
        elif isinstance(action, Link):
            (folder / "out/link.rsp").write_text("\n".join(toolchain.response_lines(action)))
            run(folder, toolchain, toolchain.link_argv(action, "out/link.rsp"))
        else:
            run(folder, toolchain, list(action.argv))
    return plan


def run(folder: Path, toolchain: Toolchain, argv: list[str]) -> None:
    done = subprocess.run(argv, cwd=folder, env=dict(toolchain.environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def dynamic(library: Path) -> tuple[dict[str, list[str]], set[str]]:
    """The dynamic section's strings by tag, and the exported names."""
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        section = elf.get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        tags: dict[str, list[str]] = {}
        for tag in section.iter_tags():
            value = {"DT_NEEDED": "needed", "DT_SONAME": "soname", "DT_RUNPATH": "runpath"}.get(tag.entry.d_tag)
            tags.setdefault(tag.entry.d_tag, []).append(getattr(tag, value) if value else hex(tag.entry.d_val))
        names = {
            symbol.name
            for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
        }
    return tags, names


ROWS = [("gcc", ""), ("clang", ""), ("clang", "libc++")]


@pytest.mark.parametrize(("name", "runtime"), ROWS)
def test_a_host_has_one_export_one_runtime_and_a_hardened_dynamic_section(tmp_path: Path, name: str, runtime: str) -> None:
    toolchain = toolchain_or_skip(name, "linux-x64", runtime)
    plan = build(tmp_path, toolchain)
    tags, exports = dynamic(tmp_path / plan.library)
    assert exports == {"answer"}
    assert tags["DT_SONAME"] == ["libLiteRtLm.so"]
    assert tags["DT_RUNPATH"] == ["$ORIGIN"]
    assert not [needed for needed in tags["DT_NEEDED"] if "c++" in needed or "gcc_s" in needed]
    assert "DT_TEXTREL" not in tags
    assert {"DT_FLAGS_1", "DT_FLAGS"} <= set(tags)
    assert ctypes.CDLL(str(tmp_path / plan.library)).answer() == 42
    assert "answer.pic.o" in (tmp_path / plan.link_map).read_text()


@pytest.mark.parametrize(("name", "runtime"), ROWS)
def test_two_folders_give_the_same_bytes(tmp_path: Path, name: str, runtime: str) -> None:
    toolchain = toolchain_or_skip(name, "linux-x64", runtime)
    libraries = []
    for folder in (tmp_path / "a", tmp_path / "with a longer näme"):
        folder.mkdir()
        libraries.append((folder / build(folder, toolchain).library).read_bytes())
    assert libraries[0] == libraries[1]


def test_split_debug_keeps_the_symbols_beside(tmp_path: Path) -> None:
    toolchain = toolchain_or_skip("gcc", "linux-x64")
    plan = build(tmp_path, toolchain, split_debug=True)
    with (tmp_path / plan.library).open("rb") as stripped, (tmp_path / plan.debug_file).open("rb") as whole:
        assert ELFFile(stripped).get_section_by_name(".symtab") is None
        assert ELFFile(whole).get_section_by_name(".symtab") is not None


def test_an_undefined_symbol_stops_the_link(tmp_path: Path) -> None:
    toolchain = toolchain_or_skip("gcc", "linux-x64")
    with pytest.raises(AssertionError, match="undefined reference to `absent'"):
        build(tmp_path, toolchain, 'extern "C" int absent(); extern "C" int answer() { return absent(); }')
