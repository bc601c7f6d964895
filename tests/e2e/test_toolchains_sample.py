"""The sample upstream by every toolchain that is installed: built, judged, bundled, and run natively, under qemu or under wine.

A run of all tests builds for this machine and one foreign target of each format; SAMPLE_ROWS=all builds every row, BUILD_TWICE=1 each
of them from two folders.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from litert_build.actions import Compile, Link
from litert_build.binaries.reader import read_binary
from litert_build.errors import BuildError
from litert_build.gating import allow_declared
from litert_build.sources.lock import Lock
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
# Target, toolchain, runtime, and whether a run of all tests builds it.
ROWS = [
    ("linux-x64", "gcc", "", True),
    ("linux-x64", "clang", "libc++", True),
    ("linux-arm64", "zig", "", True),
    ("windows-x64", "mingw", "", True),
    ("macos-arm64", "zig", "", True),
    ("linux-x64", "clang", "", False),
    ("linux-x64", "zig", "", False),
    ("linux-arm64", "gcc", "", False),
    ("windows-x64", "zig", "", False),
    ("macos-x64", "zig", "", False),
]


@dataclass(frozen=True)
class Host:
    """A host that was built from the sample: its row, its toolchain, its library and its execution root."""

    row: tuple[str, str, str]
    toolchain: Toolchain
    library: Path
    root: Path


def build_host(folder: Path, row: tuple[str, str, str], *places: str) -> Host:
    """Build the sample's bundle in `folder`; the gate has passed it."""
    target, name, runtime = row
    toolchain = toolchain_or_skip(name, target, runtime)
    arguments = [f"target={target}", f"toolchain={name}", *([f"runtime={runtime}"] if runtime else [])]
    command = [str(Path(sys.executable).with_name("scons")), "-j2", *arguments, f"build_dir={folder}", *places]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Validated in-process LiteRT linkage on {target}" in done.stdout
    root = folder / target / "sample"
    return Host(row, toolchain, root / f"bazel-out/{toolchain.target.cpu}-opt/bin/host" / toolchain.target.library, root)


def parameter(target: str, name: str, runtime: str, by_default: bool) -> object:
    label = "-".join(filter(None, (target, name, runtime)))
    asked = by_default or os.environ.get("SAMPLE_ROWS") == "all"
    return pytest.param((target, name, runtime), id=label, marks=pytest.mark.skipif(not asked, reason=f"SAMPLE_ROWS=all builds {label}"))


@pytest.fixture(scope="module", params=[parameter(*fields) for fields in ROWS])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Host:
    return build_host(tmp_path_factory.mktemp("sample") / "build", request.param, f"cache={cache}")


def execute(folder: Path, toolchain: Toolchain, source: str, arguments: list[str]) -> str:
    """Build a C program of the target in `folder`, run it there, and return what it prints. Skips where nothing runs it here."""
    target = toolchain.target
    if target.format == "macho":
        pytest.skip(f"nothing runs {target.name} here")
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


def test_the_exports_are_what_the_headers_declare(host: Host) -> None:
    declared = allow_declared(Lock.read(ROOT / "third_party/refs/sample.json").product, host.root)
    assert read_binary(host.library).exported_names == {*declared.required, *declared.allowed}
    assert len(declared.allowed) == 81


def test_the_smoke_program_gives_the_golden_values(host: Host, tmp_path: Path) -> None:
    golden = json.loads((SAMPLE / "golden.json").read_text(encoding="utf-8"))
    printed = smoke(tmp_path, host.toolchain, host.library)
    assert {key: printed.get(key) for key in golden} == golden


def test_stream_proxy_opens_a_path_with_non_ascii_letters(host: Host, tmp_path: Path) -> None:
    if host.toolchain.target.format != "pe":
        pytest.skip("a path is no UTF-16 but on Windows")
    shutil.copy(host.library, tmp_path)
    shutil.copy(host.library, tmp_path / "n\xe4me \u6f22.dll")
    (tmp_path / "load.c").write_text(LOAD_GLOBAL)
    assert execute(tmp_path, host.toolchain, "load.c", []).split() == ["1", "0"]


@pytest.mark.skipif(not os.environ.get("BUILD_TWICE"), reason="BUILD_TWICE=1 builds every row from two folders")
def test_two_build_folders_give_the_same_host(host: Host, tmp_path: Path) -> None:
    other = build_host(tmp_path / "another and longer folder", host.row)
    assert other.library.read_bytes() == host.library.read_bytes()
