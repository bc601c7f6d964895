"""Owns what a machine can bear: how many links at once, and how long a path may be.

link_jobs(memory=16 << 30, cores=8)        # 4
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from litert_build.errors import BuildError

LINK_MEMORY = 4 << 30  # bytes that one optimizing link of a host may take
WINDOWS_PATH = 259  # MAX_PATH without its closing NUL (Microsoft, "Maximum Path Length Limitation")


def link_jobs(memory: int, cores: int) -> int:
    """Return how many links, or threads of a link-time optimization, fit into `memory` bytes on `cores` processors: at least one."""
    return max(1, min(cores, memory // LINK_MEMORY))


def default_link_jobs() -> int:
    """Return how many link jobs this machine can bear."""
    return link_jobs(machine_memory(), os.cpu_count() or 1)


def machine_memory() -> int:
    """Return this machine's memory in bytes; one link's worth where it cannot be asked."""
    if sys.platform == "win32":
        return LINK_MEMORY
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def require_short_paths(root: Path, paths: Iterable[str], limit: int = WINDOWS_PATH) -> None:
    """Raise BuildError where the longest of `paths` under `root` is longer than cl.exe and link.exe can open."""
    longest = max(paths, key=len, default="")
    length = len(str(root)) + 1 + len(longest)
    if length > limit:
        raise BuildError(
            f"a path of {length} characters is longer than the {limit} that Windows compilers open",
            where=longest,
            notes=[f"under {root}"],
            mend=f"name a build folder at least {length - limit} characters shorter, such as build_dir=C:/b",
        )
