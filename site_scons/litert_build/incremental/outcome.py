"""Owns how a step ended.

Outcome(1, "engine.cc:3: error: ...").code
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """How a step ended: its exit code (0 is success), what it printed, and, where a step finds out itself what it reads, those files."""

    code: int
    output: str = ""
    read: tuple[str, ...] = ()
