"""The walk of the C API on the published host libraries, with a tiny model, in both ABIs."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.smoke.abi import abi_of
from litert_build.smoke.run import SmokeRequest, smoke_library
from litert_build.toolchains.runners import run_argv

from tests.e2e.toolchain_builds import toolchain_or_skip
from tests.real import wheels

DATA = Path(__file__).parent / "data"
MODEL, GOLDEN = DATA / "tiny.litertlm", DATA / "tiny.golden.json"
STABLE, NIGHTLY = "litert_lm_api-0.18.1", "litert_lm_api_nightly-0.19.0.dev20261026"
PLATFORMS = {"linux-x64": "manylinux_2_27_x86_64", "linux-arm64": "manylinux_2_27_aarch64", "windows-x64": "win_amd64"}
COMPILERS = {"linux-x64": "gcc", "linux-arm64": "gcc", "windows-x64": "mingw"}
OLDEST_QEMU = 10  # 7.2 crashes in the engine of the arm64 host


def skip_where_it_cannot_run(target: str) -> None:
    try:
        runner = run_argv(find_target(target), "smoke")[0]
    except BuildError as missing:
        pytest.skip(missing.what)
    if "qemu" in runner:
        said = subprocess.run([runner, "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"version (\d+)\.(\d+)", said)
        if version is None or int(version[1]) < OLDEST_QEMU:
            pytest.skip(f"{runner} is {version[0] if version else 'unknown'}: the real arm64 host crashes below version {OLDEST_QEMU}")


def request_for(wheel: str, target: str, abi_release: str = "") -> tuple[Path, SmokeRequest]:
    """The host of a wheel, and the request of its walk; `abi_release` walks it as another release."""
    skip_where_it_cannot_run(target)
    toolchain = toolchain_or_skip(COMPILERS[target], target)
    file = "litert-lm.dll" if target.startswith("windows") else "liblitert-lm.so"
    library = wheels.library(f"{wheel}-py3-none-{PLATFORMS[target]}", file)
    abi = abi_of(abi_release or wheel.rpartition("-")[2])
    return library, SmokeRequest(library, toolchain, MODEL, GOLDEN, abi)


@pytest.mark.parametrize("target", sorted(PLATFORMS))
@pytest.mark.parametrize("wheel", [STABLE, NIGHTLY])
def test_the_published_host_answers(tmp_path: Path, wheel: str, target: str) -> None:
    library, request = request_for(wheel, target)
    lines = smoke_library(library, request, tmp_path).lines
    assert lines[0] == "C: generate, direct, endings, threads; 10 values"
    assert lines[1:] == (("ctypes: generate, direct; 3 values",) if find_target(target).is_this_machine else ())


@pytest.mark.parametrize(("wheel", "abi_release"), [(STABLE, "v0.19.0"), (NIGHTLY, "v0.18.0")])
def test_a_client_of_the_other_abi_is_noticed(tmp_path: Path, wheel: str, abi_release: str) -> None:
    """No export check can see it: the names are the same."""
    library, request = request_for(wheel, "linux-x64", abi_release)
    with pytest.raises(BuildError, match=r"the C walk (crashes with SIG|fails: )"):
        smoke_library(library, request, tmp_path)


def test_another_text_is_noticed(tmp_path: Path) -> None:
    library, request = request_for(STABLE, "linux-x64")
    golden = {**json.loads(GOLDEN.read_text()), "text": "aetohmrlpwgbfunD"}
    (tmp_path / "golden.json").write_text(json.dumps(golden))
    changed = SmokeRequest(library, request.toolchain, MODEL, tmp_path / "golden.json", request.abi)
    with pytest.raises(BuildError) as refused:
        smoke_library(library, changed, tmp_path)
    assert refused.value.notes == ("text: 'aetohmrlpwgbfund' instead of 'aetohmrlpwgbfunD'",)


def test_a_damaged_model_is_refused_by_the_host(tmp_path: Path) -> None:
    library, request = request_for(STABLE, "linux-x64")
    (tmp_path / "damaged").mkdir()
    shutil.copy(GOLDEN, tmp_path / "damaged/tiny.golden.json")
    model = tmp_path / "damaged/tiny.litertlm"
    model.write_bytes(MODEL.read_bytes()[:1000])
    damaged = SmokeRequest(library, request.toolchain, model, GOLDEN, request.abi)
    with pytest.raises(BuildError, match=r"the C walk (fails: litert_lm_engine_create: |crashes with SIG)"):
        smoke_library(library, damaged, tmp_path)


def test_a_function_that_only_the_sample_has_is_missed(tmp_path: Path) -> None:
    library, request = request_for(STABLE, "linux-x64")
    (tmp_path / "golden.json").write_text(json.dumps({"embedding": "00"}))
    asking = SmokeRequest(library, request.toolchain, MODEL, tmp_path / "golden.json", request.abi)
    with pytest.raises(BuildError, match="the C walk fails: litert_lm_engine_compute_embedding: the host does not export it"):
        smoke_library(library, asking, tmp_path)


def test_the_model_is_the_one_whose_making_is_described() -> None:
    assert hashlib.sha256(MODEL.read_bytes()).hexdigest() in (DATA / "README.md").read_text(encoding="utf-8")
