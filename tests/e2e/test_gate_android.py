"""The gate on real Android libraries, linked by lld without an NDK: page size, DF_1_GLOBAL, API level, GPU teardown order."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.binaries.reader import read_binary
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy
from litert_build.policy.targets import TARGETS

from tests.e2e.gate_tools import NAME, run, tool

TRIPLES = {"android-arm64": "aarch64-linux-android24", "android-x64": "x86_64-linux-android24"}
NOTE = '__asm__(".pushsection .note.android.ident,\\"a\\",%note\\n.long 8,4,1\\n.asciz \\"Android\\"\\n.long {api}\\n.popsection");\n'
BODY = """
namespace litert::internal {
__attribute__((noinline)) int CreateGpuEnvironmentOptions(int value) { __asm__ volatile(""); return value; }
struct GpuEnvironment { int Initialize(int); __attribute__((noinline)) int InitializeOpenCl() { __asm__ volatile(""); return 2; } };
}
namespace tflite::gpu::cl { __attribute__((noinline)) int LoadOpenCL() { __asm__ volatile(""); return 1; } }
int litert::internal::GpuEnvironment::Initialize(int value) { CALLS }
"""
RIGHT = "int options = CreateGpuEnvironmentOptions(value); return options + tflite::gpu::cl::LoadOpenCL();"
WRONG = "int loaded = tflite::gpu::cl::LoadOpenCL(); return loaded + CreateGpuEnvironmentOptions(value);"
EVIDENCE = 'extern "C" const char kTrace[] = "St6__ndk1";\n'
POLICY = GatePolicy(required=(NAME,), allowed=("kTrace", "_ZN*"), version="v0.19.1")


def link(folder: Path, target: str, *flags: str, calls: str = RIGHT, api: int = 24) -> Path:
    source = (
        NOTE.format(api=api)
        + EVIDENCE
        + BODY.replace("CALLS", calls)
        + f'extern "C" int {NAME}() {{ return litert::internal::GpuEnvironment().Initialize(1); }}\n'
    )
    (folder / "host.cc").write_text(source)
    compiler = (f"--target={TRIPLES[target]}", f"--ld-path={tool('ld.lld')}", "-std=c++17", "-O1", "-fPIC", "-shared", "-nostdlib")
    linker = "-Wl,-soname,libLiteRtLm.so,-z,now,-z,relro,-z,max-page-size=16384,-z,global"
    run(folder, "clang++", *compiler, "host.cc", "-o", "libLiteRtLm.so", linker, *flags)
    return folder / "libLiteRtLm.so"


def broken(file: Path, target: str) -> dict[str, list[str]]:
    report = check_host(file, TARGETS[target], POLICY)
    return {
        result.rule.id: [f"{finding.subject}: {finding.evidence}" for finding in result.open] for result in report.results if result.open
    }


@pytest.mark.parametrize("target", list(TRIPLES))
@pytest.mark.parametrize("symbolic", ["-Wl,-Bsymbolic", "-Wl,-z,lazy,-z,now"])
def test_a_sound_library_passes_also_where_calls_go_through_the_plt(tmp_path: Path, target: str, symbolic: str) -> None:
    report = check_host(link(tmp_path, target, symbolic), TARGETS[target], POLICY)
    assert report.passed, report.text
    assert "GpuEnvironment::Initialize calls CreateGpuEnvironmentOptions before LoadOpenCL" in report.text


@pytest.mark.parametrize("target", list(TRIPLES))
@pytest.mark.parametrize(
    ("calls", "text"),
    [
        (WRONG, "GpuEnvironment::Initialize: calls LoadOpenCL before CreateGpuEnvironmentOptions"),
        ("return InitializeOpenCl() + CreateGpuEnvironmentOptions(value);", "GpuEnvironment::Initialize: calls LoadOpenCL before"),
        ("return CreateGpuEnvironmentOptions(value) + 1;", "LoadOpenCL: GpuEnvironment::Initialize never calls it"),
        ("return tflite::gpu::cl::LoadOpenCL() + 1;", "CreateGpuEnvironmentOptions: GpuEnvironment::Initialize never calls it"),
    ],
)
def test_a_wrong_order_or_a_missing_call_is_named(tmp_path: Path, target: str, calls: str, text: str) -> None:
    found = broken(link(tmp_path, target, calls=calls), target)
    assert list(found) == ["gpu-teardown-order"] and found["gpu-teardown-order"][0].startswith(text)


def test_a_stripped_library_fails_closed(tmp_path: Path) -> None:
    (tmp_path / "exports.map").write_text(f"{{ global: {NAME}; kTrace; local: *; }};")
    found = broken(link(tmp_path, "android-arm64", "-Wl,-s,--version-script=exports.map"), "android-arm64")
    assert found == {"gpu-teardown-order": ["GpuEnvironment::Initialize: 0 functions match 14GpuEnvironment10InitializeE"]}


def split(folder: Path, calls: str) -> Path:
    """Link, keep the whole library as `.debug` beside, and strip: as debug_symbols=split does."""
    folder.mkdir()
    (folder / "exports.map").write_text(f"{{ global: {NAME}; kTrace; local: *; }};")
    file = link(folder, "android-arm64", "-Wl,--version-script=exports.map,--build-id=sha1", calls=calls)
    file.rename(folder / "libLiteRtLm.so.debug")
    run(folder, "llvm-strip", "--strip-unneeded", "-o", "libLiteRtLm.so", "libLiteRtLm.so.debug")
    return file


def test_the_twin_with_symbols_serves_a_stripped_library_of_the_same_build(tmp_path: Path) -> None:
    right, wrong = split(tmp_path / "right", RIGHT), split(tmp_path / "wrong", WRONG)
    assert broken(right, "android-arm64") == {}
    assert "calls LoadOpenCL before" in str(broken(wrong, "android-arm64"))
    (tmp_path / "right" / "libLiteRtLm.so.debug").replace(tmp_path / "wrong" / "libLiteRtLm.so.debug")
    assert "0 functions match" in str(broken(wrong, "android-arm64"))


def test_hidden_functions_are_found_in_the_symbol_table(tmp_path: Path) -> None:
    (tmp_path / "exports.map").write_text(f"{{ global: {NAME}; kTrace; local: *; }};")
    assert broken(link(tmp_path, "android-arm64", "-Wl,--version-script=exports.map"), "android-arm64") == {}


@pytest.mark.parametrize(
    ("flag", "rule", "text"),
    [
        ("-Wl,-z,max-page-size=4096", "page-size", "0x1000: a PT_LOAD segment is aligned to 4096 bytes, 16384 are needed"),
        ("-Wl,-soname,libother.so", "soname", "libother.so: the file is called libLiteRtLm.so"),
        ("-Wl,-z,norelro", "relro", "RELRO: no PT_GNU_RELRO segment"),
    ],
)
def test_each_broken_link_breaks_its_rule(tmp_path: Path, flag: str, rule: str, text: str) -> None:
    assert broken(link(tmp_path, "android-arm64", flag), "android-arm64") == {rule: [text]}


def test_a_library_that_is_not_global_is_refused(tmp_path: Path) -> None:
    file = link(tmp_path, "android-arm64")
    assert "GLOBAL" in read_binary(file).flags
    data = file.read_bytes()
    flags = (0x6FFFFFFB).to_bytes(8, "little") + (0x3).to_bytes(8, "little")
    assert data.count(flags) == 1
    file.write_bytes(data.replace(flags, flags[:8] + (0x1).to_bytes(8, "little")))
    assert broken(file, "android-arm64") == {"global-flag": ["DF_1_GLOBAL: DT_FLAGS_1 holds NOW"]}


def test_the_api_level_of_the_note_has_a_limit(tmp_path: Path) -> None:
    found = broken(link(tmp_path, "android-arm64", api=35), "android-arm64")
    assert found == {"minimum-os": ["35: minimum OS 35, the limit for android-arm64 is 24"]}


def test_a_linux_library_is_no_android_library(tmp_path: Path) -> None:
    (tmp_path / "host.c").write_text(f'int {NAME}(void) {{ return 1; }} const char kTrace[] = "St6__ndk1";')
    run(tmp_path, "clang", "-fPIC", "-shared", "-nostdlib", "host.c", "-o", "libLiteRtLm.so")
    assert broken(tmp_path / "libLiteRtLm.so", "android-x64")["minimum-os"] == ["linux: built for linux, not android"]
