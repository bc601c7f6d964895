"""SCons tool: the folder of one build, with its dependency database, and the end of the build: database saved, summary printed.

env = Environment(tools=["build_folder"])
folder = env.BuildFolder(options, ref)
"""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.session import Session
from litert_build.options import Options
from litert_build.reports.progress import Console
from litert_build.reports.summary import Product, summary_text
from SCons.Script import SConsignFile


def generate(env: Any) -> None:
    env["STARTED"] = time.monotonic()
    env["CONSOLE"] = Console(sys.stdout)
    env.AddMethod(build_folder, "BuildFolder")
    env.AddMethod(summarize_at_exit, "SummarizeAtExit")


def exists(env: Any) -> bool:
    return True


def build_folder(env: Any, options: Options, ref: str) -> BuildFolder:
    """Open build/<target>/<ref> (build_dir= names another place for build)."""
    root = Path(env.Dir("#").abspath, options["build_dir"]).expanduser() / options["target"] / ref
    env["CONSOLE"].verbose = options.enabled("verbose")
    folder = BuildFolder.open(root, env["CONSOLE"].say)
    SConsignFile(str(folder.state / "sconsign"))
    return folder


def summarize_at_exit(env: Any, session: Session, products: Sequence[Product]) -> None:
    """When SCons is done, however it ended: save the database, repeat the failures, print the summary."""

    def finish() -> None:
        session.finish()
        console = env["CONSOLE"]
        console.repeat_failures()
        ran, failed = len(session.ran), len(session.failed)
        seconds = time.monotonic() - env["STARTED"]
        console.say(summary_text(products, ran=ran, skipped=len(session.steps) - ran - failed, seconds=seconds, failed=failed))

    atexit.register(finish)
