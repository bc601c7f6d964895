"""The readers and the rules on published libraries: every native library of five releases, on every platform they ship.

The tables hold what is true of these files: symbol counts, verdicts, and the agreement of all export tables with LLVM's tools.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from litert_build.binaries.facts import BinaryFacts
from litert_build.binaries.reader import read_binary
from litert_build.checks.gate import check_bundle, check_context, check_file, release_policy
from litert_build.checks.headers import read_api
from litert_build.checks.model import Context, GatePolicy
from litert_build.policy.exports import API_PATTERNS
from litert_build.policy.targets import TARGETS

from tests.real import wheels

API = "litert_lm_api-{}-py3-none-{}"
EXT = "litert_lm_api-0.10.0-cp312-cp312-{}"
NIGHTLY = "litert_lm_api_nightly-0.19.0.dev20261026-py3-none-{}"
EDGE = "ai_edge_litert-2.3.0-cp312-cp312-{}"
LINUX_X64, LINUX_ARM64 = "manylinux_2_27_x86_64", "manylinux_2_27_aarch64"
ANDROID_X64, ANDROID_ARM64 = "android_23_x86_64", "android_23_arm64_v8a"
MACOS, WINDOWS = "macosx_12_0_arm64", "win_amd64"
EXTENSION = re.compile(r"_?pywrap_|_pywrap|format_converter")


@dataclasses.dataclass(frozen=True)
class Host:
    """One host: exports in all and by prefix (litert_lm, LiteRt, TfLite), imports, needed libraries, and the rules that it breaks."""

    wheel: str
    file: str
    exports: tuple[int, int, int, int]
    imports: int
    needed: int
    broken: frozenset[str]


def host(wheel: str, file: str, exports: tuple[int, int, int, int], imports: int, needed: int, broken: str) -> Host:
    return Host(wheel, file, exports, imports, needed, frozenset(broken.split()))


HOSTS = [
    host(EXT.format(MACOS), "litert_lm_ext.so", (23601, 0, 434, 223), 761, 10, "needed-libraries runpath only-exports"),
    host(
        EXT.format("manylinux_2_35_aarch64"),
        "litert_lm_ext.so",
        (28997, 0, 37, 59),
        1064,
        7,
        "runtime-imports needed-libraries runpath soname symbol-closure only-exports glibc-ceiling",
    ),
    host(
        EXT.format("manylinux_2_35_x86_64"),
        "litert_lm_ext.so",
        (28018, 0, 37, 59),
        1087,
        7,
        "runtime-imports needed-libraries runpath soname symbol-closure only-exports glibc-ceiling",
    ),
    host(API.format("0.11.0", MACOS), "liblitert-lm.dylib", (41360, 83, 428, 203), 776, 15, "soname only-exports"),
    host(
        API.format("0.11.0", LINUX_ARM64),
        "liblitert-lm.so",
        (205692, 83, 417, 205),
        568,
        8,
        "needed-libraries soname only-exports bind-now",
    ),
    host(
        API.format("0.11.0", LINUX_X64), "liblitert-lm.so", (205649, 83, 417, 205), 570, 9, "needed-libraries soname only-exports bind-now"
    ),
    host(API.format("0.11.0", WINDOWS), "litert-lm.dll", (277, 83, 43, 151), 187, 31, "only-exports"),
    host(API.format("0.18.1", ANDROID_ARM64), "liblitert-lm.so", (74431, 212, 482, 206), 589, 9, "soname only-exports global-flag"),
    host(API.format("0.18.1", ANDROID_X64), "liblitert-lm.so", (73660, 212, 482, 206), 588, 9, "soname only-exports global-flag"),
    host(API.format("0.18.1", MACOS), "liblitert-lm.dylib", (43731, 212, 493, 206), 792, 15, "soname only-exports"),
    host(API.format("0.18.1", LINUX_ARM64), "liblitert-lm.so", (223419, 212, 483, 209), 594, 5, "runpath soname only-exports bind-now"),
    host(API.format("0.18.1", LINUX_X64), "liblitert-lm.so", (218294, 212, 482, 206), 587, 6, "runpath soname only-exports bind-now"),
    host(API.format("0.18.1", WINDOWS), "litert-lm.dll", (408, 212, 44, 151), 194, 31, "only-exports"),
    host(NIGHTLY.format(ANDROID_ARM64), "liblitert-lm.so", (226, 220, 0, 0), 302, 9, "soname only-exports global-flag gpu-teardown-order"),
    host(NIGHTLY.format(ANDROID_X64), "liblitert-lm.so", (226, 220, 0, 0), 300, 9, "soname only-exports global-flag gpu-teardown-order"),
    host(NIGHTLY.format(MACOS), "liblitert-lm.dylib", (220, 220, 0, 0), 566, 16, "soname"),
    host(NIGHTLY.format(LINUX_ARM64), "liblitert-lm.so", (228, 220, 0, 0), 436, 5, "runpath soname only-exports bind-now"),
    host(NIGHTLY.format(LINUX_X64), "liblitert-lm.so", (228, 220, 0, 0), 438, 6, "runpath soname only-exports bind-now"),
    host(NIGHTLY.format(WINDOWS), "litert-lm.dll", (423, 220, 51, 151), 192, 30, "only-exports"),
]


@cache
def facts_of(wheel: str, file: str) -> BinaryFacts:
    return read_binary(wheels.library(wheel, file))


def names(row: Host) -> str:
    return f"{row.wheel}-{row.file}"


def every_library() -> list[tuple[str, str]]:
    """Return (wheel, path within it) of each native library, known without unpacking."""
    return [(wheel, name) for wheel in wheels.SHA256 for name in LIBRARIES[wheel]]


@pytest.mark.parametrize("row", HOSTS, ids=names)
def test_the_tables_of_a_host_have_these_many_entries(row: Host) -> None:
    facts = facts_of(row.wheel, row.file)
    counts = tuple(sum(name.startswith(prefix) for name in facts.exported_names) for prefix in ("litert_lm", "LiteRt", "TfLite"))
    assert (len(facts.exports), *counts) == row.exports
    assert (len(facts.imports), len(facts.needed)) == (row.imports, row.needed)


@pytest.mark.parametrize("row", HOSTS, ids=names)
def test_a_host_breaks_exactly_these_rules(row: Host) -> None:
    facts, target = facts_of(row.wheel, row.file), TARGETS[wheels.target_of(row.wheel)]
    policy = GatePolicy(allowed=API_PATTERNS, version="v" + row.wheel.split("-")[1], glibc_ceiling=target.glibc)
    report = check_context(Context(facts, target, policy))
    assert {result.rule.id for result in report.results if result.open} == row.broken, report.text


def test_the_0_10_0_host_fails_the_import_rule_by_name() -> None:
    for tag in ("manylinux_2_35_x86_64", "manylinux_2_35_aarch64"):
        wheel = EXT.format(tag)
        facts, target = facts_of(wheel, "litert_lm_ext.so"), TARGETS[wheels.target_of(wheel)]
        text = check_context(Context(facts, target, release_policy("v0.10.0", target))).text
        assert "libLiteRt.so: DT_NEEDED libLiteRt.so" in text
        assert text.startswith(f"Rejected litert_lm_ext.so for {target.name}")


def test_the_0_10_0_host_and_its_core_stand_on_two_runtimes_and_both_are_named() -> None:
    wheel = EXT.format("manylinux_2_35_x86_64")
    text = check_file(wheels.library(wheel, "litert_lm_ext.so"), TARGETS["linux-x64"]).text
    assert "libLiteRt.so is built on libc++ (St3__u in" in text and "litert_lm_ext.so on libstdc++ (St7__cxx11 in" in text


@pytest.mark.parametrize("row", HOSTS, ids=names)
def test_every_host_shows_exactly_one_runtime(row: Host) -> None:
    facts = facts_of(row.wheel, row.file)
    assert list(facts.evidence.families) == (["libstdc++"] if row.file == "litert_lm_ext.so" and facts.format == "elf" else ["libc++"])


def test_no_host_from_0_11_names_libLiteRt_and_all_name_their_plugins() -> None:
    for row in HOSTS:
        if row.file == "litert_lm_ext.so":
            continue
        found = facts_of(row.wheel, row.file).evidence.libraries
        assert not [name for name in found if re.fullmatch(r"(lib)?LiteRt\.(so|dll|dylib)", name, re.IGNORECASE)]
        assert [name for name in found if "Accelerator" in name]


def test_the_wheels_own_closure() -> None:
    """0.10.0's plug-ins get their LiteRt functions from the libLiteRt beside them; without it each is refused with the symbols named."""
    wheel = EXT.format("manylinux_2_35_x86_64")
    policy = release_policy("v0.10.0", TARGETS["linux-x64"], "dynamic")
    reports = {report.name.split("/")[-1]: report for report in check_bundle(wheels.folder(wheel), TARGETS["linux-x64"], policy)}
    assert all(reports[name].passed for name in reports if name.startswith("lib")), [report.text for report in reports.values()]
    sampler = facts_of(wheel, "libLiteRtTopKWebGpuSampler.so")
    alone = dataclasses.replace(
        sampler, needed=("libc.so.6",), imports=tuple(s._replace(library="", version="") for s in sampler.imports if "LiteRt" in s.name)
    )
    report = check_context(Context(alone, TARGETS["linux-x64"], dataclasses.replace(policy, role="companion")))
    (result,) = [result for result in report.results if result.open]
    assert result.rule.id == "symbol-closure" and result.open[0].subject.startswith("LiteRt") and len(result.open) == 13


