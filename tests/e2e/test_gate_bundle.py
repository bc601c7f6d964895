"""The gate over whole bundle folders: companions beside a host, each judged by what the others give it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from litert_build.binaries.reader import read_binary
from litert_build.checks.closure import host_symbols
from litert_build.checks.gate import GateReport, check_bundle, check_file
from litert_build.checks.model import GatePolicy
from litert_build.checks.sarif import to_sarif
from litert_build.policy.targets import TARGETS

from tests.e2e.gate_tools import NAME, POLICY, SOURCE, run

LINUX = TARGETS["linux-x64"]
SAMPLER = "libLiteRtTopKWebGpuSampler.so"
FUNCTIONS = (
    "Create", "Destroy", "SampleToIdAndScoreBuffer", "UpdateConfig", "CanHandleInput", "HandlesInput", "SetInputTensorsAndInferenceFunc",
)  # fmt: skip
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 22687528\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A folder with a sound host; sources are kept beside it."""
    (tmp_path / "bundle").mkdir()
    host(tmp_path)
    return tmp_path / "bundle"


def host(folder: Path, *exports: str) -> None:
    (folder / "host.cc").write_text(SOURCE + "".join(f'extern "C" int {name}() {{ return 1; }}\n' for name in exports))
    (folder / "exports.map").write_text(f"{{ global: {'; '.join((NAME, *exports))}; local: *; }};")
    flags = ["-fPIC", "-shared", "-static-libstdc++", "-static-libgcc", "-Wl,-soname,libLiteRtLm.so,-z,now,--version-script=exports.map"]
    run(folder, "g++", *flags, "host.cc", "-o", "bundle/libLiteRtLm.so")


def plugin(bundle: Path, name: str, source: str, *flags: str) -> None:
    (bundle.parent / "plugin.c").write_text(source)
    run(bundle.parent, "gcc", "-fPIC", "-shared", "plugin.c", "-o", f"bundle/{name}", f"-Wl,-soname,{name}", *flags)


def sampler(functions: tuple[str, ...] = FUNCTIONS, body: str = "return 0;", head: str = "") -> str:
    return head + "".join(f"int LiteRtTopKWebGpuSampler_{name}(void) {{ {body} }}\n" for name in functions)


def reports(bundle: Path, policy: GatePolicy = POLICY) -> dict[str, GateReport]:
    return {report.name: report for report in check_bundle(bundle, LINUX, policy)}


def broken(report: GateReport) -> dict[str, list[str]]:
    return {result.rule.id: [finding.subject for finding in result.open] for result in report.results if result.open}


def test_a_sound_bundle_passes_hosts_first(bundle: Path) -> None:
    plugin(bundle, SAMPLER, sampler())
    found = check_bundle(bundle, LINUX, POLICY)
    assert [(report.name, report.role, report.passed) for report in found] == [
        ("libLiteRtLm.so", "host", True),
        (SAMPLER, "companion", True),
    ]
    assert found[1].text.startswith(f"Validated {SAMPLER} as a companion on linux-x64")


def test_a_sampler_with_three_of_seven_functions_is_refused_with_the_four_named(bundle: Path) -> None:
    plugin(bundle, SAMPLER, sampler(FUNCTIONS[:3]))
    assert broken(reports(bundle)[SAMPLER]) == {"entry-points": [f"LiteRtTopKWebGpuSampler_{name}" for name in FUNCTIONS[3:]]}


def test_an_accelerator_without_its_entry_point_is_refused(bundle: Path) -> None:
    plugin(bundle, "libLiteRtWebGpuAccelerator.so", "int other(void) { return 1; }")
    assert broken(reports(bundle)["libLiteRtWebGpuAccelerator.so"]) == {"entry-points": ["LiteRtAcceleratorImpl"]}


USES_LITERT = sampler(
    body="return LiteRtCreateEnvironment() + LiteRtGetStatusString();",
    head="int LiteRtCreateEnvironment(void); int LiteRtGetStatusString(void);\n",
)


def test_a_plugin_whose_symbols_nobody_exports_is_refused(bundle: Path) -> None:
    plugin(bundle, SAMPLER, USES_LITERT)
    report = reports(bundle)[SAMPLER]
    assert broken(report) == {"symbol-closure": ["LiteRtCreateEnvironment", "LiteRtGetStatusString"]}
    assert "undefined in no needed library; no file of the bundle exports it" in report.text


