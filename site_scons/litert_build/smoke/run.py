"""Owns the smoke test of a bundle: unpacked into a clean folder, walked in a clean environment, compared with golden values.

    request = SmokeRequest(archive, toolchain, model, golden, abi_of("v0.19.1"))
    print(smoke_bundle(request).text)

The C program runs as the target's row says: natively, under qemu, under wine. The ctypes walk runs where the target is this machine.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litert_build.bundles.verify import unpack
from litert_build.errors import BuildError
from litert_build.smoke.abi import Abi
from litert_build.smoke.program import build_program
from litert_build.smoke.steps import CTYPES_STEPS, Plan, differences, read_plan, read_values
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.runners import run_argv, run_environment

MODEL_LAYER = Path(__file__).parents[2]
TIMEOUT = 300.0


@dataclass(frozen=True)
class SmokeRequest:
    """What is walked: a runtime archive, the toolchain of its target, a model (its companions have its stem), golden values, the ABI.

    A walk that takes longer than `timeout` seconds is ended.
    """

    archive: Path
    toolchain: Toolchain
    model: Path
    golden: Path
    abi: Abi
    timeout: float = TIMEOUT


@dataclass(frozen=True)
class SmokeReport:
    """The walks that went through, a line each."""

    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(["Walked the C API", *(f"  ok  {line}" for line in self.lines)])


def smoke_bundle(request: SmokeRequest) -> SmokeReport:
    """Walk the host of a bundle. Raises BuildError at the first thing that is wrong: a host that cannot be loaded, lacks a function,
    fails, crashes, does not end, or gives other values than the golden ones."""
    # What wine leaves running for a moment may still write there.
    with tempfile.TemporaryDirectory(prefix="smoke-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        unpack(request.archive, folder / "bundle")
        found = sorted((folder / "bundle").rglob(request.toolchain.target.library))
        if len(found) != 1:
            raise BuildError(f"holds {len(found)} files called {request.toolchain.target.library}", where=str(request.archive))
        return smoke_library(found[0], request, folder)


def smoke_library(library: Path, request: SmokeRequest, folder: Path) -> SmokeReport:
    """Walk one host library, with all else that is needed made in `folder`. Raises BuildError as smoke_bundle does."""
    walk = _Walk.prepare(library, request, folder)
    lines = [walk.compare("C", walk.plan.steps, walk.run_program())]
    steps = tuple(step for step in walk.plan.steps if step in CTYPES_STEPS)
    if request.toolchain.target.is_this_machine and steps:
        lines.append(walk.compare("ctypes", steps, walk.run_python(steps)))
    return SmokeReport(tuple(lines))


def printed_values(library: Path, request: SmokeRequest, folder: Path) -> dict[str, str]:
    """Return what the C program prints of a host, compared with nothing. Raises BuildError where the walk fails."""
    return _Walk.prepare(library, request, folder).run_program()


@dataclass(frozen=True)
class _Walk:
    """The walks of one library. Paths in `operands` are relative to `folder`, which wine understands as well."""

    request: SmokeRequest
    plan: Plan
    folder: Path
    operands: tuple[str, ...]

    @staticmethod
    def prepare(library: Path, request: SmokeRequest, folder: Path) -> _Walk:
        plan = read_plan(request.golden)
        model = _copy_model(request.model, folder / "models")
        return _Walk(request, plan, folder, (_relative(library, folder), _relative(model, folder)))

    def run_program(self) -> dict[str, str]:
        """Compile and run the C program."""
        (self.folder / "program").mkdir()
        program = build_program(self.request.toolchain, self.folder / "program")
        target = self.request.toolchain.target
        argv = run_argv(target, _relative(program, self.folder), self._arguments(self.plan.steps))
        return self._run("C", argv, run_environment(target, self.folder))

    def run_python(self, steps: tuple[str, ...]) -> dict[str, str]:
        environment = {"PYTHONPATH": str(MODEL_LAYER), "PYTHONDONTWRITEBYTECODE": "1"}
        return self._run("ctypes", [sys.executable, "-m", "litert_build.smoke.walk", *self._arguments(steps)], environment)

    def _arguments(self, steps: tuple[str, ...]) -> list[str]:
        return [f"--abi={self.request.abi}", f"--backend={self.plan.backend}", f"--steps={','.join(steps)}", *self.operands]

    def _run(self, name: str, argv: Sequence[str], more: Mapping[str, str]) -> dict[str, str]:
        """Run a program in a clean environment to its end, and return what it printed."""
        kept = {variable: os.environ[variable] for variable in ("SYSTEMROOT",) if variable in os.environ}
        code, output, errors = run_limited(argv, self.folder, {"LC_ALL": "C", **kept, **more}, self.request.timeout)
        printed = read_values(output)
        if code != 0 or "deleted" not in printed:
            raise self._broken(name, code, printed, errors)
        return printed

    def compare(self, name: str, steps: tuple[str, ...], printed: Mapping[str, str]) -> str:
        """Compare with the golden values; returns the line of the report."""
        expected = self.plan.expected(steps)
        wrong = differences(expected, printed)
        if wrong:
            raise BuildError(
                f"the {name} walk gives other values",
                where=self.request.archive.name,
                notes=wrong,
                mend=f"if the new values are right, write them to {self.request.golden} by litert_build.smoke.record",
            )
        return f"{name}: {', '.join(steps)}; {len(expected)} values"

    def _broken(self, name: str, code: int | None, printed: Mapping[str, str], errors: str) -> BuildError:
        said = [line.removeprefix("smoke: ") for line in errors.splitlines() if line.startswith("smoke: ")]
        last = f"the last value was {list(printed)[-1]!r}" if printed else "no value was printed"
        if code is None:
            what = f"the {name} walk does not end within {self.request.timeout:g} seconds"
        elif said:
            what = f"the {name} walk fails: {said[-1]}"
        elif code < 0:
            what = f"the {name} walk crashes with {signal.Signals(-code).name}"
        else:
            what = f"the {name} walk ends with exit code {code}"
        notes = [last, *(line for line in errors.splitlines()[-8:] if not line.startswith("smoke: "))]
        mend = "run src/smoke with this library under a debugger"
        if said and said[-1].endswith("the host does not export it"):
            mend = "name the function in the lock's product.required, and build again"
        return BuildError(what, where=self.request.archive.name, notes=notes, mend=mend)


def run_limited(argv: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> tuple[int | None, str, str]:
    """Run a program that may hang: returns exit code (None where it was ended after `timeout` seconds), output and errors."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(argv, cwd=folder, env=dict(environment), stdout=output, stderr=errors, start_new_session=True)
        code: int | None
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)  # its children too: wine's, an emulator's
            else:
                process.kill()
            process.wait()
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return code, texts[0], texts[1]


def _copy_model(model: Path, folder: Path) -> Path:
    """Copy a model, and the files beside it that have its stem, into `folder`."""
    if not model.is_file():
        raise BuildError("no model to walk with", where=str(model), mend="name one with model=PATH")
    folder.mkdir()
    for file in model_files(model):
        shutil.copyfile(file, folder / file.name)
    return folder / model.name


def model_files(model: Path) -> list[Path]:
    """Return a model and the files beside it that have its stem: the sample's speech model."""
    return sorted(file for file in model.parent.glob(f"{model.stem}.*") if file.is_file())


def _relative(path: Path, folder: Path) -> str:
    return f".{os.sep}{path.relative_to(folder)}" if path.is_relative_to(folder) else str(path)
