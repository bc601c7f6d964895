"""Owns the smoke test as a step of a build: which model and values it takes, and what makes it stale.

step = smoke_step(options, lock, toolchain, root, archive="bundle/litert-lm-native-runtime-linux-x64-v0.0.1.tar.gz")
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.signing import sign
from litert_build.incremental.steps import Step
from litert_build.options import Options
from litert_build.smoke.abi import abi_of
from litert_build.smoke.program import SOURCES
from litert_build.smoke.run import SmokeRequest, model_files, smoke_bundle
from litert_build.smoke.steps import Plan, read_plan
from litert_build.sources.lock import Lock
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.runners import run_argv

THIRD_PARTY = Path(__file__).parents[3] / "third_party"
REPORT = "smoke.txt"
CHUNKS = "litert_lm_stream_chunk_api"  # the define of StreamProxy that tells from v0.15
_CODE = tuple(sorted(Path(__file__).parent.glob("*.py")))


def smoke_step(options: Options, lock: Lock, toolchain: Toolchain, root: Path, archive: str) -> Step:
    """Return the step that walks the host of `archive` (relative to the execution root) and leaves its report there.

    A ref with a folder of its own in third_party, as the sample, brings model and golden values; any other takes model=, and golden= or
    `<model>.golden.json` beside it. Raises BuildError where there is no model, where the target's programs cannot run here, or where the
    golden values are of chunks that the ref's streams do not have.
    """
    run_argv(toolchain.target, "smoke")
    model, golden = _model_of(options, lock.ref)
    _refuse_chunks(read_plan(golden), lock, golden)
    abi = abi_of(lock.policy or lock.release)
    request = SmokeRequest(root / archive, toolchain, model, golden, abi)
    read = (*model_files(model), golden, *SOURCES.values(), *_CODE)
    return Step(
        title=f"Walk the C API of {Path(archive).name}",
        inputs=(archive, *dict.fromkeys(str(path.absolute()) for path in read)),
        outputs=(REPORT,),
        signature=sign(("smoke", abi, toolchain.identity), map(str, read)),
        work=partial(_walk, request, root / REPORT),
        withdrawn=True,
    )


def _model_of(options: Options, ref: str) -> tuple[Path, Path]:
    own = THIRD_PARTY / ref
    model, golden = options.path("model"), options.path("golden")
    if model is None and (own / "golden.json").is_file():
        model, golden = own / "models/tiny.model", golden or own / "golden.json"
    if model is None or not model.is_file():
        where = f"model={options['model']}" if model else "model="
        raise BuildError("there is no model to walk the C API with", where=where, mend="name one with model=PATH")
    return model, golden or model.with_suffix(".golden.json")


def _refuse_chunks(plan: Plan, lock: Lock, golden: Path) -> None:
    steps = [step for step in ("direct", "endings") if step in plan.steps]
    if steps and lock.defines.get(CHUNKS) != "true":
        raise BuildError(
            f"the steps {' and '.join(steps)} read chunks, which streams of {lock.release} do not have",
            where=str(golden),
            mend=f"leave their values out, or define {CHUNKS} in the lock of a ref whose streams have them",
        )


def _walk(request: SmokeRequest, report: Path) -> Outcome:
    text = smoke_bundle(request).text
    report.write_text(f"{text}\n", encoding="utf-8")
    return Outcome(0, f"{text}\n")
