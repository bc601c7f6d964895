"""Owns the dependency database of one build folder: for every step what it was made with, what it read and what it wrote.

with Database.open(folder, base=execution_root) as database:
    if not database.holds("x.o", signature):
        started = database.now()
        ...                                                     # run the step
        database.record("x.o", signature, inputs=["x.cc", "x.h"], outputs=["x.o"], started=started, seconds=1.5)

docs/incremental.md states the guarantees. A record holds the digest over all its inputs and outputs, so whether a step is up to date is one
comparison. Records of a running build go to a journal at once: a build that is killed keeps what it finished.
"""

from __future__ import annotations

import marshal
import os
import posixpath
import secrets
import threading
import time
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from litert_build.errors import BuildError
from litert_build.incremental.files import ABSENT, MISSING, FileTable, digest_of, stamp_of

_MAGIC = b"litert-build dependencies 1\n"
_JOURNAL_MAGIC = b"litert-build journal 1\n"
_MARSHAL = 4  # a version every Python from 3.4 on reads
_CLOCK_GRAIN = 20_000_000  # ns that a file system's clock may lie behind the process's

WHOLE = "whole"  # what is remembered of a build that ended with every step up to date; forgotten when any step runs

Record = tuple[bytes, bytes, bytes]  # signature, ids (array of unsigned ints), combined digest


