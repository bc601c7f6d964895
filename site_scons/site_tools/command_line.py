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
from pathlib import Path
from typing import Any

from litert_build.commands import COMMANDS, descriptions, run_command
from litert_build.errors import BuildError
from litert_build.options import Options, find_lock, help_text, read_options
from litert_build.policy.refs import is_release
from litert_build.sources.lock import Lock
from litert_build.sources.store import default_store
from SCons.Script import ARGUMENTS, COMMAND_LINE_TARGETS, GetOption, SetOption


def generate(env: Any) -> None:
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


def read_lock(env: Any, options: Options) -> Lock:
    """Return the lock that `ref=` or `lock=` names. A release without one gets it made, and is told what was trusted on first use."""
    root = Path(env.Dir("#").abspath)
    if options["lock"] or (root / "third_party" / "refs" / f"{options['ref']}.json").is_file() or not is_release(options["ref"]):
        return Lock.read(find_lock(options, root / "third_party" / "refs"))
    from litert_build.sources.lock_command import console, ensure_lock, network_of, request_of

    store, locked = options.path("store") or default_store(), options.enabled("locked")
    request, network = request_of(options, root), network_of(options)
    lock, notes = ensure_lock(request, store=store, locked=locked, network=network, progress=console())
    print("\n".join(notes))
    return lock


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
