"""Owns what the command line says about fetching: what may be asked on the network, and how its progress is shown.

materialize(lock, ..., network=network_of(options), progress=console())
"""

from __future__ import annotations

import sys
import time

from litert_build.options import Options
from litert_build.sources.download import Progress, silent
from litert_build.sources.network import GITHUB, Network


def network_of(options: Options) -> Network:
    """Return what the command line allows on the network: offline=, github=, mirror= (several, separated by commas)."""
    mirrors = tuple(filter(None, options["mirror"].split(",")))
    return Network(offline=options.enabled("offline"), github=options["github"] or GITHUB, mirrors=mirrors)


def console() -> Progress:
    """Return a progress callback that says on a terminal what is being fetched and unpacked, one line a file; elsewhere nothing."""
    if not sys.stderr.isatty():
        return silent
    last: dict[str, float] = {}

    def show(name: str, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - last.get("any", 0.0) < 0.1 and done < total:
            return
        last["any"] = now
        size = f" {done / 1e6:.1f} of {total / 1e6:.1f} MB" if total else f" {done / 1e6:.1f} MB" if done else ""
        print(f"\r\x1b[K{phase} {name}{size}", end="" if done < total else "\n", file=sys.stderr, flush=True)

    return show
