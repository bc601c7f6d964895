"""Owns bounded reads of a binary: no offset or length taken from a file can lead outside it or ask for its whole address space.

with Window.open(path) as window:
    window.unpack("<IHH", 64)
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from litert_build.errors import BuildError

MAX_NAME = 1 << 20


def malformed(file: Path, what: str) -> BuildError:
    """Return the error for a file whose own tables contradict its size or each other."""
    return BuildError(
        f"malformed binary: {what}", where=str(file), mend="build or fetch the library again; the file is damaged or truncated"
    )


class Window:
    """Random access to one open file, or to one slice of a fat file: all offsets count from `base`, all reads end within `size`."""

    def __init__(self, file: Path, stream: BinaryIO, base: int = 0, size: int | None = None) -> None:
        self.file = file
        self.stream = stream
        self.base = base
        self.size = os.fstat(stream.fileno()).st_size if size is None else size
        self.budget = 2 * self.size + MAX_NAME

    @staticmethod
    def open(file: Path) -> Window:
        """Open `file`. Raises BuildError where it cannot be read."""
        try:
            return Window(file, file.open("rb"))
        except OSError as error:
            raise BuildError(f"cannot read the binary: {error.strerror}", where=str(file), mend="name an existing library") from error

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def read(self, offset: int, length: int, what: str = "table") -> bytes:
        """Return exactly `length` bytes at `offset`. Raises BuildError where the file does not hold them."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise malformed(self.file, f"{what} at {offset:#x}, {length} bytes, lies outside the file of {self.size} bytes")
        self.stream.seek(self.base + offset)
        return self.stream.read(length)

    def slice(self, offset: int, size: int) -> Window:
        """Return the window on one architecture of a fat file."""
        if offset + size > self.size:
            raise malformed(self.file, f"a slice at {offset:#x}, {size} bytes, lies outside the file of {self.size} bytes")
        return Window(self.file, self.stream, self.base + offset, size)

    def text(self, offset: int, what: str = "a name") -> str:
        """Return the NUL-terminated name at `offset`. All names together are bounded, as in Names."""
        data, length = b"", 128
        while (end := data.find(b"\0")) < 0:
            if len(data) == self.size - offset or length > MAX_NAME:
                raise malformed(self.file, f"{what} at {offset:#x} has no end")
            data, length = self.read(offset, min(length, self.size - offset), what), length * 4
        self.budget -= end
        if self.budget < 0:
            raise malformed(self.file, "its names overlap beyond any real string table")
        return data[:end].decode("utf-8", "backslashreplace")

    def unpack(self, layout: str, offset: int, what: str = "header") -> tuple[Any, ...]:
        """Return the fields of one record at `offset`."""
        return struct.unpack(layout, self.read(offset, struct.calcsize(layout), what))

    def chunks(self, size: int = 1 << 23, overlap: int = 256) -> Iterator[bytes]:
        """Yield the whole file in pieces, each repeating the last `overlap` bytes of the one before."""
        tail = b""
        for start in range(0, self.size, size):
            piece = self.read(start, min(size, self.size - start))
            yield tail + piece
            tail = piece[-overlap:]


class Names:
    """A string table: NUL-terminated names by offset. Their total size is bounded, at twice what real tables need: a hostile one can
    make every symbol as long as the table."""

    def __init__(self, file: Path, table: bytes) -> None:
        self.file = file
        self.table = table
        self.budget = 2 * len(table) + MAX_NAME

    def __getitem__(self, offset: int) -> str:
        end = self.table.find(b"\0", offset)
        if end < 0 or offset < 0:
            raise malformed(self.file, f"a name at {offset:#x} runs out of its string table of {len(self.table)} bytes")
        self.budget -= end - offset
        if self.budget < 0:
            raise malformed(self.file, "its symbol names overlap beyond any real string table")
        return self.table[offset:end].decode("utf-8", "backslashreplace")
