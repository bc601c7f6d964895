"""Owns the commands that look at the closure of a lock without building it: `scons explain=LABEL` and the doctor's half of it.

lines, faults = closure_report(options)
"""

from __future__ import annotations

from pathlib import Path

from litert_build.bazel.analysis import Analyzer, on_deep_stack
from litert_build.errors import BuildError
from litert_build.job import with_policy
from litert_build.options import Options, find_lock
from litert_build.places import REFS
from litert_build.policy.targets import find_target, host_target
from litert_build.reports.explain import diagnose, explain
from litert_build.sources.console import console, network_of
from litert_build.sources.lock import Lock
from litert_build.sources.store import default_store
from litert_build.sources.trees import materialize


def analyzer_of(options: Options) -> Analyzer:
    """Return the analyzer of the options' lock and target, its sources in place. Raises BuildError."""
    target = find_target(options["target"])
    lock = with_policy(Lock.read(find_lock(options, REFS)), options, target)
    build_dir = Path(options["build_dir"]).absolute()
    trees = materialize(
        lock,
        store=options.path("store") or default_store(),
        overlays_dir=build_dir / "overlays",
        offline=options.enabled("offline"),
        local=options.local,
        network=network_of(options),
        progress=console(),
        target=target.name,
    )
    name = options["toolchain"] or target.default_toolchain
    return Analyzer(lock, trees, target, name, find_target(host_target()).default_toolchain, build_dir / "evaluated")


def explain_command(options: Options) -> int:
    """Print why a label is built, or what added a flag or include folder to its compiles."""
    analyzer = analyzer_of(options)
    print(on_deep_stack(lambda: explain(analyzer, options["explain"], flag=options["flag"], include=options["include"])))
    return 0


def closure_report(options: Options) -> tuple[list[str], int]:
    """Return the doctor's lines about the closure, every fault with its place and mend, and how many there are."""
    analyzer = analyzer_of(options)
    faults: list[BuildError] = on_deep_stack(lambda: diagnose(analyzer))
    roots = ", ".join(analyzer.lock.roots)
    head = f"closure of {roots} for {analyzer.lock.ref}: {len(analyzer.done)} configured targets, {len(faults)} faults"
    return [head, *(f"  {line}" for fault in faults for line in str(fault).splitlines())], len(faults)
