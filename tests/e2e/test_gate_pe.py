"""The gate on real DLLs: MinGW's, lld's, GNU dlltool's delay imports, forwarders, ordinals, missing hardening."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.binaries.reader import read_binary
from litert_build.checks.gate import check_bundle, check_host
from litert_build.checks.model import GatePolicy
from litert_build.policy.targets import TARGETS

from tests.e2e.gate_tools import NAME, POLICY, run, verdict

MINGW = "x86_64-w64-mingw32-g++-posix"
SOURCE = f"""
#include <stdexcept>
#include <string>
#include <unordered_map>
static std::unordered_map<std::string, int> seen;
extern "C" __declspec(dllexport) int {NAME}(const char* name) {{
  if (seen.size() > 99) throw std::runtime_error(name);
  return ++seen[name];
}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "host.cc").write_text(SOURCE)
    return tmp_path


def litert(folder: Path) -> None:
    """Make libLiteRt.dll with one function, its import library and, by GNU dlltool, its delay-import library."""
    (folder / "litert.c").write_text("__declspec(dllexport) int LiteRtCreate(void) { return 1; }")
    run(folder, MINGW.replace("g++", "gcc"), "-shared", "litert.c", "-o", "libLiteRt.dll", "-Wl,--out-implib,libLiteRt.dll.a")
    (folder / "litert.def").write_text("LIBRARY libLiteRt.dll\nEXPORTS\nLiteRtCreate\n")
    run(folder, "x86_64-w64-mingw32-dlltool", "-d", "litert.def", "-y", "libLiteRt.delay.a")
    (folder / "host.cc").write_text(SOURCE + 'extern "C" int LiteRtCreate(void); extern "C" int use() { return LiteRtCreate(); }\n')


def test_a_static_mingw_dll_passes(folder: Path) -> None:
    run(folder, MINGW, "-shared", "-O1", "-static", "host.cc", "-o", "LiteRtLm.dll")
    report = check_host(folder / "LiteRtLm.dll", TARGETS["windows-x64"], POLICY)
    assert report.passed, report.text
    assert report.text.startswith("Validated in-process LiteRT linkage on windows-x64")
    assert "cxx-runtime: libstdc++, static" in report.text


def test_a_dynamic_runtime_is_neither_the_systems_nor_in_the_bundle(folder: Path) -> None:
    run(folder, MINGW, "-shared", "-O1", "host.cc", "-o", "LiteRtLm.dll")
    assert "libstdc++-6.dll" in verdict(folder / "LiteRtLm.dll", "windows-x64")["needed-libraries"]


def test_an_import_of_libLiteRt_is_named(folder: Path) -> None:
    litert(folder)
    run(folder, MINGW, "-shared", "-static", "host.cc", "libLiteRt.dll.a", "-o", "LiteRtLm.dll")
    found = verdict(folder / "LiteRtLm.dll", "windows-x64")
    assert found["runtime-imports"] == ["libLiteRt.dll"] and found["needed-libraries"] == ["libLiteRt.dll"]


def test_a_gnu_delay_import_leaves_no_directory_and_is_found_by_its_name(folder: Path) -> None:
    litert(folder)
    run(folder, MINGW, "-shared", "-static", "host.cc", "libLiteRt.delay.a", "-o", "LiteRtLm.dll")
    facts = read_binary(folder / "LiteRtLm.dll")
    assert "libLiteRt.dll" not in (*facts.needed, *facts.delay_needed)
    assert verdict(folder / "LiteRtLm.dll", "windows-x64")["runtime-imports"] == ["libLiteRt.dll"]


def freestanding(folder: Path, source: str, *flags: str) -> Path:
    """Link a DLL without any C library by lld-link, the linker of the MSVC ABI."""
    (folder / "host.c").write_text(source)
    run(folder, "clang", "--target=x86_64-pc-windows-msvc", "-O1", "-c", "host.c", "-o", "host.obj")
    run(folder, "lld-link", "/dll", "/noentry", "/nodefaultlib", "/out:LiteRtLm.dll", *flags, "host.obj")
    return folder / "LiteRtLm.dll"


EXPORT = f"__declspec(dllexport) int {NAME}(void) {{ return 1; }}\n"


def test_an_lld_delay_import_is_named(tmp_path: Path) -> None:
    (tmp_path / "litert.def").write_text("LIBRARY libLiteRt.dll\nEXPORTS\nLiteRtCreate\n")
    run(tmp_path, "llvm-dlltool", "-m", "i386:x86-64", "-d", "litert.def", "-l", "litert.lib")
    helper = "void* __delayLoadHelper2(void* a, void* b) { return 0; }\n__declspec(dllimport) int LiteRtCreate(void);\n"
    source = helper + EXPORT.replace("return 1", "return LiteRtCreate()")
    facts = read_binary(freestanding(tmp_path, source, "/delayload:libLiteRt.dll", "litert.lib"))
    assert (facts.needed, facts.delay_needed) == ((), ("libLiteRt.dll",))
    assert [symbol.name for symbol in facts.imports] == ["LiteRtCreate"]
    report = check_host(tmp_path / "LiteRtLm.dll", TARGETS["windows-x64"], POLICY)
    assert "libLiteRt.dll: delay import libLiteRt.dll" in report.text