class Database:
    """The records of the last builds, brought up to date with the files on opening.

    `suspects` are the steps of which an input or output changed since they were recorded, `notice` a sentence for the user where the stored
    file could not be used, `counts` what opening cost.
    """

    def __init__(self, folder: Path, base: Path) -> None:
        self._base = str(base)
        self._file = folder / "dependencies"
        self._journal_file = folder / "dependencies.journal"
        self._lock = threading.Lock()
        self._journal: Any = None
        self._generation = b""
        self._dirty = False
        self._fresh: set[str] = set()
        self._changed: set[int] = set()
        self._asked: tuple[Sequence[str], list[int]] = ((), [])  # the last paths whose numbers were asked for
        self._remade: set[int] = set()  # what a step has made anew since the records of its readers were looked at
        self.files = FileTable(self._base)
        self.records: dict[str, Record] = {}
        self.suspects: set[str] = set()
        self.remembered: dict[str, tuple[bytes, bytes, bytes]] = {}  # what: its key, ids and their combined digest
        self.notes: dict[str, str] = {}
        self.times: dict[str, float] = {}  # seconds that each step took when it last ran
        self.watched: set[int] = set()  # folders whose listing may change a compile that read none of their files
        self.notice = ""
        self.counts = {"stats": 0, "hashes": 0, "changed": 0}

    @staticmethod
    def open(folder: Path, base: Path) -> Database:
        """Read the database in `folder` and stat every file it knows. What cannot be proven is dropped, never trusted. Raises BuildError
        where a folder stands in its place."""
        database = Database(folder, base)
        database._load()
        return database

    def _load(self) -> None:
        updated: set[int] = set()
        unsettled: set[str] = set()
        try:
            self._read_file()
            updated, unsettled = self._replay()
            updated -= self.watched  # a folder that the dead build entered has changed only if it moved since
            if unsettled:
                self.see_own_folders()
        except FileNotFoundError:
            pass
        except IsADirectoryError as error:
            raise BuildError("a folder stands where the build keeps what it knows", where=error.filename, mend="remove it") from error
        except Exception as error:  # whatever a damaged file leads to, the answer is the same: trust nothing of it
            self._forget()
            self.notice = f"{self._file}: the dependency database is unusable ({error}); everything is built again"
        moved = self.refresh(updated)
        self._dirty = bool(moved or updated or unsettled)
        for key in unsettled:
            record = self.records.get(key)
            if record and not moved.isdisjoint(_ids(record)):
                del self.records[key]
        self.suspects &= self.records.keys()

    def refresh(self, updated: Iterable[int] = ()) -> set[int]:
        """Stat every file and find the steps that are no longer as they were. Returns the numbers of the files that moved; `updated` are
        those known to have changed. Called again where the execution root got other links since."""
        moved, changed = self.files.refresh()
        changed.update(updated)
        self.counts = {"stats": len(self.files), "hashes": len(moved), "changed": len(changed)}
        self._changed |= changed
        if changed:
            self.suspects.update(key for key, record in self.records.items() if not changed.isdisjoint(_ids(record)))
        if self.suspects:
            self.suspects = {key for key in self.suspects if key in self.records and not self._intact(self.records[key])}
        return moved

    def _forget(self) -> None:
        self.files = FileTable(self._base)
        self.records, self.suspects, self.notes, self.remembered, self._generation = {}, set(), {}, {}, b""
        self.watched, self.times = set(), {}

    def _read_file(self) -> None:
        content = self._file.read_bytes()
        if not content.startswith(_MAGIC):
            raise ValueError("it is not of this version")
        body = memoryview(content)[len(_MAGIC) + 4 :]
        if zlib.crc32(body) != int.from_bytes(content[len(_MAGIC) : len(_MAGIC) + 4], "little"):
            raise ValueError("its checksum is wrong")
        data = marshal.loads(body)
        self._generation = data["generation"]
        self.files = FileTable(self._base, data["paths"], array("q", data["stamps"]), data["digests"])
        self.records, self.suspects, self.notes = data["records"], set(data["suspects"]), data["notes"]
        self.remembered, self.watched, self.times = data["remembered"], set(data["watched"]), data["times"]

    def _replay(self) -> tuple[set[int], set[str]]:
        """Apply the journal of a build that was killed. Returns the ids it updated and the steps it recorded."""
        updated: set[int] = set()
        keys: set[str] = set()
        try:
            content = self._journal_file.read_bytes()
        except FileNotFoundError:
            return updated, keys
        header = _JOURNAL_MAGIC + self._generation
        if not content.startswith(header):
            return updated, keys
        position = len(header)
        while position + 8 <= len(content):
            size = int.from_bytes(content[position : position + 4], "little")
            body = content[position + 8 : position + 8 + size]
            if len(body) != size or zlib.crc32(body) != int.from_bytes(content[position + 4 : position + 8], "little"):
                break  # the frame that was being written
            position += 8 + size
            kind, *fields = marshal.loads(body)
            if kind in ("record", "drop"):
                self.remembered.pop(WHOLE, None)
            if kind == "file":
                updated.add(self.files.put(*fields))
            elif kind == "watch":
                self.watched.add(fields[0])
            elif kind == "record":
                key, record, seconds = fields
                self.records[key], self.times[key] = record, seconds
                keys.add(key)
            else:
                self.records.pop(fields[0], None)
                keys.discard(fields[0])
        return updated, keys

    def _intact(self, record: Record) -> bool:
        return self.files.combined(_ids(record)) == record[2]

    def holds(self, key: str, signature: bytes) -> bool:
        """Whether step `key` was last run with `signature` and every input and output is as it was then."""
        record = self.records.get(key)
        return record is not None and record[0] == signature and key not in self.suspects

    def holds_now(self, key: str, signature: bytes) -> bool:
        """As `holds`, after further inputs were made during this build."""
        record = self.records.get(key)
        if record is None or record[0] != signature or (key in self.suspects and self._remade.isdisjoint(_ids(record))):
            return False
        return self._intact(record)

    def reason(self, key: str, signature: bytes) -> str:
        """Why the step has to run, in a few words."""
        record = self.records.get(key)
        if record is None:
            return "it was never finished"
        if record[0] != signature:
            return "its command or tools changed"
        names = [self.files.paths[number] for number in _ids(record) if number in self._changed]
        return f"{', '.join(names[:3])} changed" if names else "an input or output changed"

    def begin(self, key: str) -> int:
        """Drop what is known of a step that is about to run. Returns the moment, for `record`."""
        self.drop(key)
        return time.time_ns()

    def drop(self, key: str) -> None:
        """Forget what is known of a step: it has to run."""
        with self._lock:
            self.remembered.pop(WHOLE, None)
            self.records.pop(key, None)
            self.suspects.discard(key)
            self._append(("drop", key))

    def watch(self, folders: Iterable[str]) -> None:
        """Enter folders whose listing may change a compile that read none of their files."""
        for folder in folders:
            stamp, digest = self.files.examine(folder)
            with self._lock:
                number = self.files.find(folder)
                if number is None:
                    number = self._put(folder, stamp, digest)
                if number not in self.watched:
                    self.watched.add(number)
                    self._append(("watch", number))

    def is_settled(self) -> bool:
        """Whether every recorded step is still as it was."""
        return not self.suspects and self.watched.isdisjoint(self._changed)

    def changed_folders(self) -> list[str]:
        """Return the watched folders in which names appeared or vanished since the last build."""
        return [self.files.paths[number] for number in self.watched & self._changed]

    def see_own_folders(self) -> None:
        """Take for known what stands now in the watched folders that only the build writes to: who reads what a step made declares it."""
        for number in self.watched:
            path = self.files.paths[number]
            if path == "." or path.startswith("bazel-out"):
                self.files.stamps[number], self.files.digests[number] = self.files.examine(path)

    def inputs(self, key: str) -> list[str]:
        """Return the paths that the step's record names, outputs first."""
        return [self.files.paths[number] for number in _ids(self.records[key])]

    def record(self, key: str, signature: bytes, *, inputs: Sequence[str], outputs: Iterable[str], started: int, seconds: float) -> bool:
        """Keep what a finished step read and wrote. Returns False where an input moved while the step ran: then nothing is kept, and
        the next build runs the step again."""
        made = [(output, *self.files.examine(output)) for output in outputs]
        with self._lock:
            written = [self._put(*found) for found in made]
            read = self._numbers(inputs, started)
            if read is None:
                return False
            packed = array("I", written + read)
            record = (signature, packed.tobytes(), self.files.combined(packed))
            self.records[key] = record
            if seconds:
                self.times[key] = seconds
            self._fresh.add(key)
            self._append(("record", key, record, seconds))
            return True

    def digest(self, paths: Sequence[str], started: int) -> bytes:
        """Return one digest over the content of files as of the start of the build, or, where one is seen for the first time, as of
        `started`; ABSENT where one does not exist or was written since."""
        with self._lock:
            numbers = self._numbers(paths, started)
            return ABSENT if numbers is None or self.files.any_absent(numbers) else self.files.combined(numbers)

    def _numbers(self, paths: Sequence[str], started: int) -> list[int] | None:
        """Return the numbers of files, those entered that are seen for the first time; None where one was written since `started`."""
        if self._asked[0] is paths:  # asked for a digest, then recorded: hundreds of headers, the same
            return self._asked[1]
        result = []
        for path, number in zip(paths, self.files.find_all(paths)):
            if number is None:
                number = self._first_seen(path, started)
                if number is None:
                    return None
            result.append(number)
        if isinstance(paths, tuple):
            self._asked = (paths, result)
        return result

    def _first_seen(self, path: str, started: int) -> int | None:
        """Enter an input that only the step's own report names. One written between the step's start and now may not be what the step
        read; one of the future is from before the clock was set back."""
        status = self.files.status(path)
        if status is None or started - _CLOCK_GRAIN <= status.st_ctime_ns <= time.time_ns() + _CLOCK_GRAIN:
            return None
        return self._put(path, stamp_of(status), digest_of(self.files.full(path)))

    def _put(self, path: str, stamp: int, digest: bytes) -> int:
        known = self.files.find(path)
        if known is not None and self.files.digests[known] != digest:
            self._changed.add(known)
            self._remade.add(known)
        number = self.files.put(path, stamp, digest)
        self._append(("file", path, stamp, digest))
        return number

    def remember(self, what: str, key: bytes, paths: Iterable[str], since: int) -> bytes:
        """Keep `key` and the content of `paths` under a name; returns the digest over that content. Where one that is seen for the first
        time was written after the moment `since`, when the reading began, nobody knows which content was read: nothing is kept."""
        with self._lock:
            numbers, known = array("I"), True
            for path in paths:
                number = self.files.find(path)
                if number is None:
                    status = self.files.status(path)
                    known = known and (status is None or not since <= status.st_ctime_ns <= time.time_ns())
                    number = self.files.put(path, *self.files.examine(path))
                numbers.append(number)
            digest = self.files.combined(numbers)
            self.remembered.pop(what, None)
            if known:
                self.remembered[what] = (key, numbers.tobytes(), digest)
            self._dirty = True
            return digest

    def recall(self, what: str, key: bytes) -> bytes | None:
        """Return the digest that was remembered under a name, if the key is the same and no path's content has changed since."""
        stored, ids, digest = self.remembered.get(what, (b"", b"", b""))
        same = stored == key and digest and self.files.combined(array("I", ids)) == digest
        return digest if same else None

    def paths(self, what: str) -> list[str]:
        """Return the paths that were remembered under a name."""
        _, ids, _ = self.remembered.get(what, (b"", b"", b""))
        return [self.files.paths[number] for number in array("I", ids)]

    def suspect_readers(self) -> None:
        """Suspect the steps that have not run since something they read was made anew: the build ended between the two."""
        with self._lock:
            remade, self._remade = self._remade, set()
            readers = [key for key, record in self.records.items() if not remade.isdisjoint(_ids(record))] if remade else ()
            self.suspects.update(key for key in readers if not self._intact(self.records[key]))

    def clear(self, key: str) -> None:
        """A suspect turned out to be up to date."""
        with self._lock:
            self.suspects.discard(key)

    def _append(self, frame: tuple[Any, ...]) -> None:
        if self._journal is None:
            if self._dirty or not self._generation:
                self._write_file()
            self._journal = self._journal_file.open("wb", buffering=1 << 16)
            self._journal.write(_JOURNAL_MAGIC + self._generation)
        body = marshal.dumps(frame, _MARSHAL)
        self._journal.write(len(body).to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little") + body)
        if frame[0] in ("record", "drop"):
            self._journal.flush()

    def keep_only(self, outputs: Mapping[str, Iterable[str]]) -> None:
        """Forget the steps that are not among `outputs` (by key), and remove what they made: a generated header of a step that is no more
        must not be found by an include."""
        current = {output for made in outputs.values() for output in made}
        orphans: set[int] = set()
        for key in self.records.keys() - outputs.keys():
            numbers = _ids(self.records.pop(key))
            self.times.pop(key, None)
            orphans.update(number for number in numbers if self.files.paths[number].startswith(("bazel-out/", "bundle/")))
            self._dirty = True
        orphans = {number for number in orphans if self.files.paths[number] not in current}
        for number in orphans:
            Path(self.files.full(self.files.paths[number])).unlink(missing_ok=True)
            self.files.stamps[number], self.files.digests[number] = MISSING, ABSENT
            folder = self.files.find(posixpath.dirname(self.files.paths[number]))
            if folder is not None:
                self._changed.add(folder)
        if orphans:
            self.suspects.update(key for key, record in self.records.items() if not orphans.isdisjoint(_ids(record)))
        self.suspects &= self.records.keys()

    def save(self) -> None:
        """Write the database, whole or not at all. A step recorded in this build of which an input moved meanwhile is dropped: which of the
        two contents it read is unknown."""
        with self._lock:
            if self._fresh or self._dirty:
                self._drop_moved({number for number, _ in self.files.moved()})
            if self._dirty or self._journal is not None:
                self._write_file()
            if self._journal is not None:
                self._journal.close()
                self._journal = None
            self._journal_file.unlink(missing_ok=True)
            self._fresh.clear()

    def _drop_moved(self, moved: set[int]) -> None:
        if not moved:
            return
        for key in [key for key in self._fresh if not moved.isdisjoint(_ids(self.records[key]))]:
            del self.records[key]
        for what in [what for what, (_, ids, _) in self.remembered.items() if not moved.isdisjoint(array("I", ids))]:
            del self.remembered[what]

    def _write_file(self) -> None:
        self._generation = secrets.token_bytes(16)
        data = {
            "generation": self._generation,
            "paths": self.files.paths,
            "stamps": self.files.stamps.tobytes(),
            "digests": self.files.digests,
            "records": self.records,
            "suspects": list(self.suspects),
            "remembered": self.remembered,
            "notes": self.notes,
            "watched": list(self.watched),
            "times": self.times,
        }
        body = marshal.dumps(data, _MARSHAL)
        temporary = self._file.with_name(f"dependencies.{os.getpid()}.tmp")
        temporary.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(_MAGIC + zlib.crc32(body).to_bytes(4, "little") + body)
        temporary.replace(self._file)
        self._dirty = False


def _ids(record: Record) -> array[int]:
    return array("I", record[1])
