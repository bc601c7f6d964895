"""Owns the entries of a cache: files of plain data, each of which proves to be whole and to be meant for its reader.

    write_entry(file, ("a", [1, None]), owner=b"this evaluator")
    read_entry(file, owner=b"this evaluator")      # ("a", [1, None]); None where it is missing, damaged or of another owner

Any number of processes may read and write the same entries: each is written beside its place and moved there.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import tempfile
from pathlib import Path
from typing import Any

_CHECK = 16


def _check(content: bytes, owner: bytes) -> bytes:
    return hashlib.blake2b(content, key=owner, digest_size=_CHECK).digest()


def read_entry(file: Path, owner: bytes = b"") -> Any:
    """Return what `owner` (at most 64 bytes) wrote, None where there is nothing that can be trusted."""
    try:
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 (a thousand of them are read at once)
            data = stream.read()
    except OSError:
        return None
    content = data[_CHECK:]
    return marshal.loads(content) if _check(content, owner) == data[:_CHECK] else None


def write_entry(file: Path, value: Any, owner: bytes = b"") -> None:
    """Write an entry, whole or not at all; one that cannot be written costs the next run time, nothing else."""
    content = marshal.dumps(value)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(_check(content, owner) + content)
        Path(name).replace(file)
    except OSError:
        Path(name).unlink(missing_ok=True)
