"""Owns the C program of the smoke test: compiling src/smoke by a target's toolchain.

program = build_program(toolchain, folder)      # Path("folder/smoke"), or smoke.exe
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Literal

from litert_build.actions import Compile, Link
from litert_build.errors import BuildError
from litert_build.toolchains.base import Toolchain

_SOURCE = Path(__file__).parents[3] / "src"
# Where each file lies in the folder of the program.
SOURCES: dict[str, Path] = {
    "smoke.c": _SOURCE / "smoke/smoke.c",
    "host.h": _SOURCE / "smoke/host.h",
    "speech.h": _SOURCE / "smoke/speech.h",
    "bcryptprimitives.c": _SOURCE / "smoke/bcryptprimitives.c",
    "asr/asr.h": _SOURCE / "bridge/asr/asr.h",
}


def build_program(toolchain: Toolchain, folder: Path) -> Path:
    """Return the program, compiled in `folder`. Raises BuildError with the compiler's words where that fails."""
    for name, source in SOURCES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    target = toolchain.target
    if target.runner == "wine" and not target.is_this_machine:
        # wine before 9 has no such DLL, which hosts with Rust in them need; a later one prefers its own.
        _build(toolchain, folder, "bcryptprimitives.c", "bcryptprimitives.dll", "shared", ("-ladvapi32",))
    libraries = ("-ldl",) if target.os in ("linux", "android") else ()
    return _build(toolchain, folder, "smoke.c", "smoke.exe" if target.format == "pe" else "smoke", "executable", libraries)


def _build(
    toolchain: Toolchain, folder: Path, source: str, output: str, kind: Literal["executable", "shared"], libraries: tuple[str, ...]
) -> Path:
    flags = ("-std=gnu11", "-O1")
    compiling = Compile("//:smoke", source, f"{source}.o", f"{source}.d", "target", "c", (), (("-iquote", "."),), flags)
    linking = Link("//:smoke", output, kind, "target", (compiling.output,), flags=libraries)
    _run(toolchain, toolchain.compile_argv(compiling), folder)
    (folder / "smoke.rsp").write_text("\n".join(toolchain.response_lines(linking)), encoding="utf-8")
    _run(toolchain, toolchain.link_argv(linking, "smoke.rsp"), folder)
    return folder / output


def _run(toolchain: Toolchain, argv: list[str], folder: Path) -> None:
    done = subprocess.run(argv, cwd=folder, env=dict(toolchain.environment), capture_output=True, text=True, check=False)
    if done.returncode:
        notes = (done.stdout + done.stderr).splitlines()
        raise BuildError(f"{toolchain.name} cannot compile the smoke program", where="src/smoke/smoke.c", notes=notes)
