"""The patches this project carries, on sources in the shape of those they are for: they apply, and what they change behaves.

The programs are written here; of upstream's text they hold the few lines that the patches name. That these lines stand in upstream's files
was read there, for the releases a patch serves: LiteRT's gpu_environment.cc and gpu_registry.cc, LiteRT-LM's sampler_factory.cc.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.sources.carried import apply_carried, read_carried
from litert_build.sources.lock import Lock
from litert_build.sources.lock_command import LockRequest, run_patches
from litert_build.sources.network import Network
from litert_build.sources.trees import materialize

from tests.e2e.test_sources import serve
from tests.loopback import Loopback

THIRD_PARTY = Path("third_party").absolute()
ENVIRONMENT = "litert/runtime/gpu_environment.cc"
REGISTRY = "litert/runtime/accelerators/gpu_registry.cc"
SAMPLERS = "runtime/components/sampler_factory.cc"
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is absent: apt-get install g++")

# A machine without OpenCL, and an application that gives a callback: the exit code is how often the callback ran.
PROGRAM = """
#define LITERT_HAS_OPENCL_SUPPORT 1
struct LiteRtEnvironmentOptionsT { void (*destroy)(); };
struct Options { void (*destroy)() = nullptr; };
static int destroyed;

Options CreateGpuEnvironmentOptions(
    const LiteRtEnvironmentOptionsT& environment_options) {
  return {environment_options.destroy};
}

struct GpuEnvironment {
  bool Initialize(const LiteRtEnvironmentOptionsT&);
  ~GpuEnvironment() { if (options_.destroy) options_.destroy(); }
  Options options_;
};
static bool LoadOpenCL() { return false; }

bool GpuEnvironment::Initialize(
    const LiteRtEnvironmentOptionsT& environment_options) {
#if LITERT_HAS_OPENCL_SUPPORT
  if (!LoadOpenCL()) return false;
#endif

  // Set up options.
  options_ = CreateGpuEnvironmentOptions(environment_options);

#if LITERT_HAS_OPENCL_SUPPORT
  if (!options_.destroy) return false;
#endif
  return true;
}