def test_the_host_may_export_what_companions_import_and_no_more(bundle: Path) -> None:
    plugin(bundle, SAMPLER, USES_LITERT)
    needed = host_symbols([read_binary(bundle / SAMPLER)])
    assert needed == ("LiteRtCreateEnvironment", "LiteRtGetStatusString")
    host(bundle.parent, *needed, "LiteRtUnused")
    found = reports(bundle, dataclasses.replace(POLICY, allowed=needed))
    assert found[SAMPLER].passed
    assert broken(found["libLiteRtLm.so"]) == {"only-exports": ["LiteRtUnused"]}


def test_a_plugin_may_name_the_library_beside_it(bundle: Path) -> None:
    plugin(bundle, "libLiteRt.so", "int LiteRtCreateEnvironment(void) { return 1; } int LiteRtGetStatusString(void) { return 2; }")
    plugin(bundle, SAMPLER, USES_LITERT, "-Wl,-rpath,$ORIGIN", "bundle/libLiteRt.so")
    assert broken(reports(bundle)[SAMPLER]) == {}
    plugin(bundle, "libLiteRt.so", "int LiteRtCreateEnvironment(void) { return 1; }")
    assert broken(reports(bundle)[SAMPLER]) == {"symbol-closure": ["LiteRtGetStatusString"]}
    (bundle / "libLiteRt.so").unlink()
    assert broken(reports(bundle)[SAMPLER]) == {"needed-libraries": ["libLiteRt.so"]}


def test_who_could_provide_a_symbol_is_named(bundle: Path) -> None:
    plugin(bundle, "libLiteRt.so", "int LiteRtCreateEnvironment(void) { return 1; } int LiteRtGetStatusString(void) { return 2; }")
    plugin(bundle, SAMPLER, USES_LITERT)
    assert "libLiteRt.so exports it, but is not needed here" in reports(bundle)[SAMPLER].text


def test_an_lfs_pointer_is_refused_with_its_oid(bundle: Path) -> None:
    (bundle / "libGemmaModelConstraintProvider.so").write_text(POINTER)
    report = reports(bundle)["libGemmaModelConstraintProvider.so"]
    assert broken(report) == {"library-file": ["libGemmaModelConstraintProvider.so"]}
    for text in ("a Git LFS pointer stands in place of the library", "oid sha256:4d7a21", "size 22687528", "git lfs pull"):
        assert text in report.text


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"MZ", b"not a library"])
def test_what_is_no_library_is_refused(bundle: Path, content: bytes) -> None:
    (bundle / "libLiteRt.so").write_bytes(content)
    assert broken(reports(bundle)["libLiteRt.so"]) == {"library-file": ["libLiteRt.so"]}


def test_a_library_of_another_architecture_is_refused(bundle: Path) -> None:
    (bundle.parent / "plugin.c").write_text(sampler())
    run(
        bundle.parent,
        "clang",
        "--target=aarch64-linux-gnu",
        "-fuse-ld=lld",
        "-fPIC",
        "-shared",
        "-nostdlib",
        "plugin.c",
        "-o",
        f"bundle/{SAMPLER}",
    )
    assert broken(reports(bundle)[SAMPLER])["architecture"] == ["ELF arm64 shared library"]


def test_an_empty_bundle_is_no_pass(tmp_path: Path) -> None:
    (report,) = check_bundle(tmp_path, LINUX, POLICY)
    assert not report.passed and "the folder holds no library" in report.text


def test_other_files_of_a_bundle_are_no_libraries(bundle: Path) -> None:
    (bundle / "LICENSE.txt").write_text("Apache-2.0")
    assert list(reports(bundle)) == ["libLiteRtLm.so"]


def test_one_file_alone_is_judged_by_its_name(bundle: Path) -> None:
    plugin(bundle, SAMPLER, sampler(FUNCTIONS[:6]))
    assert broken(check_file(bundle / SAMPLER, LINUX)) == {"entry-points": ["LiteRtTopKWebGpuSampler_SetInputTensorsAndInferenceFunc"]}
    assert check_file(bundle / "libLiteRtLm.so", LINUX, POLICY).passed


def test_sarif_holds_a_result_a_finding_and_the_rules(bundle: Path) -> None:
    plugin(bundle, SAMPLER, sampler(FUNCTIONS[:5]))
    (run_log,) = json.loads(to_sarif(check_bundle(bundle, LINUX, POLICY), "build/bundle"))["runs"]
    rules = [rule["id"] for rule in run_log["tool"]["driver"]["rules"]]
    assert [(result["ruleId"], result["level"]) for result in run_log["results"]] == [("entry-points", "error")] * 2
    for result in run_log["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"build/bundle/{SAMPLER}"
    assert "LiteRtTopKWebGpuSampler_HandlesInput: not exported" in run_log["results"][0]["message"]["text"]
