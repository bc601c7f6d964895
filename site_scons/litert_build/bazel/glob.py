"""Owns glob(): patterns over an index of a package's files, each folder listed once.

    PackageFiles(root, is_package).glob(["**/*.cc"], exclude=["*_test.cc"])

Rules: Bazel's glob reference: `*` stays within a segment, `**` is a whole segment, subpackages are not entered, `[` has
no meaning, `?` is forbidden, and a segment other than `*` matches a name that starts with a dot only if it starts with one too.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from pathlib import Path

from litert_build.starlark.values import EvalError, quote


@functools.cache
def _compile(pattern: str) -> re.Pattern[str]:
    if pattern.startswith("/") or not pattern:
        raise EvalError(f"glob pattern {quote(pattern)} must be relative and not empty")
    if "?" in pattern:
        raise EvalError(f"glob pattern {quote(pattern)}: wildcard ? is forbidden")
    segments = pattern.split("/")
    out: list[str] = []
    for position, segment in enumerate(segments):
        last = position == len(segments) - 1
        if segment in ("..", ".", ""):
            raise EvalError(f"glob pattern {quote(pattern)} must not contain empty, '.' or '..' segments")
        if segment == "**":
            out.append(".*" if last else "(?:[^/]+/)*")
            continue
        if "**" in segment:
            raise EvalError(f"glob pattern {quote(pattern)}: recursive wildcard must be its own segment")
        if segment.startswith("*") and segment != "*":
            out.append(r"(?!\.)")
        out.append("".join("[^/]*" if c == "*" else re.escape(c) for c in segment) + ("" if last else "/"))
    return re.compile("".join(out) + r"\Z", re.DOTALL)


class PackageFiles:
    """The files and folders of one package; subpackages are not entered. `listed` names every folder whose listing decides."""

    def __init__(self, root: Path, is_package: Callable[[str], bool]) -> None:
        self.root = root
        self.is_package = is_package
        self.files: list[str] = []
        self.folders: list[str] = []
        self.subpackages: list[str] = []
        self.listed: list[str] = []
        self._index("")
        self.files.sort()
        self.folders.sort()

    def _index(self, start: str) -> None:
        pending: list[tuple[str, frozenset[str]]] = [(start, frozenset())]
        while pending:
            inner, links = pending.pop()
            folder = f"{self.root}/{inner}" if inner else str(self.root)
            self.listed.append(folder)
            try:
                entries = list(os.scandir(folder))
            except OSError as error:
                raise EvalError(f"cannot list {folder}: {error.strerror}") from None
            for entry in entries:
                path = f"{inner}/{entry.name}" if inner else entry.name
                if Path(entry).is_dir() if entry.is_symlink() else entry.is_dir():  # Path: a link to itself is no folder
                    if self.is_package(path):
                        self.subpackages.append(path)
                        continue
                    target = os.path.realpath(entry.path) if entry.is_symlink() else ""
                    if target and (target in links or f"{os.path.realpath(folder)}/".startswith(f"{target}/")):
                        continue  # a link to a folder that holds it would never end
                    self.folders.append(path)
                    pending.append((path, links | {target} if target else links))
                else:
                    self.files.append(path)

    def digest(self) -> bytes:
        """Return a digest over all that glob() and subpackages() can tell of this package."""
        names = "\0".join((*self.files, "", *self.folders, "", *sorted(self.subpackages)))
        return hashlib.blake2b(os.fsencode(names), digest_size=16).digest()

    def glob(self, include: Iterable[str], exclude: Iterable[str] = (), *, folders: bool = False) -> list[str]:
        """Return the sorted paths, relative to the package, that a pattern of `include` matches and none of `exclude` does."""
        names = sorted([*self.files, *self.folders]) if folders else self.files
        wanted = [(_compile(pattern), pattern) for pattern in include]
        unwanted = [_compile(pattern) for pattern in exclude if not pattern.startswith("/")]  # a label, say, excludes nothing
        found: set[str] = set()
        for regex, pattern in wanted:
            if "*" not in pattern:
                found.update(name for name in (pattern,) if name in self._known(folders))
                continue
            prefix = pattern.split("*", 1)[0]
            start, end = bisect_left(names, prefix), bisect_left(names, prefix + "\U0010ffff")
            found.update(name for name in names[start:end] if regex.match(name))
        return sorted(name for name in found if not any(regex.match(name) for regex in unwanted))

    def _known(self, folders: bool) -> set[str]:
        if not hasattr(self, "_sets"):
            self._sets = (set(self.files), {*self.files, *self.folders})
        return self._sets[1 if folders else 0]
