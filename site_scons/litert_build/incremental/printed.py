"""Owns what commands print, and what they are given to read.

    file = printed()        # this thread's own, empty
    nothing()               # an empty input
    taken(file)             # the bytes that were written; the file is empty again

A file in memory that is used again costs a third of a pipe, and no process that a command leaves behind delays the command's end.
"""

from __future__ import annotations

import os
import tempfile
import threading
from functools import cache

_OWN = threading.local()


def printed() -> int:
    """Return the descriptor of this thread's file, which lives as long as the thread."""
    if not hasattr(_OWN, "file"):
        _OWN.file = open(os.memfd_create("printed"), "r+b", 0) if hasattr(os, "memfd_create") else tempfile.TemporaryFile(buffering=0)  # noqa: PTH123, SIM115
    return int(_OWN.file.fileno())


@cache
def nothing() -> int:
    """Return the descriptor of a file without content."""
    return os.open(os.devnull, os.O_RDONLY)


def taken(file: int) -> bytes:
    """Return what was written to `file` since it was empty, and empty it. A process writes at the place that it shares with this one."""
    size = os.lseek(file, 0, os.SEEK_END)
    if not size:
        return b""
    os.lseek(file, 0, os.SEEK_SET)
    content = b""
    while len(content) < size and (block := os.read(file, size - len(content))):
        content += block
    os.ftruncate(file, 0)
    os.lseek(file, 0, os.SEEK_SET)
    return content