int main() {
  { GpuEnvironment().Initialize({[] { ++destroyed; }}); }
  return destroyed;
}
"""
# What is opened on a device and on a Mac, a line each.
LIBRARIES = """
#define LITERT_HAS_METAL_SUPPORT 1
#define SO_EXT ".dylib"
#include <cstdio>
static const char* const kLibraries[] = {
#ifdef __ANDROID__
      "libLiteRtOpenClAccelerator" SO_EXT,
#elif TARGET_OS_IPHONE
#if LITERT_HAS_METAL_SUPPORT
      "libLiteRtMetalAccelerator" SO_EXT,
#endif
#else
#if LITERT_HAS_METAL_SUPPORT
      "libLiteRtMetalAccelerator" SO_EXT,
#endif
#endif
};
int main() { for (const char* library : kLibraries) puts(library); }
"""
SAMPLER = """
#include <cstdio>
int main() { puts("libLiteRtTopKMetalSampler.dylib"); }
"""
FIXED = PROGRAM.replace("  if (!LoadOpenCL()) return false;\n", "").replace("#if LITERT_HAS_OPENCL_SUPPORT\n#endif\n\n", "")


def lock_of(tmp_path: Path, server: Loopback, release: str, environment: str = PROGRAM) -> Lock:
    """The lock of a release whose LiteRT and LiteRT-LM are archives with the programs above."""
    repositories = {
        "litert_lm": serve(server, "/lm.tar.gz", {SAMPLERS: SAMPLER.encode()}),
        "litert": serve(server, "/litert.tar.gz", {ENVIRONMENT: environment.encode(), REGISTRY: LIBRARIES.encode()}),
    }
    data = {"schema": 1, "ref": release, "policy": release, "main": "litert_lm", "repositories": repositories}
    file = tmp_path / "third_party/refs" / f"{release}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**data, "roots": ["//:x"], "product": {"kind": "host"}}))
    return Lock.read(file)


def trees_for(tmp_path: Path, lock: Lock, target: str) -> dict[str, Path]:
    """Make the trees of a lock as a build for the target does, with what is carried for it."""
    carried, _ = apply_carried(lock, read_carried(THIRD_PARTY), target, {})
    return materialize(carried, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", network=Network(token=""), target=target)


def run(source: Path, binary: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    subprocess.run(["g++", "-std=c++17", *flags, str(source), "-o", str(binary)], check=True)
    return subprocess.run([str(binary)], capture_output=True, text=True, check=False)


@needs_compiler
@pytest.mark.parametrize("release", ["v0.15.0", "v0.16.0", "v0.16.1", "v0.17.0", "v0.17.1"])
def test_the_environment_is_destroyed_though_opencl_does_not_load(tmp_path: Path, release: str) -> None:
    with Loopback(tmp_path) as server:
        lock = lock_of(tmp_path, server, release)
        leaking = trees_for(tmp_path, lock, "linux-x64")["litert"] / ENVIRONMENT
        mended = trees_for(tmp_path, lock, "android-arm64")["litert"] / ENVIRONMENT
    assert leaking.read_text() == PROGRAM, "no other system has OpenCL"
    assert run(leaking, tmp_path / "leaking").returncode == 0, "the fault that the patch is for"
    assert run(mended, tmp_path / "mended").returncode == 1
    assert mended.read_text().count("options_ = CreateGpuEnvironmentOptions(environment_options);") == 1


@needs_compiler
def test_an_application_of_ios_opens_frameworks_and_a_mac_libraries(tmp_path: Path) -> None:
    with Loopback(tmp_path) as server:
        lock = lock_of(tmp_path, server, "v0.17.0")
        phone, mac = trees_for(tmp_path, lock, "ios-arm64"), trees_for(tmp_path, lock, "macos-arm64")
    frameworks = "@executable_path/Frameworks/{0}.framework/{0}\n"
    ios = ("-DTARGET_OS_IPHONE=1",)
    assert run(phone["litert"] / REGISTRY, tmp_path / "a", *ios).stdout == frameworks.format("LiteRtMetalAccelerator")
    assert run(phone["litert"] / REGISTRY, tmp_path / "b").stdout == "libLiteRtMetalAccelerator.dylib\n", "the other branch is upstream's"
    assert run(phone["litert_lm"] / SAMPLERS, tmp_path / "c").stdout == frameworks.format("LiteRtTopKMetalSampler")
    assert (mac["litert"] / REGISTRY).read_text() == LIBRARIES
    assert (mac["litert_lm"] / SAMPLERS).read_text() == SAMPLER


@pytest.mark.parametrize(
    ("release", "environment", "status"),
    [
        ("v0.16.0", PROGRAM, "applies"),
        ("v0.17.1", FIXED, "no longer applies (options-before-opencl.patch: hunk 1 of 2 does not fit litert/runtime/gpu_environment.cc)"),
        ("v0.18.0", FIXED, "unneeded (it serves >=0.15,<0.18)"),
        ("v0.19.1", FIXED, "unneeded (it serves >=0.15,<0.18)"),
    ],
)
def test_the_audit_tells_where_the_patch_is_needed(tmp_path: Path, release: str, environment: str, status: str) -> None:
    for kind in ("patches", "overlays"):
        shutil.copytree(THIRD_PARTY / kind, tmp_path / "third_party" / kind)
    with Loopback(tmp_path) as server:
        lock_of(tmp_path, server, release, environment)
        text = run_patches(LockRequest(release, root=tmp_path), store=tmp_path / "store", network=Network(token=""))
    section = text.split("## gpu-environment-destroy\n")[1].split("\n## ")[0]
    assert f"- {release}: {status}\n" in section
    assert f"- {release}: applies\n" in text.split("## ios-metal-accelerator\n")[1].split("\n## ")[0]


def test_sources_of_another_shape_stop_the_build(tmp_path: Path) -> None:
    with Loopback(tmp_path) as server:
        lock = lock_of(tmp_path, server, "v0.16.0", FIXED)
        with pytest.raises(BuildError, match=r"hunk 1 of 2 does not fit litert/runtime/gpu_environment\.cc"):
            trees_for(tmp_path, lock, "android-x64")
        trees_for(tmp_path, lock, "linux-x64")