def test_the_macos_sampler_of_0_10_0_exports_three_of_seven_functions() -> None:
    facts = facts_of(EXT.format(MACOS), "libLiteRtTopKWebGpuSampler.dylib")
    report = check_context(Context(facts, TARGETS["macos-arm64"], GatePolicy("dynamic", role="companion", bundled=("libLiteRt.dylib",))))
    missing = [finding.subject for result in report.results if result.rule.id == "entry-points" for finding in result.open]
    assert [name.rsplit("_", 1)[1] for name in missing] == [
        "UpdateConfig",
        "CanHandleInput",
        "HandlesInput",
        "SetInputTensorsAndInferenceFunc",
    ]


def test_a_vendor_plugin_with_an_undefined_cxx_symbol_is_refused() -> None:
    facts = facts_of(EDGE.format(LINUX_X64), "libLiteRtCompilerPlugin_Samsung.so")
    report = check_context(Context(facts, TARGETS["linux-x64"], GatePolicy("dynamic", role="companion")))
    assert "_ZN11flatbuffers13ClassicLocale9instance_E: undefined in no needed library" in report.text


def test_the_gpu_teardown_order_is_right_in_both_android_hosts() -> None:
    for tag in (ANDROID_ARM64, ANDROID_X64):
        wheel = API.format("0.18.1", tag)
        target = TARGETS[wheels.target_of(wheel)]
        report = check_context(Context(facts_of(wheel, "liblitert-lm.so"), target, release_policy("v0.18.1", target)))
        (result,) = [result for result in report.results if result.rule.id == "gpu-teardown-order"]
        assert result.outcome.summary == "GpuEnvironment::Initialize calls CreateGpuEnvironmentOptions before LoadOpenCL"


