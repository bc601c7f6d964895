"""Owns the table of files: every path a build has read or written, with its stamp (one stat) and the digest of its content.

table = FileTable(base="build/linux-x64/sample")
changed = table.refresh()           # ids of the files whose content is not what it was
table.digests[table.id("c/engine.cc")]

A path is relative to `base` (the execution root) or absolute. A folder's content is the sorted list of its names.
"""

from __future__ import annotations

import hashlib
import os
import stat
from array import array
from collections.abc import Iterable

MISSING = 0  # the stamp of a path that does not exist
ABSENT = b""  # and its digest


def stamp_of(status: os.stat_result) -> int:
    """One number for everything that moves when a file is written. The change time is among it: it cannot be set back by `touch`, nor by
    an archive or editor that restores the modification time."""
    return hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size))


def digest_of(path: str) -> bytes:
    """Return the digest (16 bytes) of a file's bytes or of a folder's sorted names; ABSENT where it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 (the hot path of a build)
            return _digest_open(stream.fileno())
    except IsADirectoryError:
        return digest_folder(path)
    except OSError:
        return ABSENT


def _digest_open(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    hasher = hashlib.blake2b(digest_size=16)
    while block := os.read(descriptor, min(max(size + 1, 4096), 1 << 22)):
        hasher.update(block)
    return hasher.digest()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry leads to a folder; a link to itself leads nowhere, as any other link that dangles."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def digest_folder(path: str) -> bytes:
    """Return the digest of the names in a folder, folders told from files; ABSENT where it cannot be listed."""
    try:
        with os.scandir(path) as entries:
            names = sorted(f"{entry.name}/" if _is_folder(entry) else entry.name for entry in entries)
    except OSError:
        return ABSENT
    return hashlib.blake2b("\n".join(names).encode("utf-8", "surrogateescape"), digest_size=16).digest()


class FileTable:
    """Paths by number, and what was last known of each: `paths`, `stamps` and `digests` are parallel."""

    def __init__(
        self, base: str, paths: list[str] | None = None, stamps: array[int] | None = None, digests: list[bytes] | None = None
    ) -> None:
        self._prefix = base + os.sep
        self.paths = paths or []
        self.stamps: array[int] = array("q") if stamps is None else stamps
        self.digests = digests or []
        self._ids: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.paths)

    def find(self, path: str) -> int | None:
        """Return the number of `path`, None where it is not in the table."""
        return self.find_all((path,))[0]

    def find_all(self, paths: Iterable[str]) -> list[int | None]:
        """Return the number of each path, None where it is not in the table."""
        if self._ids is None:
            self._ids = {known: number for number, known in enumerate(self.paths)}
        return list(map(self._ids.get, paths))

    def full(self, path: str) -> str:
        """Return `path` as this process can open it."""
        return path if os.path.isabs(path) else self._prefix + path  # noqa: PTH117

    def status(self, path: str) -> os.stat_result | None:
        """Return the stat of `path`, None where it does not exist."""
        try:
            return os.stat(self.full(path))  # noqa: PTH116 (the hot path of a build)
        except OSError:
            return None

    def examine(self, path: str) -> tuple[int, bytes]:
        """Return the stamp and digest of `path` now. The stamp is taken first, so that a later write is seen as a move."""
        status = self.status(path)
        if status is None:
            return MISSING, ABSENT
        full = self.full(path)
        return stamp_of(status), digest_folder(full) if stat.S_ISDIR(status.st_mode) else digest_of(full)

    def put(self, path: str, stamp: int, digest: bytes) -> int:
        """Set what is known of `path` and return its number."""
        number = self.find(path)
        if number is None:
            assert self._ids is not None
            number = self._ids[path] = len(self.paths)
            self.paths.append(path)
            self.stamps.append(stamp)
            self.digests.append(digest)
        else:
            self.stamps[number], self.digests[number] = stamp, digest
        return number

    def moved(self) -> list[tuple[int, int]]:
        """Stat every path once; return (number, new stamp) of those that are not as last seen."""
        prefix, take = self._prefix, os.stat
        result = []
        for number, (path, old) in enumerate(zip(self.paths, self.stamps)):
            try:
                status = take(path if path[:1] == "/" or path[1:2] == ":" else prefix + path)  # absolute, as os.path.isabs says slowly
                stamp = hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size))
            except OSError:
                stamp = MISSING
            if stamp != old:
                result.append((number, stamp))
        return result

    def refresh(self) -> tuple[set[int], set[int]]:
        """Bring the table up to date. Returns the numbers of paths that moved, and among them those whose content changed."""
        moved, changed = set(), set()
        for number, _ in self.moved():
            moved.add(number)
            stamp, digest = self.examine(self.paths[number])
            if digest != self.digests[number]:
                changed.add(number)
            self.stamps[number], self.digests[number] = stamp, digest
        return moved, changed

    def any_absent(self, numbers: Iterable[int]) -> bool:
        """Whether any of the paths does not exist."""
        return ABSENT in map(self.digests.__getitem__, numbers)

    def combined(self, numbers: Iterable[int]) -> bytes:
        """Return one digest over the content of several paths."""
        digests = self.digests
        return hashlib.blake2b(b"".join([digests[number] or b"absent" for number in numbers]), digest_size=16).digest()
