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
    """One folder of cached objects, used by any number of builds. `hits`, `misses` and `damaged` count this build's."""

    def __init__(self, folder: Path, database: Database, limit: int = 0) -> None:
        self._folder = folder
        self._database = database
        self._limit = limit
        self._lock = threading.Lock()
        self._listings: dict[str, frozenset[str]] = {}
        self._before: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
        self._stored = False
        self.hits = self.misses = self.damaged = 0

    @property
    def text(self) -> str:
        """What the summary says of the cache."""
        damaged = f", {self.damaged} damaged (see {self._folder / 'quarantine'})" if self.damaged else ""
        return f"{self.hits} hits, {self.misses} misses{damaged}"

    def restore(self, step: Step) -> tuple[str, ...] | None:
        """Write the step's object from the cache. Returns what its compile would have read, None where the cache does not hold it."""
        started = time.time_ns()
        base = self._base(step, started)
        for read in self._lists(base) if base else ():
            digest = self._combined(read, started)
            if digest is None or self._is_shadowed(step, read):
                continue
            content = self._read(self._object(base, digest))
            if content is not None:
                self._write(Path(self._database.files.full(step.key)), content)
                self._count(hit=True)
                return read
        self._count(hit=False)
        return None

    def store(self, step: Step, read: Sequence[str]) -> None:
        """Keep the object that the step has just made of these files. A cache that cannot be written costs the hit, never the build."""
        started = time.time_ns()
        base, digest = self._base(step, started), self._combined(read, started)
        if not base or digest is None:
            return
        try:
            content = Path(self._database.files.full(step.key)).read_bytes()
            checksum = hashlib.blake2b(content, digest_size=16).digest()
            self._write(self._object(base, digest), _MAGIC + checksum + content)
            kept = [other for other in self._lists(base) if other != tuple(read)][: _LISTS_KEPT - 1]
            lists = "\n\n".join("\n".join(paths) for paths in (tuple(read), *kept))
            self._write(self._place("lists", base.hex()), lists.encode("utf-8", "surrogateescape"))
            self._stored = True
        except OSError:
            return

    def finish(self) -> None:
        """Remove the objects not used for longest where the cache has grown over its limit."""
        if not self._limit or not self._stored:
            return
        rows = []
        for file in self._folder.glob("*/*/*"):
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

    def _count(self, *, hit: bool) -> None:
        with self._lock:
            self.hits += hit
            self.misses += not hit

    def _base(self, step: Step, started: int) -> bytes:
        source = self._database.digest(step.inputs[0], started)
        return hashlib.blake2b(step.signature + source, digest_size=16).digest() if source else b""

    def _combined(self, read: Sequence[str], started: int) -> bytes | None:
        hasher = hashlib.blake2b(digest_size=16)
        for path in read:
            digest = self._database.digest(path, started)
            if not digest:
                return None
            hasher.update(digest)
        return hasher.digest()

    def _lists(self, base: bytes) -> Iterator[tuple[str, ...]]:
        try:
            text = self._place("lists", base.hex()).read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return
        for part in text.split("\n\n"):
            yield tuple(part.split("\n"))

    def _is_shadowed(self, step: Step, read: Sequence[str]) -> bool:
        """Whether a header stands here, on the include path, before one that the cached compile read."""
        if not isinstance(step.work, Command):
            return False
        folders, known = include_folders(step.work.argv), set(read)
        names: dict[str, set[str]] = {}
        for path in read:
            folder, name = posixpath.split(path)
            names.setdefault(folder or ".", set()).add(name)
        return any(
            posixpath.normpath(f"{place}/{name}") not in known
            for folder, read_there in names.items()
            for place in self._searched_before(folders, folder)
            for name in self._listing(place) & read_there
        )

    def _searched_before(self, folders: tuple[str, ...], folder: str) -> tuple[str, ...]:
        """The places that hold anything and are searched before `folder` for what stands there; looked at once a build."""
        key = (folders, folder)
        if key not in self._before:
            found: dict[str, None] = {}
            for index, base in enumerate(folders):
                sub = relative(folder, base)
                if sub is not None:
                    found.update(dict.fromkeys(posixpath.normpath(posixpath.join(earlier, sub)) for earlier in folders[:index]))
            self._before[key] = tuple(place for place in found if place != folder and self._listing(place))
        return self._before[key]

    def _listing(self, folder: str) -> frozenset[str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = frozenset(os.listdir(self._database.files.full(folder)))  # noqa: PTH208 (names alone)
            except OSError:
                self._listings[folder] = frozenset()
        return self._listings[folder]

    def _object(self, base: bytes, digest: bytes) -> Path:
        return self._place("objects", hashlib.blake2b(base + digest, digest_size=16).hexdigest())

    def _place(self, kind: str, name: str) -> Path:
        return self._folder / kind / name[:2] / name

    def _read(self, file: Path) -> bytes | None:
        try:
            stored = file.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + 16
        content = stored[start:]
        if stored[:start] == _MAGIC + hashlib.blake2b(content, digest_size=16).digest():
            os.utime(file)
            return content
        with self._lock:
            self.damaged += 1
        quarantine = self._folder / "quarantine"
        quarantine.mkdir(exist_ok=True)
        file.replace(quarantine / f"{file.name}.{secrets.token_hex(4)}")
        return None

    def _write(self, file: Path, content: bytes) -> None:
        temporary = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
        try:
            temporary.write_bytes(content)
        except FileNotFoundError:
            file.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(content)
        temporary.replace(file)