def test_the_0_19_nightly_changed_signatures_under_unchanged_names(tmp_path: Path) -> None:
    before, after = (_header(wheel, tmp_path) for wheel in (API.format("0.18.1", LINUX_X64), NIGHTLY.format(LINUX_X64)))
    old, new = read_api([before]), read_api([after])
    changed = [name for name in old if name in new and old[name] != new[name]]
    assert (len(old), len(new), len(changed)) == (194, 200, 154)
    facts, target = facts_of(NIGHTLY.format(LINUX_X64), "liblitert-lm.so"), TARGETS["linux-x64"]
    policy = dataclasses.replace(release_policy("v0.18.1", target), headers=(after,))
    report = check_context(Context(facts, target, policy))
    assert "litert_lm_engine_create: declared as i32(ptr, ptr), the bridge was written for ptr(ptr)" in report.text
    right = dataclasses.replace(release_policy("v0.19.0", target), headers=(after,))
    assert "c-abi" not in {result.rule.id for result in check_context(Context(facts, target, right)).results if result.open}


def _header(wheel: str, folder: Path) -> Path:
    """Write a C header from the declarations with which the wheel's own Python code loads the library."""
    words = {
        "c_void_p": "void*",
        "c_char_p": "char*",
        "c_string_p": "char*",
        "None": "void",
        "c_size_t": "size_t",
        "STREAM_CALLBACK_TYPE": "void*",
        "POINTER": "void*",
    }
    text = next(path for path in wheels.folder(wheel).rglob("_ffi.py")).read_text(encoding="utf-8").replace("ctypes.", "")
    flat = re.sub(r"\s+", " ", text)
    results = {m[1]: m[2].strip(" ()") for m in re.finditer(r"lib\.(\w+)\.restype = (\( ?\w+ ?\)|\w+)", flat)}
    lines = []
    for match in re.finditer(r"lib\.(\w+)\.argtypes = \[(.*?)\]", flat):
        arguments = [
            words.get(word, "void*" if word.startswith("POINTER") else _integer(word))
            for word in re.findall(r"POINTER\(\w+\)|\w+", match[2])
        ]
        result = results.get(match[1], "unknown")
        lines.append(f"{words.get(result, _integer(result))} {match[1]}({', '.join(arguments) or 'void'});")
    path = folder / f"{wheel[:20]}.h"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _integer(word: str) -> str:
    name = word.removeprefix("c_")
    return f"{name}_t" if re.fullmatch(r"u?int\d+", name) else name


