"""Owns the shared cache of compiled objects: found in two steps, checked when read, safe for many builds at once.

cache = ObjectCache(Path("/var/cache/objects"), database, limit=5_000_000_000)
cache.restore(step)          # the files the compile would read, or None
cache.store(step, read)

Step one: the command's signature and the source lead to the lists of headers that compiles of them have read. Step two: the content of
those headers now leads to the object. A key that lacked the headers would restore stale objects. Everything is written beside and moved
into place; an object carries its checksum, and one that fails it is put into quarantine and counts as a miss.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from litert_build.incremental.commands import Command
from litert_build.incremental.database import Database
from litert_build.incremental.search import include_folders, relative
from litert_build.incremental.steps import Step

_MAGIC = b"litert-build object 1\n"
_LISTS_KEPT = 8
_KEPT_SHARE = 0.8


class ObjectCache:
    """One folder of cached objects, used by any number of builds. `hits` and `damaged` count this build's."""

    def __init__(self, folder: Path, database: Database, limit: int = 0) -> None:
        self._folder = str(folder)
        self._database = database
        self._limit = limit
        self._lock = threading.Lock()
        self._listings: dict[str, frozenset[str]] = {}
        self._before: dict[tuple[str, ...], dict[str, dict[str, list[str]]]] = {}  # include path, folder, name: looked at once a build
        self._stored = False
        self._missed: set[str] = set()
        self.hits = self.damaged = 0

    @property
    def text(self) -> str:
        """What the summary says of the cache."""
        damaged = f", {self.damaged} damaged (see {self._folder}/quarantine)" if self.damaged else ""
        return f"{self.hits} hits, {len(self._missed)} misses{damaged}"

    def restore(self, step: Step) -> tuple[str, ...] | None:
        """Write the step's object from the cache. Returns what its compile would have read, None where the cache does not hold it."""
        started = time.time_ns()
        base = self._base(step, started)
        for read in self._lists(base) if base else ():
            digest = self._database.digest(read, started)
            if not digest or self._is_shadowed(step, read):
                continue
            content = self._checked(self._object(base, digest))
            if content is not None:
                _write(self._database.files.full(step.key), content)
                with self._lock:
                    self.hits += 1
                    self._missed.discard(step.key)
                return read
        self._missed.add(step.key)
        return None

    def store(self, step: Step, read: Sequence[str]) -> None:
        """Keep the object that the step has just made of these files. A cache that cannot be written costs the hit, never the build."""
        started = time.time_ns()
        base, digest = self._base(step, started), self._database.digest(read, started)
        if not base or not digest:
            return
        try:
            content = _read(self._database.files.full(step.key))
            checksum = hashlib.blake2b(content, digest_size=16).digest()
            _write(self._object(base, digest), _MAGIC + checksum + content)
            kept = [other for other in self._lists(base) if other != tuple(read)][: _LISTS_KEPT - 1]
            lists = "\n\n".join("\n".join(paths) for paths in (tuple(read), *kept))
            _write(self._place("lists", base.hex()), lists.encode("utf-8", "surrogateescape"))
            self._stored = True
        except OSError:
            return

    def finish(self) -> None:
        """Remove the objects not used for longest where the cache has grown over its limit."""
        if not self._limit or not self._stored:
            return
        rows = []
        for file in Path(self._folder).glob("*/*/*"):
            try:
                status = file.stat()
            except OSError:
                continue
            rows.append((status.st_mtime_ns, status.st_size, file))
        total = sum(size for _, size, _ in rows)
        if total <= self._limit:
            return
        for _, size, file in sorted(rows):
            file.unlink(missing_ok=True)
            total -= size
            if total <= self._limit * _KEPT_SHARE:
                return

    def _base(self, step: Step, started: int) -> bytes:
        source = self._database.digest(step.inputs[:1], started)
        return hashlib.blake2b(step.signature + source, digest_size=16).digest() if source else b""

    def _lists(self, base: bytes) -> Iterator[tuple[str, ...]]:
        try:
            text = _read(self._place("lists", base.hex())).decode("utf-8", "surrogateescape")
        except OSError:
            return
        for part in text.split("\n\n"):
            yield tuple(part.split("\n"))

    def _is_shadowed(self, step: Step, read: Sequence[str]) -> bool:
        """Whether a header stands here, on the include path, before one that the cached compile read."""
        if not isinstance(step.work, Command):
            return False
        folders, known = include_folders(step.work.argv), set(read)
        before = self._before.setdefault(folders, {})
        for path in read:
            folder, _, name = path.rpartition("/")
            rivals = before.get(folder)
            if rivals is None:
                rivals = before[folder] = self._rivals(folders, folder or ".")
            if name in rivals and not known.issuperset(rivals[name]):
                return True
        return False

    def _rivals(self, folders: tuple[str, ...], folder: str) -> dict[str, list[str]]:
        """Return the paths, by name, of all that stands in the places searched before `folder` for what stands there."""
        result: dict[str, list[str]] = {}
        for index, base in enumerate(folders):
            sub = relative(folder, base)
            if sub is not None:
                places = {posixpath.normpath(posixpath.join(earlier, sub)) for earlier in folders[:index]} - {folder}
                for place in places:
                    for name in self._listing(place):
                        result.setdefault(name, []).append(posixpath.normpath(f"{place}/{name}"))
        return result

    def _listing(self, folder: str) -> frozenset[str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = frozenset(os.listdir(self._database.files.full(folder)))  # noqa: PTH208 (names alone)
            except OSError:
                self._listings[folder] = frozenset()
        return self._listings[folder]

    def _object(self, base: bytes, digest: bytes) -> str:
        return self._place("objects", hashlib.blake2b(base + digest, digest_size=16).hexdigest())

    def _place(self, kind: str, name: str) -> str:
        return f"{self._folder}/{kind}/{name[:2]}/{name}"

    def _checked(self, file: str) -> bytes | None:
        try:
            stored = _read(file)
        except OSError:
            return None
        start = len(_MAGIC) + 16
        content = stored[start:]
        if stored[:start] == _MAGIC + hashlib.blake2b(content, digest_size=16).digest():
            os.utime(file)
            return content
        with self._lock:
            self.damaged += 1
        quarantine = Path(self._folder, "quarantine")
        quarantine.mkdir(exist_ok=True)
        Path(file).replace(quarantine / f"{posixpath.basename(file)}.{secrets.token_hex(4)}")
        return None


# A Path costs more than all else of a hit: these take strings.


def _read(file: str) -> bytes:
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123
        return stream.readall()


def _write(file: str, content: bytes) -> None:
    """Write a file beside its place and move it there."""
    temporary = f"{file}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    try:
        stream = open(temporary, "wb")  # noqa: PTH123, SIM115
    except FileNotFoundError:
        os.makedirs(posixpath.dirname(file), exist_ok=True)  # noqa: PTH103
        stream = open(temporary, "wb")  # noqa: PTH123, SIM115
    with stream:
        stream.write(content)
    os.replace(temporary, file)  # noqa: PTH105
