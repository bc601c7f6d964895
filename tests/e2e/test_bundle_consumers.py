"""A bundle from a real host to a C program that uses it: made, verified by the real gate, unpacked, found by pkg-config and by CMake."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from litert_build.bundles.bundle import BundleResult, make_bundle
from litert_build.bundles.components import repository_components
from litert_build.bundles.sdk import collect_headers
from litert_build.bundles.verify import verify_bundle
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target

from tests.unit.bundle_samples import lock_file, sample_request

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is absent: apt-get install g++")

HEADER = """
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int litert_lm_engine_create(const char* name);
int litert_lm_asr_abi_version(void);
#ifdef __cplusplus
}
#endif
"""
SOURCE = """
#include "c/engine.h"
#include <string>
#include <unordered_map>
static std::unordered_map<std::string, int> seen;
int litert_lm_engine_create(const char* name) { return ++seen[name] + 40; }
int litert_lm_asr_abi_version(void) { return 1; }
"""
CONSUMER = """
#include <c/engine.h>
#include <stdio.h>
int main(void) { printf("%d\\n", litert_lm_engine_create("a") + litert_lm_asr_abi_version()); return 0; }
"""
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES C CXX)
find_package(LiteRtLm {version} CONFIG REQUIRED)
foreach(language c cc)
  add_executable(consumer_${{language}} main.${{language}})
  target_link_libraries(consumer_${{language}} PRIVATE LiteRtLm::LiteRtLm)
endforeach()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> BundleResult:
    """A host linked as a build links it, checked and bundled with its papers and its SDK."""
    folder = tmp_path_factory.mktemp("bundle of a höst")
    (folder / "c").mkdir()
    (folder / "c" / "engine.h").write_text(HEADER)
    (folder / "host.cc").write_text(SOURCE)
    (folder / "LICENSE").write_text("Apache License\nVersion 2.0, January 2004\n")
    (folder / "exports.map").write_text("{ global: litert_lm_engine_create; litert_lm_asr_abi_version; local: *; };")
    lock = lock_file(folder)
    flags = [
        "-static-libstdc++",
        "-static-libgcc",
        "-Wl,-z,now",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--version-script=exports.map",
        "-Wl,--build-id",
    ]
    argv = ["g++", "-O1", "-fPIC", "-shared", "-I.", "-o", "libLiteRtLm.so", "host.cc", "-Wl,-soname,libLiteRtLm.so", *flags]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    host = folder / "libLiteRtLm.so"
    report = check_host(host, find_target("linux-x64"), GatePolicy(required=lock.product.required))
    assert report.passed, report.text
    request = sample_request(
        folder,
        lock=lock,
        host=host,
        gate=json.loads(report.to_json()),
        facts=report.facts,
        components=repository_components(lock, {"litert_lm": folder / "c"}, folder / "LICENSE"),
        headers=collect_headers([("c", folder / "c")]),
    )
    return make_bundle(request)


@pytest.fixture
def prefix(made: BundleResult, tmp_path: Path) -> Path:
    """Runtime and SDK archive unpacked into one folder with a space in its name."""
    folder = tmp_path / "my libs"
    for archive in (made.archive, next(path for path in made.extras if "-sdk-" in path.name)):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return folder / "linux" / "x64"


def run(argv: list[str], **environment: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True, env={**os.environ, **environment}).stdout


def test_the_real_gate_verifies_it(made: BundleResult) -> None:
    lines = verify_bundle(made.archive).lines
    assert "gate: linux/x64/libLiteRtLm.so" in lines and "SHA256SUMS: 7 sums" in lines
    build = made.content["build"]["linux-x64"]
    assert {rule["id"] for rule in build["gate"]["rules"]} >= {"required-exports", "only-exports", "cxx-runtime"}
    assert build["sections"][".text"] > 1000 and build["glibcFloor"].startswith("2.")


def test_the_sums_are_those_of_sha256sum(made: BundleResult) -> None:
    done = subprocess.run(
        ["sha256sum", "--ignore-missing", "--check", "SHA256SUMS"], cwd=made.archive.parent, check=True, capture_output=True, text=True
    )
    assert done.stdout.count(": OK") == 6


def test_a_host_that_breaks_a_rule_is_found_again(made: BundleResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litert_build.bundles.verify.gate_policy", lambda *_, **__: GatePolicy(required=("litert_lm_session_create",)))
    with pytest.raises(BuildError, match=r"(?s)libLiteRtLm.so of the linux-x64 bundle does not pass the gate.*litert_lm_session_create"):
        verify_bundle(made.archive)


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is absent: apt-get install pkg-config")
@pytest.mark.parametrize(("compiler", "source"), [("gcc", "main.c"), ("g++", "main.cc")])
def test_pkg_config(prefix: Path, tmp_path: Path, compiler: str, source: str) -> None:
    (tmp_path / source).write_text(CONSUMER)
    environment = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    assert run(["pkg-config", "--modversion", "litert-lm"], **environment) == "0.0.0\n"
    script = f'cd "{tmp_path}" && eval {compiler} {source} -o consumer "$(pkg-config --cflags --libs litert-lm)"'
    run(["sh", "-c", script], **environment)
    assert run([str(tmp_path / "consumer")]) == "42\n"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is absent: apt-get install cmake")
def test_cmake(prefix: Path, tmp_path: Path) -> None:
    for name in ("main.c", "main.cc"):
        (tmp_path / name).write_text(CONSUMER)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(version="0.0.0"))
    run(["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={prefix}"])
    run(["cmake", "--build", str(tmp_path / "build")])
    for name in ("consumer_c", "consumer_cc"):
        assert run([str(tmp_path / "build" / name)]) == "42\n"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is absent: apt-get install cmake")
@pytest.mark.parametrize(
    ("version", "remove", "message"), [("1.0", "", "1.0"), ("", "libLiteRtLm.so", "unpack the runtime archive over the SDK")]
)
def test_cmake_says_what_is_missing(prefix: Path, tmp_path: Path, version: str, remove: str, message: str) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(version=version).partition("foreach")[0])
    if remove:
        (prefix / remove).unlink()
    argv = ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode != 0 and message in " ".join(done.stderr.split())


@pytest.mark.skipif(shutil.which("minisign") is None, reason="minisign is absent: apt-get install minisign")
def test_signed_and_verified(made: BundleResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from litert_build.bundles.signing import sign

    public, secret = tmp_path / "key.pub", tmp_path / "key.sec"
    run(["minisign", "-G", "-W", "-p", str(public), "-s", str(secret)])
    folder = Path(shutil.copytree(made.archive.parent, tmp_path / "copy"))
    environment = {**os.environ, "LITERT_LM_SIGN": "minisign", "LITERT_LM_SIGN_KEY": str(secret)}
    signature = sign(folder / "SHA256SUMS", environment)
    assert signature and signature.name == "SHA256SUMS.minisig"
    monkeypatch.setenv("LITERT_LM_VERIFY", "minisign")
    monkeypatch.setenv("LITERT_LM_VERIFY_KEY", str(public))
    assert verify_bundle(folder / made.archive.name).lines[-1] == "signature: SHA256SUMS.minisig"
    text = signature.read_text()
    signature.write_text(text.replace(text.splitlines()[1][20:24], "AAAA"))
    with pytest.raises(BuildError, match=r"the signature of SHA256SUMS does not verify"):
        verify_bundle(folder / made.archive.name)
    signature.unlink()
    with pytest.raises(BuildError, match=r"SHA256SUMS.minisig: SHA256SUMS is not signed"):
        verify_bundle(folder / made.archive.name)