def test_a_forwarder_and_an_ordinal_are_no_exports_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "exports.def").write_text(f"LIBRARY LiteRtLm.dll\nEXPORTS\n{NAME}=libLiteRt.LiteRtCreate\nhidden @7 NONAME\n")
    (tmp_path / "host.c").write_text("int hidden(void) { return 2; }")
    run(tmp_path, "clang", "--target=x86_64-pc-windows-msvc", "-c", "host.c", "-o", "host.obj")
    run(tmp_path, "lld-link", "/dll", "/noentry", "/nodefaultlib", "/def:exports.def", "/out:LiteRtLm.dll", "host.obj")
    found = verdict(tmp_path / "LiteRtLm.dll", "windows-x64")
    assert found["own-exports"] == [NAME, "#7"]
    text = check_host(tmp_path / "LiteRtLm.dll", TARGETS["windows-x64"], POLICY).text
    assert f"{NAME}: forwarded to libLiteRt.LiteRtCreate" in text and "#7: an ordinal without a name" in text


def test_a_dll_without_an_export_directory_is_refused(tmp_path: Path) -> None:
    file = freestanding(tmp_path, "int kept(void) { return 1; }", "/include:kept")
    found = verdict(file, "windows-x64")
    assert found["own-exports"] == ["export directory"] and found["required-exports"] == [NAME]


@pytest.mark.parametrize(
    ("flags", "lacking"),
    [
        (["/dynamicbase:no", "/highentropyva:no"], ["DYNAMIC_BASE", "HIGH_ENTROPY_VA"]),
        (["/highentropyva:no"], ["HIGH_ENTROPY_VA"]),
        (["/nxcompat:no"], ["NX_COMPAT"]),
        ([], []),
    ],
)
def test_missing_hardening_is_named(tmp_path: Path, flags: list[str], lacking: list[str]) -> None:
    assert verdict(freestanding(tmp_path, EXPORT, *flags), "windows-x64").get("pe-hardening", []) == lacking


def test_control_flow_guard_is_a_fact(tmp_path: Path) -> None:
    config = "unsigned long long _load_config_used[40] = {320};\n"
    assert "GUARD_CF" not in read_binary(freestanding(tmp_path, EXPORT)).flags
    assert "GUARD_CF" in read_binary(freestanding(tmp_path, config + EXPORT, "/guard:cf")).flags


def test_more_exports_than_a_common_reader_takes_are_all_read(tmp_path: Path) -> None:
    source = "".join(f"__declspec(dllexport) int litert_lm_{number}(void) {{ return {number}; }}\n" for number in range(9000))
    facts = read_binary(freestanding(tmp_path, source))
    assert len(facts.exports) == 9000 and "litert_lm_8999" in facts.exported_names


def test_a_dll_of_another_architecture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "host.c").write_text(EXPORT)
    run(tmp_path, "clang", "--target=aarch64-pc-windows-msvc", "-c", "host.c", "-o", "host.obj")
    run(tmp_path, "lld-link", "/dll", "/noentry", "/nodefaultlib", "/machine:arm64", "/out:LiteRtLm.dll", "host.obj")
    assert verdict(tmp_path / "LiteRtLm.dll", "windows-x64")["architecture"] == ["PE arm64 shared library"]


def test_cxx_symbols_that_the_runtime_dll_beside_does_not_export_are_named(folder: Path) -> None:
    """A MinGW library built against a newer libstdc++ than the one that ships in its bundle."""
    run(folder, MINGW, "-shared", "-O1", "host.cc", "-o", "LiteRtLm.dll")
    (folder / "old.def").write_text("EXPORTS\n_Znwy\n")
    (folder / "old.c").write_text("void* _Znwy(unsigned long long size) { return (void*)size; }")
    run(folder, MINGW.replace("g++", "gcc"), "-shared", "old.c", "old.def", "-o", "libstdc++-6.dll")
    bundle = folder / "bundle"
    bundle.mkdir()
    for name in ("LiteRtLm.dll", "libstdc++-6.dll"):
        (folder / name).rename(bundle / name)
    policy = GatePolicy(required=(NAME,))
    reports = {report.name: report for report in check_bundle(bundle, TARGETS["windows-x64"], policy)}
    (result,) = [result for result in reports["LiteRtLm.dll"].results if result.rule.id == "symbol-closure"]
    assert result.open and all("undefined of libstdc++-6.dll" in finding.evidence or "more" in finding.subject for finding in result.open)
    assert any(finding.subject.startswith("_ZN") for finding in result.open)


def test_a_map_of_lld_link_names_the_object(tmp_path: Path) -> None:
    source = EXPORT + "__declspec(dllexport) int litert_lm_dump(void) { return 2; }\n"
    freestanding(tmp_path, source, "/map:host.map")
    report = check_host(tmp_path / "LiteRtLm.dll", TARGETS["windows-x64"], POLICY, tmp_path / "host.map")
    (result,) = [result for result in report.results if result.rule.id == "only-exports"]
    assert [(finding.subject, finding.origin) for finding in result.open] == [("litert_lm_dump", ("host.obj",))]
