"""SCons tool: the command line as typed options, the help text, and errors as text without a traceback.

env = Environment(tools=["command_line"])
with env.Refusals():
    options = env.CommandLine()
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from litert_build.commands import COMMANDS, descriptions, run_command
from litert_build.errors import BuildError
from litert_build.options import Options, help_text, read_options
from SCons.Script import ARGUMENTS, COMMAND_LINE_TARGETS, GetOption, SetOption


def generate(env: Any) -> None:
    env.AddMethod(refusals, "Refusals")
    env.AddMethod(command_line, "CommandLine")


def exists(env: Any) -> bool:
    return True


@contextmanager
def refusals(env: Any) -> Iterator[None]:
    """Turn a BuildError into its text and exit code 2."""
    try:
        yield
    except BuildError as error:
        if ARGUMENTS.get("debug") == "yes":
            traceback.print_exc()
        sys.stdout.flush()
        print(f"scons: {error}", file=sys.stderr)
        sys.exit(2)


def command_line(env: Any) -> Options:
    """Return the options. `scons -h` and commands end here; goals stay in the options."""
    if GetOption("help"):
        print(help_text(descriptions()))
        sys.exit(0)
    SetOption("num_jobs", _cores())
    SetOption("no_progress", True)
    options = read_options(ARGUMENTS, COMMAND_LINE_TARGETS, COMMANDS)
    if options.command:
        sys.exit(run_command(options))
    return options


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
