"""Owns the last lines of a build: what was made, where it is, and what it took.

print(summary_text([Product("host", Path("libLiteRtLm.so"))], ran=0, skipped=63, seconds=0.2, failed=0))
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Product:
    """One thing the build makes, under the name a user knows it by."""

    name: str
    file: Path


def summary_text(
    products: Iterable[Product], *, ran: int, skipped: int, seconds: float, failed: int, cache: str = "", left: int = 0
) -> str:
    """Return the summary: a line for each product that exists (with its size; for checks.json its verdict), what the shared cache did,
    then time and counts. `left` are the steps that have to run and that this build did not reach: it was interrupted, pretended, or asked
    for less."""
    rows = [] if failed else [(product.name, _state(product)) for product in products if product.file.is_file()]
    if cache:
        rows.append(("cache", cache))
    if failed:
        outcome = f"{failed} failed, {ran} actions run, {skipped} skipped"
    elif ran or left:
        outcome = f"{ran} actions run, {skipped} skipped"
    else:
        outcome = f"up to date, 0 actions run, {skipped} skipped"
    outcome += f", {left} left to do" if left else ""
    rows.append(("total", f"{seconds:.1f} s, {outcome}"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def _state(product: Product) -> str:
    if product.name == "checks":
        return f"{_verdict(product.file)}, {shown(product.file)}"
    return f"{shown(product.file)}, {size_text(product.file.stat().st_size)}"


def shown(file: Path) -> Path:
    """Return a path as the next command may take it: relative to the folder that scons runs in, where it lies below."""
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def _verdict(checks: Path) -> str:
    rules = json.loads(checks.read_text(encoding="utf-8"))["rules"]
    failed = sum(rule["status"] == "failed" for rule in rules)
    return f"{failed} of {len(rules)} rules broken" if failed else f"{len(rules)} rules passed"


def size_text(size: int) -> str:
    """Return a number of bytes as people read it."""
    value, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{size} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
