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

from tests.e2e.job_project import Project
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


def prebuild(companions: Path) -> Path:
    """Link sound companions: each exports what its kind must."""
    companions.mkdir(parents=True)
    for row in layout("linux-x64", TAG).companions:
        stem = row.file.removeprefix("lib").removesuffix(".so")
        names = (
            [f"{stem}_{function}" for function in FUNCTIONS]
            if "Sampler" in stem
            else ["LiteRtAcceleratorImpl" if "Accel" in stem else "get"]
        )
        link(companions, row.file, exporting(*names))
    return companions


@pytest.fixture
def request_of(tmp_path: Path) -> BundleRequest:
    """A request whose companions are sound."""
    companions = prebuild(tmp_path / "companions")
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


def test_scons_stages_the_companions_of_a_release(project: Project) -> None:
    prebuild(project.folder / "tiny" / "prebuilt" / "linux_x86_64")
    accessors = ("litert_lm_stream_chunk_get_text", "litert_lm_asr_abi_version")
    project.write(
        "answer.cc", '#include "c/answer.h"\n\n#include "base.h"\n\nint answer(void) { return base(); }\n' + exporting(*accessors)
    )
    exports = ["answer", *accessors]
    project.lock |= {"ref": TAG, "release": TAG, "commit": COMMIT, "product": {"kind": "host", "required": exports, "allowed": exports}}
    result = project.scons(f"tag={TAG}-1")
    assert result.code == 0, result.text
    bundle = project.folder / "build" / "linux-x64" / TAG / "bundle"
    report = verify_bundle(bundle / f"litert-lm-native-runtime-linux-x64-{TAG}-1.tar.gz")
    assert [line for line in report.lines if line.startswith("inventory")] == [f"inventory: 6 files of linux-x64 at {TAG}"]
    assert report.manifest["release"]["kind"] == "rebuild" and report.manifest["upstream"]["commit"] == COMMIT
    names = {row["name"] for row in json.loads(next(bundle.glob("*.cdx.json")).read_text())["components"]}
    assert names == {"tiny", *(row.file for row in layout("linux-x64", TAG).companions)}
    (project.folder / "tiny" / "prebuilt" / "linux_x86_64" / "libLiteRt.so").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:7\n"
    )
    result = project.scons(f"tag={TAG}-2")
    assert result.code != 0 and "libLiteRt.so: a Git LFS pointer stands in place of the library" in result.text
    assert not list(bundle.glob(f"*{TAG}-2*"))
