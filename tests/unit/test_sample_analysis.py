"""The sample's lock and BUILD files: what each link mode and switch puts into the host."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.actions import Compile, Run
from litert_build.bazel.analysis import Analysis, analyze
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Repository

ROOT = Path(__file__).parents[2]
LOCK = Lock.read(ROOT / "third_party/refs/sample.json")
LINK_MODE = "@litert//litert/build_common:litert_runtime_link_mode"
ACCELERATOR = "external/litert/litert/runtime/accelerators/gpu/ml_drift_webgpu_accelerator.cc"
SAMPLER = "runtime/components/samplers/top_k_webgpu_sampler.cc"


def analysis_of(lock: Lock) -> Analysis:
    trees = {name: repository.path.resolve() for name, repository in lock.repositories.items() if repository.path}
    return analyze(lock, trees, find_target("linux-x64"))


def host_sources(analysis: Analysis) -> list[str]:
    """The sources behind the objects of the link, those linked in any case first."""
    by_output = {action.output: action.source for action in analysis.actions.compiles()}
    return [by_output[path] for path in (*analysis.link.objects, *analysis.link.lazy)]


def compile_of(analysis: Analysis, source: str) -> Compile:
    return next(action for action in analysis.actions.compiles() if action.source == source)


def with_define(name: str, value: str) -> Lock:
    return replace(LOCK, defines={**LOCK.defines, name: value})


def with_prebuilt_core(folder: Path) -> Lock:
    folder.joinpath("BUILD.bazel").write_text(
        'cc_import(name = "litert", shared_library = "libLiteRt.so", visibility = ["//visibility:public"])\n', encoding="utf-8"
    )
    folder.joinpath("libLiteRt.so").write_bytes(b"")
    repositories = {**LOCK.repositories, "litert_prebuilt": Repository("litert_prebuilt", path=folder)}
    return replace(LOCK, link_mode="dynamic", flags={LINK_MODE: "dynamic"}, repositories=repositories)


def test_lock_exports_exactly_what_the_headers_declare() -> None:
    headers = (ROOT / "third_party/sample/litert_lm/c/engine.h", *(ROOT / "src/bridge").glob("*/*.h"))
    declared = {
        name
        for header in headers
        for name in re.findall(
            r"^(?:LITERT_LM_C_API|STREAM_PROXY|LITERT_LM_ASR)_EXPORT [^(]*?(\w+)\(", header.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert declared == {*LOCK.product.required, *LOCK.product.allowed}
    assert len(declared) == 81


def test_static_mode_holds_the_core_and_what_registers_itself() -> None:
    analysis = analysis_of(LOCK)
    sources = host_sources(analysis)
    assert len(sources) == len(set(sources)) == 83
    assert {ACCELERATOR, SAMPLER, "external/base/base/log/stderr_sink.cc", "external/litert/litert/c/litert_options.cc"} <= set(sources)
    assert analysis.link.libraries == ()


def test_dynamic_mode_takes_the_core_from_its_library(tmp_path: Path) -> None:
    analysis = analysis_of(with_prebuilt_core(tmp_path))
    sources = host_sources(analysis)
    assert [source for source in sources if source.startswith(("external/litert/", "external/ml_drift/"))] == []
    assert SAMPLER in sources
    assert analysis.link.libraries == ("external/litert_prebuilt/libLiteRt.so",)
    assert "LITERT_CORE_LINKED_IN=0" in compile_of(analysis, "runtime/executor/llm_executor.cc").defines


def test_dynamic_mode_needs_the_repository_of_the_core() -> None:
    with pytest.raises(BuildError, match="litert_prebuilt"):
        analysis_of(replace(LOCK, flags={LINK_MODE: "dynamic"}))


def test_the_legacy_define_alone_leaves_the_mode_static() -> None:
    assert LOCK.defines["litert_link_capi_so"] == "true"
    assert LOCK.flags == {LINK_MODE: "default"}
    assert host_sources(analysis_of(LOCK)) == host_sources(analysis_of(with_define("litert_link_capi_so", "false")))


def test_the_core_alone_is_a_library_with_its_accelerator() -> None:
    sources = host_sources(analysis_of(replace(LOCK, roots=("@litert//litert/c:core",))))
    assert ACCELERATOR in sources
    assert [source for source in sources if not source.startswith("external/")] == []


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        (LINK_MODE, "statik", "one of its values: default, static, dynamic, none\n  -> did you mean static"),
        (f"{LINK_MODE}s", "dynamic", "no such target '@litert//litert/build_common:litert_runtime_link_modes'"),
        ("@literd//litert:mode", "dynamic", "no such repository '@literd'"),
        ("//c:engine", "dynamic", "//c:engine is no build setting"),
    ],
)
def test_a_flag_of_the_lock_must_exist_and_take_its_value(flag: str, value: str, message: str) -> None:
    with pytest.raises(BuildError) as failure:
        analysis_of(replace(LOCK, flags={flag: value}))
    assert message in str(failure.value)


@pytest.mark.parametrize(
    ("lock", "gone", "instead"),
    [
        (replace(LOCK, flags={"//runtime/executor:gpu_accelerator": "none"}), ACCELERATOR, None),
        (
            with_define("LITERT_LM_FST_CONSTRAINTS_DISABLED", "1"),
            "runtime/components/constrained_decoding/repetition_constraint.cc",
            "runtime/components/constrained_decoding/no_constraint.cc",
        ),
        (with_define("ukernels_enable_avx2", "false"), "external/litert/microkernels/src/dot_s8_avx2.c", None),
    ],
    ids=["no accelerator", "no constraints", "no AVX2"],
)
def test_a_switch_takes_its_source_out(lock: Lock, gone: str, instead: str | None) -> None:
    sources = host_sources(analysis_of(lock))
    assert gone not in sources
    assert instead is None or instead in sources


def test_generated_headers_come_from_a_tool_of_the_exec_configuration() -> None:
    analysis = analysis_of(LOCK)
    commands = [action for action in analysis.actions if isinstance(action, Run) and action.tools]
    generated = {"@litert//tflite:op_codes", "@litert//tflite:kernel_codes/generated", "//runtime/components/tokenizer:vocabulary"}
    assert {action.label for action in commands} == generated
    assert {tool for action in commands for tool in action.tools} == {"bazel-out/k8-opt-exec/bin/external/litert/litert/tools/table_gen"}


def test_flags_reach_the_sources_they_are_meant_for() -> None:
    analysis = analysis_of(LOCK)
    by_source = {action.source: action for action in analysis.actions.compiles() if action.configuration == "k8-opt"}
    assert [source for source, action in by_source.items() if "-mavx2" in action.flags] == [
        "external/litert/microkernels/src/dot_s8_avx2.c"
    ]
    assert [source for source, action in by_source.items() if source.endswith(".c") and "-std=c++20" in action.flags] == []
    assert "BASE_CRC32_POLYNOMIAL=0xEDB88320u" in by_source["external/base/base/hash/crc32.c"].defines
    assert "BASE_CRC32_POLYNOMIAL=0xEDB88320u" not in by_source["runtime/executor/external_weight_store.cc"].defines
    assert "LITERT_LM_STREAM_CHUNK_API=1" in by_source["external/litert_lm_native/stream_proxy/stream_proxy.cc"].defines


def test_the_bridge_follows_the_callback_of_the_ref() -> None:
    defines = {name: value for name, value in LOCK.defines.items() if name != "litert_lm_stream_chunk_api"}
    analysis = analysis_of(replace(LOCK, defines={**defines, "sample_stream_callback_abi": "1"}))
    proxy = compile_of(analysis, "external/litert_lm_native/stream_proxy/stream_proxy.cc")
    assert "LITERT_LM_STREAM_CHUNK_API=1" not in proxy.defines
    assert "LITERT_LM_STREAM_CALLBACK_ABI=1" in proxy.defines
