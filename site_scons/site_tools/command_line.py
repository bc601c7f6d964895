"""SCons tool: the command line as typed options, the help text, and errors as text without a traceback.

env = Environment(tools=["command_line"])
with env.Refusals():
    options = env.CommandLine()
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from litert_build.commands import COMMANDS, descriptions, run_command
from litert_build.errors import BuildError
from litert_build.incremental.commands import launcher_of
from litert_build.options import Options, find_lock, help_text, read_options, unknown_flag
from litert_build.places import REFS
from litert_build.reports.progress import put
from SCons.Script import ARGUMENTS, COMMAND_LINE_TARGETS, GetLaunchDir, GetOption, SetOption, ValidateOptions
from SCons.Script.SConsOptions import SConsBadOptionError


def generate(env: Any) -> None:
    atexit.register(put, sys.stdout)  # what is printed last may be what nobody reads any more
    env.AddMethod(refusals, "Refusals")
    env.AddMethod(command_line, "CommandLine")
    env.AddMethod(locate_lock, "LocateLock")


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
    gc.disable()  # hardly anything that reading makes is garbage; DefineGoals lets the collector work again
    launcher_of(options)  # a program that is not there is refused where nothing would be compiled, too
    return options


class LockFile(NamedTuple):
    """A lock that was not read yet, and the ref that it names."""

    file: Path
    ref: str


def locate_lock(env: Any, options: Options) -> LockFile:
    """Return the lock that `ref=` or `lock=` names. A release without one gets it made, and is told what was trusted on first use. Raises
    BuildError for a lock whose ref names no folder."""
    file = _lock_file(options)
    with suppress(OSError, ValueError):  # a null build needs no more of it: the whole is read, and held to its schema, where it is used
        stored = json.loads(file.read_text(encoding="utf-8"))
        ref = stored.get("ref") if isinstance(stored, dict) else None
        if isinstance(ref, str) and re.fullmatch(r"\w[\w.+-]*", ref):
            return LockFile(file, ref)
    from litert_build.sources.lock import Lock

    return LockFile(file, Lock.read(file).ref)


def _lock_file(options: Options) -> Path:
    file = REFS / f"{options['ref']}.json"
    if options["lock"] or file.is_file():
        return find_lock(options, REFS)
    from litert_build.policy.refs import is_release
    from litert_build.sources.lock_command import console, ensure_lock, network_of, request_of
    from litert_build.sources.store import default_store

    if not is_release(options["ref"]):
        return find_lock(options, REFS)
    store, locked = options.path("store") or default_store(), options.enabled("locked")
    request, network = request_of(options, REFS.parents[1]), network_of(options)
    _, notes = ensure_lock(request, store=store, locked=locked, network=network, progress=console())
    print("\n".join(notes))
    return file


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
