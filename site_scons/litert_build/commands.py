"""Owns the commands of the command line: what runs without a build and prints its answer.

run_command(read_options({}, ["targets"], COMMANDS))

A command's module is loaded when it is asked for: a build that has nothing to do must not wait for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litert_build.errors import BuildError
from litert_build.options import Options, find_lock
from litert_build.places import REFS

if TYPE_CHECKING:
    from litert_build.checks.model import GatePolicy
    from litert_build.policy.targets import Target


@dataclass(frozen=True)
class Command:
    """A command: the line of the help text, and where the function is that prints the answer and returns the exit code."""

    help: str
    function: str

    def run(self, options: Options) -> int:
        module, _, name = self.function.partition(":")
        function: Callable[[Options], int] = getattr(importlib.import_module(f"litert_build.{module}"), name)
        return function(options)


COMMANDS: dict[str, Command] = {
    "explain": Command("why a label is built, its select() branches, a flag's origin: explain=LABEL", "reports.closure:explain_command"),
    "lock": Command("pin all sources of a release: ref=NAME; with diff=yes print what would change", "sources.lock_command:lock_command"),
    "patches": Command("try what is carried on a release's sources: ref=NAME", "sources.lock_command:patches_command"),
    "targets": Command("list the platforms (format=json for CI)", "commands:list_targets"),
    "doctor": Command("list all that the closure and this machine lack, and what mends it", "reports.doctor:doctor_command"),
    "check": Command(
        "judge a finished library: file=PATH, by the rules of lock= or ref=, else of the newest release", "commands:check_library"
    ),
    "verify": Command("check finished bundles: bundle=PATH", "bundles.commands:verify_command"),
    "release-assemble": Command(
        "make the archives that need several targets: bundles=PATH tag=NAME official=PATH", "bundles.commands:assemble_command"
    ),
    "release-plan": Command("print what would be published: bundles=PATH tag=NAME", "bundles.commands:plan_command"),
}


def descriptions() -> dict[str, str]:
    """Return the commands' help lines by name."""
    return {name: command.help for name, command in COMMANDS.items()}


def run_command(options: Options) -> int:
    """Run the command that `options` name; returns the exit code. Raises BuildError as the command does."""
    return COMMANDS[options.command].run(options)


def list_targets(options: Options) -> int:
    """Print the platform table, as text or as one line of JSON."""
    from litert_build.bundles.commands import targets_json
    from litert_build.policy.targets import TARGETS
    from litert_build.reports.targets import targets_text

    print(targets_json() if options["format"] == "json" else targets_text(TARGETS.values()))
    return 0


def check_library(options: Options) -> int:
    """Print the verdict on a finished library; returns 1 where it breaks a rule."""
    from litert_build.checks.gate import check_file
    from litert_build.policy.targets import find_target

    file, target = options.path("file"), find_target(options["target"])
    if file is None or not file.is_file():
        raise BuildError("no library to check", where=f"file={options['file']}", mend="name a library with file=PATH")
    report = check_file(file, target, _policy(options, target))
    print(report.text)
    return 0 if report.passed else 1


def _policy(options: Options, target: Target) -> GatePolicy | None:
    """Return the rules of lock= or ref=; a release is judged by the table of releases where no lock of it is here. None: the newest."""
    from litert_build.checks.gate import release_policy
    from litert_build.checks.model import GatePolicy
    from litert_build.policy.refs import apply_policy, is_release, ref_policy
    from litert_build.sources.lock import Lock

    if not options["lock"] and options["ref"] == "sample":
        return None
    ref = options["ref"]
    if not options["lock"] and is_release(ref) and not (REFS / f"{ref}.json").is_file():
        return release_policy(ref, target, ref_policy(ref, target.name, link_mode=options["link_mode"]).link_mode)
    lock = apply_policy(Lock.read(find_lock(options, REFS)), target.name, link_mode=options["link_mode"])
    return GatePolicy(
        link_mode=lock.link_mode, required=lock.product.required, allowed=lock.product.allowed, version=lock.policy or lock.release
    )
