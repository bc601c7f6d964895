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
SMOKE = next(folder for folder in (ROOT / "src" / "smoke", SAMPLE / "smoke") if folder.is_dir())
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


def smoke(folder: Path, toolchain: Toolchain, library: Path) -> dict[str, str]:
    """Build smoke.c for the target, run it against `library`, and return what it prints."""
    target = toolchain.target
    (folder / "out").mkdir()
    for file in (*SMOKE.iterdir(), *(SAMPLE / "models").iterdir()):
        shutil.copy(file, folder)
    program = "out/smoke.exe" if target.format == "pe" else "out/smoke"
    compiling = Compile("//:smoke", "smoke.c", "out/smoke.o", "out/smoke.d", "target", "c", (), (), ("-std=gnu11", "-O1"))
    linking = Link("//:smoke", program, "executable", "target", ("out/smoke.o",), flags=("-ldl",))
    run(folder, toolchain, toolchain.compile_argv(compiling))
    (folder / "out/smoke.rsp").write_text("\n".join(toolchain.response_lines(linking)))
    run(folder, toolchain, toolchain.link_argv(linking, "out/smoke.rsp"))
    shutil.copy(library, folder)
    try:
        argv = run_argv(target, program, [f"./{library.name}", "tiny.model"])
    except BuildError as missing:
        pytest.skip(missing.what)
    environment = run_environment(target, folder)
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)


@pytest.mark.parametrize(("target", "name", "runtime"), ROWS, ids=lambda value: value or "default")
def test_the_sample_is_judged_and_gives_the_golden_values(tmp_path: Path, target: str, name: str, runtime: str) -> None:
    toolchain = toolchain_or_skip(name, target, runtime)
    built = scons(tmp_path / "build", target, name, runtime)
    library = built["library"]
    assert isinstance(library, Path)
    if toolchain.target.format == "macho":
        return
    golden = json.loads((SAMPLE / "golden.json").read_text())
    printed = smoke(tmp_path, toolchain, library)
    assert {key: printed.get(key) for key in golden} == golden


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
