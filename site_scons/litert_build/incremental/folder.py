"""Owns the folder of one build, build/<target>/<ref>: the execution root, its dependency database, and the lock that keeps others out.

folder = BuildFolder.open(Path("build/linux-x64/sample"), say=print)
folder.database.holds(key, signature)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.incremental.database import Database

try:
    import fcntl
except ImportError:  # Windows: two builds in one folder are not kept apart there
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class BuildFolder:
    """An opened build folder. `state` holds what is ours alone; `root` is the execution root."""

    root: Path
    state: Path
    database: Database

    @staticmethod
    def open(root: Path, say: Callable[[str], None]) -> BuildFolder:
        """Lock the folder and read its database. Waits, and says so, while another build works in it, or while commands of a killed build
        still run: they inherit the lock, so nothing of theirs is written behind our back. Raises BuildError where it cannot be written."""
        state = root / ".build"
        try:
            state.mkdir(parents=True, exist_ok=True)
            _lock(state / "lock", say)
        except OSError as error:
            mend = "free some space, make it writable, or name another folder with build_dir=PATH"
            raise BuildError(f"cannot write the build folder: {error.strerror}", where=str(error.filename or root), mend=mend) from error
        database = Database.open(state, root)
        if database.notice:
            say(database.notice)
        return BuildFolder(root, state, database)


def _lock(file: Path, say: Callable[[str], None]) -> None:
    """Hold `file` locked until this process and all it started have ended (flock(2): a lock is of the open file, which children share)."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    if fcntl is None:
        return
    os.set_inheritable(descriptor, True)
    said = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not said:
                say(f"another build, or commands of one that was killed, still work in {file.parent.parent}: waiting for them to end")
                said = True
            time.sleep(0.05)
