"""The sample upstream by every toolchain that is installed: built, judged, bundled, and run natively, under qemu or under wine."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from litert_build.actions import Compile, Link
from litert_build.errors import BuildError
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.runners import run_argv, run_environment

from tests.e2e.toolchain_builds import run, toolchain_or_skip

pytestmark = pytest.mark.skipif(platform.system() != "Linux" or platform.machine() != "x86_64", reason="needs Linux on x86_64")

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "third_party" / "sample"
SMOKE, BRIDGE = ROOT / "src" / "smoke", ROOT / "src" / "bridge"
LOAD_GLOBAL = """
#include <stdio.h>
#include <windows.h>
int main(void) {
  HMODULE host = LoadLibraryA("LiteRtLm.dll");
  void* (*load)(const char*) = (void* (*)(const char*))GetProcAddress(host, "stream_proxy_load_global");
  printf("%d %d\\n", load("n\\xc3\\xa4me \\xe6\\xbc\\xa2.dll") != NULL, load("absent.dll") != NULL);
  return 0;
}
"""
ROWS = [
    ("linux-x64", "gcc", ""),
    ("linux-x64", "clang", ""),
    ("linux-x64", "clang", "libc++"),
    ("linux-x64", "zig", ""),
    ("linux-arm64", "gcc", ""),
    ("linux-arm64", "zig", ""),
    ("windows-x64", "mingw", ""),
    ("windows-x64", "zig", ""),
    ("macos-arm64", "zig", ""),
    ("macos-x64", "zig", ""),
]


def scons(folder: Path, target: str, name: str, runtime: str) -> dict[str, object]:
    """Build the sample's bundle in `folder` and return what the gate wrote, the library's path added."""
    arguments = [f"target={target}", f"toolchain={name}", f"build_dir={folder}", *([f"runtime={runtime}"] if runtime else [])]
    done = subprocess.run(
        [str(Path(sys.executable).with_name("scons")), "-j2", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Validated in-process LiteRT linkage on {target}" in done.stdout
    (library,) = [path for path in folder.glob(f"{target}/sample/bazel-out/*/bin/host/*") if path.suffix in (".so", ".dll", ".dylib")]
    verdict: dict[str, object] = json.loads((folder / target / "sample" / "checks.json").read_text())
    return {**verdict, "library": library}


def execute(folder: Path, toolchain: Toolchain, source: str, arguments: list[str]) -> str:
    """Build a C program of the target in `folder`, run it there, and return what it prints. Skips where nothing runs it here."""
    target = toolchain.target
    (folder / "out").mkdir()
    program = "out/program.exe" if target.format == "pe" else "out/program"
    compiling = Compile(
        "//:program", source, "out/program.o", "out/program.d", "target", "c", (), (("-I", str(BRIDGE)),), ("-std=gnu11", "-O1")
    )
    linking = Link("//:program", program, "executable", "target", ("out/program.o",), flags=("-ldl", "-lpthread"))
    run(folder, toolchain, toolchain.compile_argv(compiling))
    (folder / "out/program.rsp").write_text("\n".join(toolchain.response_lines(linking)))
    run(folder, toolchain, toolchain.link_argv(linking, "out/program.rsp"))
    try:
        argv = run_argv(target, program, arguments)
    except BuildError as missing:
        pytest.skip(missing.what)
    done = subprocess.run(argv, cwd=folder, env=run_environment(target, folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def smoke(folder: Path, toolchain: Toolchain, library: Path) -> dict[str, str]:
    """Return what the smoke program prints for `library`, by name."""
    for file in (library, *SMOKE.iterdir(), *(SAMPLE / "models").iterdir()):
        shutil.copy(file, folder)
    printed = execute(folder, toolchain, "smoke.c", [f"./{library.name}", "tiny.model"])
    return dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)


@pytest.mark.parametrize(("target", "name", "runtime"), ROWS, ids=lambda value: value or "default")
def test_the_sample_is_judged_and_gives_the_golden_values(tmp_path: Path, target: str, name: str, runtime: str) -> None:
    toolchain = toolchain_or_skip(name, target, runtime)
    built = scons(tmp_path / "build", target, name, runtime)
    library = built["library"]
    assert isinstance(library, Path)
    if toolchain.target.format == "macho":
        return
    golden = json.loads((SAMPLE / "golden.json").read_text(encoding="utf-8"))
    printed = smoke(tmp_path, toolchain, library)
    assert {key: printed.get(key) for key in golden} == golden


def test_stream_proxy_opens_a_path_with_non_ascii_letters_on_windows(tmp_path: Path) -> None:
    toolchain = toolchain_or_skip("mingw", "windows-x64")
    library = scons(tmp_path / "build", "windows-x64", "mingw", "")["library"]
    assert isinstance(library, Path)
    shutil.copy(library, tmp_path)
    shutil.copy(library, tmp_path / "n\xe4me \u6f22.dll")
    (tmp_path / "load.c").write_text(LOAD_GLOBAL)
    assert execute(tmp_path, toolchain, "load.c", []).split() == ["1", "0"]


@pytest.mark.skipif(not os.environ.get("BUILD_TWICE"), reason="BUILD_TWICE=1 builds every row from two folders")
@pytest.mark.parametrize(("target", "name", "runtime"), ROWS, ids=lambda value: value or "default")
def test_two_build_folders_give_the_same_host(tmp_path: Path, target: str, name: str, runtime: str) -> None:
    toolchain_or_skip(name, target, runtime)
    hosts = []
    for folder in ("a", "another and longer folder"):
        library = scons(tmp_path / folder, target, name, runtime)["library"]
        assert isinstance(library, Path)
        hosts.append(library.read_bytes())
    assert hosts[0] == hosts[1]
