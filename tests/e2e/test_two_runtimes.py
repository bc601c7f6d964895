"""The fault that this project exists to prevent, for real: the host writes a C++ map that a core on another runtime reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.engine import REPOSITORY, Result

SAMPLE = REPOSITORY / "third_party" / "sample"
LINK_MODE = "@litert//litert/build_common:litert_runtime_link_mode"
GOLDEN = json.loads((SAMPLE / "golden.json").read_text(encoding="utf-8"))
BUILD = """
package(default_visibility = ["//visibility:public"])

cc_import(
    name = "litert",
    shared_library = "libLiteRt.so",
)
"""


@dataclass
class Builds:
    """The sample in its two halves: a core library of its own, and a host that needs it."""

    folder: Path
    cache: Path

    def lock(self, name: str, **changes: object) -> Path:
        lock = json.loads((REPOSITORY / "third_party/refs/sample.json").read_text(encoding="utf-8"))
        for repository in lock["repositories"].values():
            repository["path"] = str((REPOSITORY / "third_party/refs" / repository["path"]).resolve())
        lock["product"]["registrations"] = lock["product"]["registrations"] if name == "static" else []  # the core holds them
        lock |= {"ref": name, **changes}
        lock["repositories"] |= {"litert_prebuilt": {"path": str(self.folder / "prebuilt")}}
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(lock), encoding="utf-8")
        return file

    def scons(self, lock: Path, *extra: str) -> Result:
        places = (f"lock={lock}", f"build_dir={self.folder / lock.stem}", f"cache={self.cache}", "host")
        process = subprocess.run(
            [sys.executable, "-m", "SCons", "-Q", *places, *extra], cwd=REPOSITORY, capture_output=True, text=True, timeout=600, check=False
        )
        return Result(process.returncode, process.stdout + process.stderr)

    def core(self, *toolchain: str) -> Path:
        """Build libLiteRt.so alone and lay it out as the repository of prebuilt libraries."""
        product = {"kind": "host", "library": "libLiteRt.so", "required": ["LiteRtCreateOptions"], "allowed": ["LiteRt*"]}
        prebuilt = self.folder / "prebuilt"
        prebuilt.mkdir()
        (prebuilt / "BUILD").write_text(BUILD)
        (prebuilt / "WORKSPACE").write_text("")
        built = self.scons(self.lock("core", roots=["@litert//litert/c:core"], product=product), *toolchain)
        assert built.code == 0, built.text
        library = self.folder / "core/linux-x64/core/bazel-out/k8-opt/bin/host/libLiteRt.so"
        (prebuilt / "libLiteRt.so").write_bytes(library.read_bytes())
        return library

    def smoke(self, *libraries: Path) -> subprocess.CompletedProcess[str]:
        """Run the sample's smoke program in a process of its own."""
        program = self.folder / "smoke"
        sources = (str(REPOSITORY / "src/smoke/smoke.c"), "-I", str(REPOSITORY / "src/bridge"))
        subprocess.run(["gcc", "-o", str(program), *sources, "-ldl"], check=True)
        host, *rest = libraries
        environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(self.folder / "prebuilt")}
        command = [str(program), str(host), str(SAMPLE / "models/tiny.model"), *map(str, rest)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


@pytest.fixture
def builds(tmp_path: Path, cache: Path) -> Builds:
    return Builds(tmp_path, cache)


def needs_clang() -> None:
    if not Path("/usr/lib/llvm-19/lib/libc++.a").is_file():
        pytest.skip("libc++-19-dev is not installed")


def test_two_runtimes_lose_the_weights_and_the_gate_refuses_the_host(builds: Builds) -> None:
    needs_clang()
    core = builds.core("toolchain=clang", "runtime=libc++")
    host = builds.scons(builds.lock("dynamic", flags={LINK_MODE: "dynamic"}))
    assert host.code != 0
    assert "runtime-imports" in host.text
    assert "libLiteRt.so" in host.text
    library = builds.folder / "dynamic/linux-x64/dynamic/bazel-out/k8-opt/bin/host/libLiteRtLm.so"
    assert not library.exists()
    rejected = library.with_name("libLiteRtLm.so.rejected")
    run = builds.smoke(rejected, core)
    assert run.returncode != 0
    assert "external weights are missing" in run.stdout + run.stderr or run.returncode < 0
    assert GOLDEN["embedding"] not in run.stdout


def test_one_runtime_keeps_the_weights_in_static_mode(builds: Builds) -> None:
    (builds.folder / "prebuilt").mkdir()
    host = builds.scons(builds.lock("static"))
    assert host.code == 0, host.text
    run = builds.smoke(builds.folder / "static/linux-x64/static/bazel-out/k8-opt/bin/host/libLiteRtLm.so")
    assert run.returncode == 0, run.stderr
    assert GOLDEN["embedding"] in run.stdout
    assert GOLDEN["text"] in run.stdout
