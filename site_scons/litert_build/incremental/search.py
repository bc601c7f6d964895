"""Owns what a compile did not read: the places where a header, had it been there, would have been taken in place of one that was read.

folders = include_folders(step.work.argv)
watch = SearchPlaces().watched(folders, outcome.read)       # folders whose listing decides
is_shadowed(folders, read, {"x.h": [place]})                # whether a file that appeared there may change the compile

A depfile names what was read. That a new file stands earlier on the include path shows only in the listing of a folder (Care 1 of a header
database: "absent candidates").
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

_KINDS = ("-iquote", "-isystem", "-idirafter", "-I", "/I", "/external:I")
_PROBE = re.compile(rb"__has_include(?:_next)?\s*\(\s*[<\"]([^>\"\n]+)[>\"]")


def include_folders(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the folders that a compile command searches, in the order in which it searches them for a quoted include."""
    found: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    words = iter(argv)
    for word in words:
        if not word.startswith(_KINDS):
            continue
        for kind in _KINDS:
            if word == kind:
                found[kind].append(posixpath.normpath(next(words, ".")))
                break
            if word.startswith(kind) and len(kind) < len(word) and kind in ("-I", "/I", "-isystem", "-iquote"):
                found[kind].append(posixpath.normpath(word.removeprefix(kind)))
                break
    order = (*found["-iquote"], *found["-I"], *found["/I"], *found["-isystem"], *found["/external:I"], *found["-idirafter"])
    return tuple(dict.fromkeys(order))


def relative(path: str, folder: str) -> str | None:
    """Return `path` relative to `folder`, None where it is not below it; both are normalized."""
    if folder == ".":
        return None if path.startswith(("/", "..")) else path
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else ("" if path == folder else None)


class SearchPlaces:
    """Collects the folders to watch; each combination of an include path and a folder of headers is looked at once."""

    def __init__(self, full: Callable[[str], str]) -> None:
        self._full = full
        self._seen: set[tuple[tuple[str, ...], str]] = set()
        self._children: dict[str, set[str]] = {}
        self._subs: dict[tuple[str, ...], set[str]] = {}
        self._dirs: dict[tuple[str, ...], set[str]] = {}

    def watched(self, folders: tuple[str, ...], read: Iterable[str]) -> set[str]:
        """Return folders, existing or not, of which a new entry may change a compile that read these files; only those not yet returned."""
        result: set[str] = set() if folders in self._subs else set(folders)
        for folder in {path.rpartition("/")[0] or "." for path in read}:
            if (folders, folder) in self._seen or folder.startswith("/"):
                continue
            self._seen.add((folders, folder))
            result.add(folder)
            new_subs = set()
            for index, base in enumerate(folders):
                sub = relative(folder, base)
                if sub is not None:
                    new_subs.add(sub)
                    result.update(posixpath.normpath(posixpath.join(earlier, sub)) for earlier in folders[:index])
            result |= self._beside(folders, folder, new_subs)
        return result

    def _beside(self, folders: tuple[str, ...], folder: str, new_subs: set[str]) -> set[str]:
        """Existing folders below the folders of including files that a quoted include would search first."""
        subs, dirs = self._subs.setdefault(folders, set()), self._dirs.setdefault(folders, set())
        pairs = [(folder, sub) for sub in subs | new_subs] + [(other, sub) for other in dirs for sub in new_subs - subs]
        dirs.add(folder)
        subs |= new_subs
        result = set()
        for base, sub in pairs:
            first, _, _ = sub.partition("/")
            if first and first in self._folders_in(base):
                result.add(posixpath.normpath(posixpath.join(base, sub)))
        return result

    def _folders_in(self, folder: str) -> set[str]:
        if folder not in self._children:
            try:
                with os.scandir(self._full(folder)) as entries:
                    self._children[folder] = {entry.name for entry in entries if entry.is_dir()}
            except OSError:
                self._children[folder] = set()
        return self._children[folder]


def is_shadowed(folders: tuple[str, ...], read: Sequence[str], standing: Mapping[str, Iterable[str]]) -> bool:
    """Whether a file would be found before one that a compile read; `standing` are the folders in which files stand, by file name."""
    known = set(read)
    including = tuple({posixpath.dirname(path) or "." for path in read})
    for path in read:
        name = posixpath.basename(path)
        for place in standing.get(name, ()):
            candidate = posixpath.normpath(posixpath.join(place, name))
            if candidate not in known and _comes_first(candidate, path, folders, including):
                return True
    return False


def looked_in(folders: tuple[str, ...], read: Sequence[str], asked: Iterable[str]) -> set[str]:
    """Return the folders in which a compile looked for what the files that it read asked for with __has_include."""
    bases = {*folders, *(posixpath.dirname(path) or "." for path in read)}
    return {posixpath.normpath(posixpath.join(base, sub)) for sub in {posixpath.dirname(name) for name in asked} for base in bases}


def _comes_first(candidate: str, path: str, folders: tuple[str, ...], including: tuple[str, ...]) -> bool:
    for index, base in enumerate((*folders, *including)):
        spelled = relative(candidate, base)
        if not spelled or not f"/{path}".endswith(f"/{spelled}"):
            continue
        found_in = path[: -len(spelled)].rstrip("/") or "."
        if path.startswith("/") or (found_in in folders and (index >= len(folders) or folders.index(found_in) > index)):
            return True
    return False


def probes(content: bytes) -> list[str]:
    """Return the headers that a file asks for with __has_include, as they are spelled."""
    return [found.decode("utf-8", "surrogateescape") for found in _PROBE.findall(content)] if b"__has_include" in content else []
