"""Owns the content-addressed store: downloaded files and sealed trees, shared by every checkout and process of a user.

    store = Store(default_store())
    store.blob("9f0c...")              # <store>/blobs/9f/9f0c..., whether it is there or not
    with store.lock("9f0c..."): ...    # one process at a time

What stands under its final name is whole: files are moved there in one rename, after their digest was checked.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import platformdirs

from litert_build.errors import BuildError


def default_store() -> Path:
    """Return the user's cache folder for this project (XDG_CACHE_HOME and its likes are honoured)."""
    return Path(platformdirs.user_cache_dir("litert-lm-native", appauthor=False))


def file_digest(file: Path) -> str:
    """Return the sha256 of a file's bytes, in hex."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class Store:
    """The folder and its layout. Every writer raises BuildError where the store is read-only or full; `waiting` is called when
    another process holds what is wanted."""

    def __init__(self, root: Path, waiting: Callable[[], None] = lambda: None) -> None:
        self.root, self.waiting = root, waiting

    def blob(self, sha256: str) -> Path:
        return self.root / "blobs" / sha256[:2] / sha256

    def partial(self, sha256: str) -> Path:
        return self.root / "partial" / sha256

    def rejected(self, sha256: str) -> Path:
        return self.root / "rejected" / sha256

    def tree(self, name: str, digest: str) -> Path:
        return self.root / "trees" / f"{name}-{digest[:24]}"

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn what the file system refuses into a BuildError that names the store and the way on."""
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                mend = "free some space, or put the store on another disk with store=PATH"
            elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                mend = "make it writable, or name another one with store=PATH"
            else:
                raise
            raise BuildError(f"cannot write to the store: {error.strerror}", where=str(error.filename or self.root), mend=mend) from error

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold the lock of `key` between processes; waits for whoever holds it. A killed holder releases it."""
        with self.writing():
            folder = self.root / "locks"
            folder.mkdir(parents=True, exist_ok=True)
            guard = filelock.FileLock(folder / f"{key[:40]}.lock")
            try:
                guard.acquire(timeout=1)
            except filelock.Timeout:
                self.waiting()
                guard.acquire()
        try:
            yield
        finally:
            guard.release()

    def make_tree(self, name: str, digest: str, fill: Callable[[Path], None]) -> Path:
        """Return the sealed tree of `digest`; where it is missing `fill(folder)` makes it.

        The folder is filled under a temporary name, made read-only and then renamed: an interrupted run leaves nothing under the final
        name.
        """
        final = self.tree(name, digest)
        if final.is_dir():
            return final
        with self.lock(digest), self.writing():
            if final.is_dir():
                return final
            final.parent.mkdir(parents=True, exist_ok=True)
            self._sweep(final)
            folder = final.with_name(f".{final.name}.{secrets.token_hex(4)}")
            folder.mkdir()
            try:
                fill(folder)
                seal(folder)
                folder.rename(final)
            except BaseException:
                remove_tree(folder)
                raise
        return final

    def _sweep(self, final: Path) -> None:
        """Remove what a killed run left of this tree; the lock is held, so nobody works in it."""
        for left in final.parent.glob(f".{final.name}.*"):
            remove_tree(left)


def seal(folder: Path) -> None:
    """Take the write permission from every file and folder of a tree; executables stay executable."""
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            path = Path(parent) / name
            if not path.is_symlink():
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~0o222)


def remove_tree(folder: Path) -> None:
    """Remove a tree, sealed or not; a missing one is no fault."""
    if not folder.exists():
        return
    for parent, _, files in os.walk(folder):
        Path(parent).chmod(0o755)
        for name in files if os.name == "nt" else ():
            (Path(parent) / name).chmod(0o644)
    shutil.rmtree(folder)
