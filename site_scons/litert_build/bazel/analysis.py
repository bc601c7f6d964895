"""Owns the step from root labels to the ordered action list.

analysis = analyze(lock, trees, find_target("linux-x64"), compiler="gcc")
analysis.actions, analysis.link
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from litert_build.actions import ActionList, LinkInputs
from litert_build.policy.targets import Target
from litert_build.sources.lock import Lock


@dataclass(frozen=True)
class Analysis:
    """The ordered actions of the roots' closure, what the roots contribute to a final link, and every file and directory
    listing that was read to find out (BUILD and .bzl files)."""

    actions: ActionList
    link: LinkInputs
    read: tuple[Path, ...]


def analyze(lock: Lock, trees: dict[str, Path], target: Target, *, compiler: str = "gcc") -> Analysis:
    """Evaluate the closure of the lock's roots over `trees` (repository name -> folder) for `target`.

    Raises BuildError with the BUILD line and macro stack for whatever in the closure cannot be evaluated.
    """
    raise NotImplementedError
