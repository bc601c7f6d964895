"""Real companions beside a real host: what the gate finds only when it sees the whole bundle."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from litert_build.bundles.bundle import BundleRequest, make_bundle
from litert_build.bundles.layout import layout
from litert_build.bundles.verify import verify_bundle
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target

from tests.unit.bundle_samples import COMMIT, lock_file, sample_request

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is absent: apt-get install g++")

TAG = "v0.18.0"
FLAGS = ["-static-libstdc++", "-static-libgcc", "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-rpath,$ORIGIN"]
HOST = """
#include <string>
#include <unordered_map>
static std::unordered_map<std::string, int> seen;
extern "C" int litert_lm_engine_create(const char* name) { return ++seen[name]; }
extern "C" int litert_lm_asr_abi_version() { return 1; }
extern "C" const char* litert_lm_stream_chunk_get_text() { return "text"; }
"""
FUNCTIONS = [
    "Create",
    "Destroy",
    "SampleToIdAndScoreBuffer",
    "UpdateConfig",
    "CanHandleInput",
    "HandlesInput",
    "SetInputTensorsAndInferenceFunc",
]


def link(folder: Path, name: str, source: str, *flags: str) -> Path:
    argv = ["g++", "-O1", "-fPIC", "-shared", "-x", "c++", "-", "-o", name, f"-Wl,-soname,{name}", *FLAGS, *flags]
    subprocess.run(argv, cwd=folder, input=source, text=True, check=True, capture_output=True)
    return folder / name


def exporting(*names: str) -> str:
    return "".join(f'extern "C" int {name}() {{ return 0; }}\n' for name in names)


@pytest.fixture
def request_of(tmp_path: Path) -> BundleRequest:
    """A request whose companions are sound: each exports what its kind must."""
    companions = tmp_path / "companions"
    companions.mkdir()
    for row in layout("linux-x64", TAG).companions:
        stem = row.file.removeprefix("lib").removesuffix(".so")
        names = (
            [f"{stem}_{function}" for function in FUNCTIONS]
            if "Sampler" in stem
            else ["LiteRtAcceleratorImpl" if "Accel" in stem else "get"]
        )
        link(companions, row.file, exporting(*names))
    lock = lock_file(tmp_path, TAG, COMMIT)
    exports = (*lock.product.required, "litert_lm_stream_chunk_get_text")
    (tmp_path / "exports.map").write_text(f"{{ global: {''.join(f'{name}; ' for name in exports)} local: *; }};")
    host = link(tmp_path, "libLiteRtLm.so", HOST, f"-Wl,--version-script={tmp_path / 'exports.map'}")
    report = check_host(host, find_target("linux-x64"), GatePolicy(required=exports))
    assert report.passed, report.text
    return sample_request(
        tmp_path, lock=lock, tag=TAG, host=host, facts=report.facts, gate=json.loads(report.to_json()), companions=companions
    )


def test_a_sound_bundle(request_of: BundleRequest) -> None:
    result = make_bundle(request_of)
    gated = [line for line in verify_bundle(result.archive).lines if line.startswith("gate: ")]
    assert gated == sorted(f"gate: {member}" for member in layout("linux-x64", TAG).members)


def test_a_sampler_with_three_of_its_seven_functions(request_of: BundleRequest) -> None:
    assert request_of.companions
    name = "libLiteRtTopKWebGpuSampler"
    link(request_of.companions, f"{name}.so", exporting(*(f"{name[3:]}_{function}" for function in FUNCTIONS[:3])))
    with pytest.raises(BuildError, match=f"{name}.so of the linux-x64 bundle does not pass the gate") as caught:
        make_bundle(request_of)
    text = str(caught.value)
    assert all(f"LiteRtTopKWebGpuSampler_{function}: not exported" in text for function in FUNCTIONS[3:])
    assert f"_{FUNCTIONS[0]}: not exported" not in text


def test_a_plug_in_whose_symbols_nobody_exports(request_of: BundleRequest) -> None:
    assert request_of.companions
    source = 'extern "C" int LiteRtCreateEnvironment(); extern "C" int LiteRtAcceleratorImpl() { return LiteRtCreateEnvironment(); }'
    link(request_of.companions, "libLiteRtWebGpuAccelerator.so", source)
    with pytest.raises(
        BuildError, match=r"(?s)libLiteRtWebGpuAccelerator.so of .*LiteRtCreateEnvironment: .*no file of the bundle exports it"
    ):
        make_bundle(request_of)
    assert not request_of.output.exists()
