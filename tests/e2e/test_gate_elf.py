"""The gate on real ELF libraries: one sound host, and one broken in each way the rules must notice."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy
from litert_build.policy.targets import TARGETS

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is absent: apt-get install g++")

SOURCE = """
#include <stdexcept>
#include <string>
#include <unordered_map>
static std::unordered_map<std::string, int> seen;
extern "C" int litert_lm_engine_create(const char* name) {
  if (seen.size() > 99) throw std::runtime_error(name);
  return ++seen[name];
}
extern "C" int litert_lm_debug_dump() { return 7; }
"""
SOUND = [
    "-static-libstdc++",
    "-static-libgcc",
    "-Wl,-soname,libLiteRtLm.so",
    "-Wl,-z,now",
    "-Wl,-rpath,$ORIGIN",
    "-Wl,--version-script=exports.map",
]
POLICY = GatePolicy(required=("litert_lm_engine_create",), version="v0.19.1")


def link(folder: Path, *flags: str, drop: str = "", source: str = SOURCE, script: str = "litert_lm_engine_create;") -> Path:
    (folder / "host.cc").write_text(source)
    (folder / "exports.map").write_text(f"{{ global: {script} local: *; }};")
    kept = [flag for flag in SOUND if not drop or drop not in flag]
    argv = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-o", "libLiteRtLm.so", "host.cc", *kept, "-Wl,-Map,host.map", *flags]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    return folder / "libLiteRtLm.so"


def broken(file: Path, policy: GatePolicy = POLICY) -> dict[str, list[str]]:
    report = check_host(file, TARGETS["linux-x64"], policy, file.parent / "host.map")
    return {result.rule.id: [finding.subject for finding in result.open] for result in report.results if result.open}


def test_a_sound_host_passes_with_one_line_a_rule(tmp_path: Path) -> None:
    report = check_host(link(tmp_path), TARGETS["linux-x64"], POLICY, tmp_path / "host.map")
    first, *rest = report.text.splitlines()
    assert first == "Validated in-process LiteRT linkage on linux-x64"
    assert len(rest) == len(report.results) and all(line.startswith("  ok ") for line in rest)


def test_an_import_of_litert_is_named(tmp_path: Path) -> None:
    subprocess.run(["gcc", "-shared", "-o", "libLiteRt.so", "-Wl,-soname,libLiteRt.so", "-x", "c", "/dev/null"], cwd=tmp_path, check=True)
    file = link(tmp_path, "-Wl,--no-as-needed", "libLiteRt.so")
    found = broken(file)
    assert found["runtime-imports"] == ["libLiteRt.so"] and found["needed-libraries"] == ["libLiteRt.so"]
    report = check_host(file, TARGETS["linux-x64"], POLICY)
    assert "DT_NEEDED libLiteRt.so" in report.text and "-> link the static targets" in report.text and not report.passed


def test_an_extra_export_is_named_with_the_object_that_brought_it(tmp_path: Path) -> None:
    file = link(tmp_path, script="litert_lm_engine_create; litert_lm_debug_dump;")
    report = check_host(file, TARGETS["linux-x64"], POLICY, tmp_path / "host.map")
    (result,) = [result for result in report.results if result.open]
    assert (result.rule.id, result.open[0].subject) == ("only-exports", "litert_lm_debug_dump")
    assert result.open[0].origin[0].endswith(".o")


def test_a_name_only_in_the_string_table_is_no_export(tmp_path: Path) -> None:
    file = link(
        tmp_path, source=SOURCE + 'extern "C" const char* kName = "litert_lm_session_cancel";', script="litert_lm_engine_create; kName;"
    )
    policy = GatePolicy(required=("litert_lm_engine_create", "litert_lm_session_cancel"), allowed=("k*",))
    assert broken(file, policy) == {"required-exports": ["litert_lm_session_cancel"]}


@pytest.mark.parametrize(
    ("drop", "flags", "rule"),
    [
        ("soname", ["-Wl,-soname,libOther.so"], "soname"),
        ("soname", [], "soname"),
        ("rpath", ["-Wl,-rpath,/opt/lib"], "runpath"),
        ("rpath", ["-Wl,-rpath,$ORIGIN/../.."], "runpath"),
        ("z,now", ["-Wl,-z,lazy"], "bind-now"),
        ("nothing", ["-Wl,-z,norelro"], "relro"),
        ("nothing", ["-Wl,-z,execstack"], "executable-stack"),
        ("version-script", [], "only-exports"),
        ("static-libstdc++", [], "needed-libraries"),
    ],
)
def test_each_broken_link_breaks_its_rule(tmp_path: Path, drop: str, flags: list[str], rule: str) -> None:
    assert rule in broken(link(tmp_path, *flags, drop=drop))


def test_text_relocations_are_seen(tmp_path: Path) -> None:
    assembly = tmp_path / "text.s"
    assembly.write_text('.text\n.globl here\nhere: .quad here\n.section .note.GNU-stack,"",@progbits\n')
    assert broken(link(tmp_path, "-Wl,-z,notext", str(assembly))) == {"text-relocations": ["TEXTREL"]}


def test_a_library_without_any_cxx_evidence_fails_closed(tmp_path: Path) -> None:
    (tmp_path / "plain.c").write_text("int litert_lm_engine_create(void) { return 0; }")
    argv = ["gcc", "-fPIC", "-shared", "-o", "libLiteRtLm.so", "plain.c", "-Wl,-soname,libLiteRtLm.so,-z,now", "-nostdlib"]
    subprocess.run(argv, cwd=tmp_path, check=True)
    report = check_host(tmp_path / "libLiteRtLm.so", TARGETS["linux-x64"], POLICY)
    assert [result.rule.id for result in report.results if result.open] == ["cxx-runtime"]
    assert "no trace of libstdc++, libc++ or the MSVC STL" in report.text


@pytest.mark.parametrize("option", ["--dynamic-list-data", "-Bsymbolic"])
def test_other_link_options_change_no_verdict(tmp_path: Path, option: str) -> None:
    assert broken(link(tmp_path, f"-Wl,{option}")) == {}


def test_a_library_without_section_headers_is_read_by_its_dynamic_segment(tmp_path: Path) -> None:
    file = link(tmp_path)
    data = bytearray(file.read_bytes())
    data[0x28:0x30] = bytes(8)
    data[0x3C:0x40] = bytes(4)
    file.write_bytes(data)
    assert broken(file) == {}


def test_a_name_to_dlopen_is_refused_from_0_19(tmp_path: Path) -> None:
    file = link(tmp_path, source=SOURCE + 'const char* core_name() { return "libLiteRt.so"; }\n', script="litert_lm_engine_create;")
    assert broken(file, GatePolicy(required=POLICY.required, version="v0.18.1")) == {}
    assert broken(file) == {"runtime-strings": ["libLiteRt.so"]}


def test_a_newer_libstdcxx_symbol_is_named(tmp_path: Path) -> None:
    file = link(tmp_path, drop="static-libstdc++")
    found = broken(file, GatePolicy(required=POLICY.required, glibcxx_ceiling="3.4.10"))
    assert found["libstdcxx-ceiling"] and all(version.startswith("GLIBCXX_3.4.") for version in found["libstdcxx-ceiling"])


@pytest.mark.parametrize("option", ["-f", "-F", "--audit", "-P"])
def test_a_library_that_the_loader_takes_by_another_entry_than_needed_is_an_import(tmp_path: Path, option: str) -> None:
    found = broken(link(tmp_path, f"-Wl,{option},libLiteRt.so"))
    assert found == {rule: ["libLiteRt.so"] for rule in ("runtime-imports", "needed-libraries", "runtime-strings")}


def test_a_weak_function_of_litert_that_stays_undefined_is_an_import(tmp_path: Path) -> None:
    weak = 'extern "C" __attribute__((weak)) int LiteRtCreateEnvironment(int);\n'
    source = (weak + SOURCE).replace("return 7", "return LiteRtCreateEnvironment ? LiteRtCreateEnvironment(1) : 7")
    script = "litert_lm_engine_create; litert_lm_debug_dump;"
    assert broken(link(tmp_path, source=source, script=script))["runtime-imports"] == ["LiteRtCreateEnvironment"]


@pytest.mark.parametrize(
    ("definition", "flags", "evidence"),
    [
        ('extern "C" int litert_lm_cancel; int litert_lm_cancel = 3;', (), "exported, but as data and not as a function"),
        ('extern "C" thread_local int litert_lm_cancel = 3;', (), "exported, but as thread-local data and not as a function"),
        ("", ("-Wl,--defsym=litert_lm_cancel=0",), "exported, but as a number and not as a function"),
    ],
)
def test_a_required_function_that_is_exported_as_something_else(
    tmp_path: Path, definition: str, flags: tuple[str, ...], evidence: str
) -> None:
    file = link(tmp_path, *flags, source=SOURCE + definition, script="litert_lm_engine_create; litert_lm_cancel;")
    policy = GatePolicy(required=(*POLICY.required, "litert_lm_cancel"), version="v0.19.1")
    assert broken(file, policy) == {"required-exports": ["litert_lm_cancel"]}
    assert evidence in check_host(file, TARGETS["linux-x64"], policy).text
