"""SCons tool: the folder of one build with its dependency database, the end of a run in which nothing moved, and the end of any other.

env = Environment(tools=["build_folder"])
folder = env.BuildFolder(options, ref)          # ends the run at once where everything is up to date
env.FinishAtExit(options, session, products, read)
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litert_build.incremental.database import WHOLE
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.signing import bundle_environment, sign
from litert_build.options import Options
from litert_build.places import WAIVERS
from litert_build.reports.progress import Console
from litert_build.reports.summary import Product, summary_text
from SCons.Script import GetOption, SConsignFile

if TYPE_CHECKING:  # a run in which nothing moved ends before any of it is needed
    from litert_build.incremental.session import Session

SUMMARY = "summary"
_NO_MATTER = frozenset({"verbose", "debug", "cache", "cache_limit", "launcher", "trace"})  # options that change no output


def generate(env: Any) -> None:
    env["STARTED"], env["STARTED_AT"] = time.monotonic(), time.time_ns()
    env["CONSOLE"] = Console(sys.stdout)
    env.AddMethod(build_folder, "BuildFolder")
    env.AddMethod(finish_at_exit, "FinishAtExit")


def exists(env: Any) -> bool:
    return True


def build_folder(env: Any, options: Options, ref: str) -> BuildFolder:
    """Open build/<target>/<ref> (build_dir= names another place for build). Where the last build ended with everything up to date, with
    these options, and no file that it read or wrote has changed, this says so and ends the run: nothing is evaluated, no node defined."""
    console = env["CONSOLE"]
    console.verbose = options.enabled("verbose")
    root = Path(env.Dir("#").abspath, options["build_dir"]).expanduser() / options["target"] / ref
    folder = BuildFolder.open(root, console.say)
    database = folder.database
    if _whole(options) and database.is_settled() and database.recall(WHOLE, _run_key(options)):
        stored = json.loads(database.notes[SUMMARY])
        products = [Product(name, Path(file)) for name, file in stored["products"]]
        database.save()
        _say_counts(console, folder, 0)
        console.say(summary_text(products, ran=0, skipped=stored["steps"], seconds=time.monotonic() - env["STARTED"], failed=0))
        sys.exit(0)
    SConsignFile(str(folder.state / "sconsign"))
    return folder


def finish_at_exit(env: Any, options: Options, session: Session, products: Sequence[Product], read: Callable[[], Sequence[str]]) -> None:
    """When SCons is done, however it ended: save the database, repeat the failures, print the summary. `read` names what decided the
    steps."""

    def finish() -> None:
        if _whole(options) and session.complete():
            session.database.remember(WHOLE, _run_key(options), read(), env["STARTED_AT"])
            stored = {"steps": len(session.steps), "products": [(product.name, str(product.file)) for product in products]}
            session.database.notes[SUMMARY] = json.dumps(stored)
        session.finish()
        trace = options.path("trace")
        if trace:
            session.timeline.write(trace)
        console = env["CONSOLE"]
        console.repeat_failures()
        _say_counts(console, session.folder, console.total)
        ran, failed = len(session.ran), len(session.failed)
        seconds = time.monotonic() - env["STARTED"]
        stale = session.outdated()
        left = len(stale & session.steps.keys() - set(session.failed))
        skipped = len(session.steps) - ran - failed - len(session.restored) - left
        outdated = {session.root / output for output in stale}
        cache = session.cache.text if session.cache else ""
        current = [product for product in products if product.file not in outdated]
        console.say(summary_text(current, ran=ran, skipped=skipped, seconds=seconds, failed=failed, cache=cache, left=left))

    atexit.register(finish)


def _say_counts(console: Console, folder: BuildFolder, nodes: int) -> None:
    """With verbose=yes: what deciding cost. These are the figures that tests hold; seconds are a trend."""
    if console.verbose:
        counts = folder.database.counts
        console.say(f"counts {counts['stats']} stats, {counts['hashes']} hashes, {counts['changed']} changed, {nodes} nodes")


def _whole(options: Options) -> bool:
    """Whether the run asks for goals that a complete build answers."""
    special = GetOption("clean") or GetOption("no_exec") or options.files or options["incremental"] == "off"
    return not special and not {"fetch", "compiledb", "actions", "smoke"} & set(options.goals)


def _run_key(options: Options) -> bytes:
    values = (f"{name}={value}" for name, value in sorted(options.values.items()) if name not in _NO_MATTER)
    today = [str(date.today())] if WAIVERS.exists() else []  # a waiver stops on its day though nothing else moves
    return sign(values, map(str, sorted(options.local.items())), (sys.version, os.environ.get("PATH", "")), bundle_environment(), today)
