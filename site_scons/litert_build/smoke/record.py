"""Owns the making of golden values: the one command that writes what a host gives into a golden file, for the names it has.

    PYTHONPATH=site_scons python -m litert_build.smoke.record --abi=pointer libLiteRtLm.so tiny.model golden.json

A new golden file names what it wants with empty values: {"text": "", "streamed": ""}.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.targets import find_target, host_target
from litert_build.smoke.abi import Abi
from litert_build.smoke.run import SmokeRequest, printed_values
from litert_build.smoke.steps import read_plan
from litert_build.toolchains import find_toolchain


def record(library: Path, model: Path, golden: Path, abi: Abi) -> list[str]:
    """Write the values that `library` gives to `golden`, and return the names of those that changed. Raises BuildError where the walk
    fails: nothing is written then."""
    plan = read_plan(golden)
    toolchain = find_toolchain("", find_target(host_target()))
    with tempfile.TemporaryDirectory(prefix="smoke-") as scratch:
        printed = printed_values(library.absolute(), SmokeRequest(library, toolchain, model, golden, abi), Path(scratch))
    values = {name: printed[name] for name in plan.golden}
    golden.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [name for name, value in values.items() if value != plan.golden[name]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="litert_build.smoke.record", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--abi", choices=("pointer", "status"), default="pointer")
    for name in ("library", "model", "golden"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    try:
        changed = record(options.library, options.model, options.golden, options.abi)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{options.golden}: {', '.join(changed) if changed else 'nothing'} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