def tool(name: str) -> str:
    found = shutil.which(f"{name}-19") or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is absent: apt-get install llvm-19")
    return found


def lines_of(*argv: str) -> list[str]:
    return subprocess.run(argv, check=True, capture_output=True, text=True, errors="backslashreplace").stdout.splitlines()


def elf_tables(path: Path) -> tuple[list[str], list[str]]:
    base = (tool("llvm-nm"), "-D", "--extern-only", "--no-demangle", "--format=just-symbols", "--quiet")
    strip = [[line.split("@")[0] for line in lines_of(*base, kind, str(path)) if line] for kind in ("--defined-only", "--undefined-only")]
    return strip[0], strip[1]


def pe_tables(path: Path) -> tuple[list[str], list[str]]:
    lines = lines_of(tool("llvm-readobj"), "--coff-exports", "--coff-imports", str(path))
    exports = [line.split(":", 1)[1].strip() for line in _within(lines, "Export") if line.strip().startswith("Name:")]
    imports = [line.split(":", 1)[1].rsplit("(", 1) for line in _within(lines, "Import") if line.strip().startswith("Symbol:")]
    return exports, [name.strip() or f"#{number.rstrip(')')}" for name, number in imports]


def _within(lines: list[str], block: str) -> list[str]:
    inside, found = False, []
    for line in lines:
        if line.startswith((f"{block} {{", f"Delay{block} {{")):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside:
            found.append(line)
    return found


def macho_tables(path: Path) -> tuple[list[str], list[str]]:
    trie = lines_of(tool("llvm-objdump"), "--macho", "--exports-trie", str(path))
    exports = [line.split()[1] for line in trie if re.match(r"(0x[0-9A-F]+|\[re-export\])  ", line)]
    return exports, [line.split()[-1] for line in lines_of(tool("llvm-nm"), "-u", "--no-demangle", str(path)) if line]


