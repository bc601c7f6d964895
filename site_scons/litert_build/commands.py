"""Owns the commands of the command line: what runs without a build and prints its answer.

run_command(read_options({}, ["targets"], COMMANDS))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from litert_build.bundles.commands import assemble_command, plan_command, targets_json, verify_command
from litert_build.options import Options
from litert_build.policy.targets import TARGETS


@dataclass(frozen=True)
class Command:
    """A command: the line of the help text, and the function that prints the answer and returns the exit code."""

    help: str
    run: Callable[[Options], int]


def descriptions() -> dict[str, str]:
    """Return the commands' help lines by name."""
    return {name: command.help for name, command in COMMANDS.items()}


def run_command(options: Options) -> int:
    """Run the command that `options` name; returns the exit code. Raises BuildError as the command does."""
    return COMMANDS[options.command].run(options)


def list_targets(options: Options) -> int:
    """Print the platform table, as text or as one line of JSON."""
    if options["format"] == "json":
        print(targets_json())
        return 0
    rows = [("target", "library", "toolchains", "also named")]
    rows += [(row.name, row.library, ", ".join(row.toolchains), ", ".join(row.aliases)) for row in TARGETS.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip())
    return 0


COMMANDS: dict[str, Command] = {
    "targets": Command("list the platforms (format=json for CI)", list_targets),
    "verify": Command("check finished bundles: bundle=PATH", verify_command),
    "release-assemble": Command("make the archives that need several targets: bundles=PATH tag=NAME official=PATH", assemble_command),
    "release-plan": Command("print what would be published: bundles=PATH tag=NAME", plan_command),
}
