"""Owns where this checkout keeps what is read by default: `REFS`, the folder of locks, and `WAIVERS`, the file of tolerated findings."""

from __future__ import annotations

from pathlib import Path

_THIRD_PARTY = Path(__file__).resolve().parents[2] / "third_party"
REFS = _THIRD_PARTY / "refs"
WAIVERS = _THIRD_PARTY / "waivers.json"
