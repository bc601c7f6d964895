"""SCons tool: the command line as typed options, the help text, and errors as text without a traceback.

env = Environment(tools=["command_line"])
with env.Refusals():
    options = env.CommandLine()
"""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from litert_build.commands import COMMANDS, REFS, descriptions, run_command
from litert_build.errors import BuildError
from litert_build.incremental.commands import launcher_of
from litert_build.options import Options, find_lock, help_text, read_options, unknown_flag
from litert_build.policy.refs import is_release
from litert_build.reports.progress import put
from litert_build.sources.lock import Lock
from litert_build.sources.store import default_store
from SCons.Script import ARGUMENTS, COMMAND_LINE_TARGETS, GetLaunchDir, GetOption, SetOption, ValidateOptions
from SCons.Script.SConsOptions import SConsBadOptionError


def generate(env: Any) -> None:
    atexit.register(put, sys.stdout)  # what is printed last may be what nobody reads any more
    env.AddMethod(refusals, "Refusals")
    env.AddMethod(command_line, "CommandLine")
    env.AddMethod(read_lock, "ReadLock")


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
        put(sys.stdout)
        print(f"scons: {error}", file=sys.stderr)
        sys.exit(2)


def command_line(env: Any) -> Options:
    """Return the options. `scons -h` and commands end here; goals stay in the options."""
    try:
        ValidateOptions(throw_exception=True)  # SCons itself does so after reading, which most runs end before
    except SConsBadOptionError as error:
        raise unknown_flag(error.opt_str) from error
    if GetOption("help"):
        print(help_text(descriptions()))
        sys.exit(0)
    SetOption("num_jobs", _cores())
    SetOption("no_progress", True)
    options = read_options(ARGUMENTS, COMMAND_LINE_TARGETS, COMMANDS)
    if options.command:
        sys.exit(run_command(options))
    if GetOption("climb_up"):
        options = replace(options, files=tuple(str(Path(GetLaunchDir(), file)) for file in options.files))
    launcher_of(options)  # a program that is not there is refused where nothing would be compiled, too
    return options


def read_lock(env: Any, options: Options) -> Lock:
    """Return the lock that `ref=` or `lock=` names. A release without one gets it made, and is told what was trusted on first use."""
    if options["lock"] or (REFS / f"{options['ref']}.json").is_file() or not is_release(options["ref"]):
        return Lock.read(find_lock(options, REFS))
    from litert_build.sources.lock_command import console, ensure_lock, network_of, request_of

    store, locked = options.path("store") or default_store(), options.enabled("locked")
    request, network = request_of(options, REFS.parents[1]), network_of(options)
    lock, notes = ensure_lock(request, store=store, locked=locked, network=network, progress=console())
    print("\n".join(notes))
    return lock


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
