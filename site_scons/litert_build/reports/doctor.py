"""Owns `scons doctor`: every fault of the closure, and for each target and toolchain whether it can build here and what mends it.

print(doctor_text([find_target("linux-x64")]))
"""

from __future__ import annotations

from collections.abc import Iterable

from litert_build.errors import BuildError
from litert_build.options import Options
from litert_build.policy.targets import TARGETS, Target
from litert_build.reports.closure import closure_report
from litert_build.toolchains import find_toolchain
from litert_build.toolchains.runners import run_argv


def doctor_command(options: Options) -> int:
    """Print what this machine can build (every target, or the one that target= names where other options set up its toolchain) and
    all faults of the closure; returns 1 where the closure has one."""
    chosen = {name: options[name] for name in ("cc", "cxx", "sysroot", "runtime")}
    targets = [TARGETS[options["target"]]] if any(chosen.values()) else TARGETS.values()
    print(doctor_text(targets, **chosen))
    lines, faults = closure_report(options)
    print("\n" + "\n".join(lines))
    return 1 if faults else 0


def doctor_text(targets: Iterable[Target], **options: str) -> str:
    """Return a paragraph a target: its toolchains with their versions, or what they lack and what installs it, and its runner.

    `options` are cc, cxx, sysroot and runtime as the command line gave them.
    """
    return "\n\n".join("\n".join(_paragraph(target, options)) for target in targets)


def _paragraph(target: Target, options: dict[str, str]) -> list[str]:
    lines = [target.name]
    for name in target.toolchains:
        word = f"{name} (default)" if name == target.default_toolchain else name
        try:
            toolchain = find_toolchain(name, target, **options)
        except BuildError as error:
            lines += [f"  missing  {word}: {error.what}", f"           -> {error.mend}"]
        else:
            lines.append(f"  ok       {word}: {toolchain.identity.split('; ')[1].partition(' sha256:')[0]}; {toolchain.cxx_runtime}")
    try:
        lines.append(f"  ok       runs by {run_argv(target, 'PROGRAM')[0]}" if not target.is_this_machine else "  ok       runs here")
    except BuildError as error:
        lines += [f"  missing  runner: {error.what}", f"           -> {error.mend}"]
    return lines