LIBRARIES: dict[str, list[str]] = {
    EDGE.format(MACOS): [
        "ai_edge_litert/_pywrap_analyzer_wrapper.so",
        "ai_edge_litert/_pywrap_litert_compiled_model_wrapper.so",
        "ai_edge_litert/_pywrap_litert_converter.so",
        "ai_edge_litert/_pywrap_litert_environment_wrapper.so",
        "ai_edge_litert/_pywrap_litert_interpreter_wrapper.so",
        "ai_edge_litert/_pywrap_litert_tensor_buffer_wrapper.so",
        "ai_edge_litert/_pywrap_modify_model_interface.so",
        "ai_edge_litert/_pywrap_string_util.so",
        "ai_edge_litert/_pywrap_tensorflow_lite_calibration_wrapper.so",
        "ai_edge_litert/_pywrap_tensorflow_lite_metrics_wrapper.so",
        "ai_edge_litert/_pywrap_tfl_calibration.so",
        "ai_edge_litert/format_converter_wrapper_pybind11.so",
        "ai_edge_litert/libLiteRt.dylib",
        "ai_edge_litert/libLiteRtMetalAccelerator.dylib",
        "ai_edge_litert/libpywrap_litert_common.dylib",
        "ai_edge_litert/pywrap_genai_ops.so",
    ],
    EDGE.format(LINUX_ARM64): [
        "ai_edge_litert/_pywrap_analyzer_wrapper.so",
        "ai_edge_litert/_pywrap_litert_compiled_model_wrapper.so",
        "ai_edge_litert/_pywrap_litert_converter.so",
        "ai_edge_litert/_pywrap_litert_environment_wrapper.so",
        "ai_edge_litert/_pywrap_litert_interpreter_wrapper.so",
        "ai_edge_litert/_pywrap_litert_tensor_buffer_wrapper.so",
        "ai_edge_litert/_pywrap_modify_model_interface.so",
        "ai_edge_litert/_pywrap_string_util.so",
        "ai_edge_litert/_pywrap_tensorflow_lite_calibration_wrapper.so",
        "ai_edge_litert/_pywrap_tensorflow_lite_metrics_wrapper.so",
        "ai_edge_litert/_pywrap_tfl_calibration.so",
        "ai_edge_litert/format_converter_wrapper_pybind11.so",
        "ai_edge_litert/libLiteRt.so",
        "ai_edge_litert/libLiteRtWebGpuAccelerator.so",
        "ai_edge_litert/libpywrap_litert_common.so",
        "ai_edge_litert/pywrap_genai_ops.so",
    ],
    EDGE.format(LINUX_X64): [
        "ai_edge_litert/_pywrap_analyzer_wrapper.so",
        "ai_edge_litert/_pywrap_litert_compiled_model_wrapper.so",
        "ai_edge_litert/_pywrap_litert_converter.so",
        "ai_edge_litert/_pywrap_litert_environment_wrapper.so",
        "ai_edge_litert/_pywrap_litert_interpreter_wrapper.so",
        "ai_edge_litert/_pywrap_litert_tensor_buffer_wrapper.so",
        "ai_edge_litert/_pywrap_modify_model_interface.so",
        "ai_edge_litert/_pywrap_string_util.so",
        "ai_edge_litert/_pywrap_tensorflow_lite_calibration_wrapper.so",
        "ai_edge_litert/_pywrap_tensorflow_lite_metrics_wrapper.so",
        "ai_edge_litert/_pywrap_tfl_calibration.so",
        "ai_edge_litert/format_converter_wrapper_pybind11.so",
        "ai_edge_litert/libLiteRt.so",
        "ai_edge_litert/libLiteRtWebGpuAccelerator.so",
        "ai_edge_litert/libpywrap_litert_common.so",
        "ai_edge_litert/pywrap_genai_ops.so",
        "ai_edge_litert/vendors/google_tensor/compiler/libLiteRtCompilerPlugin_google_tensor.so",
        "ai_edge_litert/vendors/intel_openvino/compiler/libLiteRtCompilerPlugin_IntelOpenvino.so",
        "ai_edge_litert/vendors/intel_openvino/dispatch/libLiteRtDispatch_IntelOpenvino.so",
        "ai_edge_litert/vendors/mediatek/compiler/libLiteRtCompilerPlugin_MediaTek.so",
        "ai_edge_litert/vendors/qualcomm/compiler/libLiteRtCompilerPlugin_Qualcomm.so",
        "ai_edge_litert/vendors/samsung/compiler/libLiteRtCompilerPlugin_Samsung.so",
    ],
    EDGE.format(WINDOWS): [
        "ai_edge_litert/_pywrap_analyzer_wrapper.pyd",
        "ai_edge_litert/_pywrap_litert_compiled_model_wrapper.pyd",
        "ai_edge_litert/_pywrap_litert_converter.pyd",
        "ai_edge_litert/_pywrap_litert_environment_wrapper.pyd",
        "ai_edge_litert/_pywrap_litert_interpreter_wrapper.pyd",
        "ai_edge_litert/_pywrap_litert_tensor_buffer_wrapper.pyd",
        "ai_edge_litert/_pywrap_modify_model_interface.pyd",
        "ai_edge_litert/_pywrap_string_util.pyd",
        "ai_edge_litert/_pywrap_tensorflow_lite_calibration_wrapper.pyd",
        "ai_edge_litert/_pywrap_tensorflow_lite_metrics_wrapper.pyd",
        "ai_edge_litert/_pywrap_tfl_calibration.pyd",
        "ai_edge_litert/format_converter_wrapper_pybind11.pyd",
        "ai_edge_litert/libLiteRt.dll",
        "ai_edge_litert/libLiteRtWebGpuAccelerator.dll",
        "ai_edge_litert/pywrap_genai_ops.pyd",
        "ai_edge_litert/pywrap_litert_common.dll",
        "ai_edge_litert/vendors/intel_openvino/compiler/LiteRtCompilerPlugin.dll",
        "ai_edge_litert/vendors/intel_openvino/dispatch/LiteRtDispatch.dll",
    ],
    EXT.format(MACOS): [
        "litert_lm/libGemmaModelConstraintProvider.dylib",
        "litert_lm/libLiteRt.dylib",
        "litert_lm/libLiteRtTopKWebGpuSampler.dylib",
        "litert_lm/libLiteRtWebGpuAccelerator.dylib",
        "litert_lm/litert_lm_ext.so",
    ],
    EXT.format("manylinux_2_35_aarch64"): [
        "litert_lm/libGemmaModelConstraintProvider.so",
        "litert_lm/libLiteRt.so",
        "litert_lm/libLiteRtTopKWebGpuSampler.so",
        "litert_lm/libLiteRtWebGpuAccelerator.so",
        "litert_lm/litert_lm_ext.so",
    ],
    EXT.format("manylinux_2_35_x86_64"): [
        "litert_lm/libGemmaModelConstraintProvider.so",
        "litert_lm/libLiteRt.so",
        "litert_lm/libLiteRtTopKWebGpuSampler.so",
        "litert_lm/libLiteRtWebGpuAccelerator.so",
        "litert_lm/litert_lm_ext.so",
    ],
    API.format("0.11.0", MACOS): ["litert_lm/liblitert-lm.dylib"],
    API.format("0.11.0", LINUX_ARM64): ["litert_lm/liblitert-lm.so"],
    API.format("0.11.0", LINUX_X64): ["litert_lm/liblitert-lm.so"],
    API.format("0.11.0", WINDOWS): ["litert_lm/dxcompiler.dll", "litert_lm/dxil.dll", "litert_lm/litert-lm.dll"],
    API.format("0.18.1", ANDROID_ARM64): ["litert_lm/liblitert-lm.so"],
    API.format("0.18.1", ANDROID_X64): ["litert_lm/liblitert-lm.so"],
    API.format("0.18.1", MACOS): ["litert_lm/liblitert-lm.dylib"],
    API.format("0.18.1", LINUX_ARM64): ["litert_lm/liblitert-lm.so"],
    API.format("0.18.1", LINUX_X64): ["litert_lm/liblitert-lm.so"],
    API.format("0.18.1", WINDOWS): [
        "litert_lm/dxcompiler.dll",
        "litert_lm/dxil.dll",
        "litert_lm/litert-lm.dll",
        "litert_lm/vendors/intel_openvino/dispatch/LiteRtDispatch.dll",
    ],
    NIGHTLY.format(ANDROID_ARM64): ["litert_lm/liblitert-lm.so"],
    NIGHTLY.format(ANDROID_X64): ["litert_lm/liblitert-lm.so"],
    NIGHTLY.format(MACOS): ["litert_lm/liblitert-lm.dylib"],
    NIGHTLY.format(LINUX_ARM64): ["litert_lm/liblitert-lm.so"],
    NIGHTLY.format(LINUX_X64): ["litert_lm/liblitert-lm.so"],
    NIGHTLY.format(WINDOWS): [
        "litert_lm/dxcompiler.dll",
        "litert_lm/dxil.dll",
        "litert_lm/litert-lm.dll",
        "litert_lm/vendors/intel_openvino/dispatch/LiteRtDispatch.dll",
    ],
}


@pytest.mark.parametrize(("wheel", "name"), every_library())
def test_symbol_tables_agree_with_llvm_symbol_for_symbol(wheel: str, name: str) -> None:
    path = wheels.folder(wheel) / name
    facts = read_binary(path)
    exports, imports = {"elf": elf_tables, "pe": pe_tables, "macho": macho_tables}[facts.format](path)
    named = [symbol.name for symbol in facts.exports if symbol.kind != "ordinal"]
    assert sorted(named) == sorted(exports)
    assert sorted(symbol.name for symbol in facts.imports) == sorted(imports)
