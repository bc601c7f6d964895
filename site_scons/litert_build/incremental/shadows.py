"""Owns the question which compiles would find another header now, after names appeared in folders that they search.

for key in shadowed_steps(database, steps):
    database.drop(key)
"""

from __future__ import annotations

import os
import posixpath
from array import array
from collections.abc import Iterable, Mapping

from litert_build.incremental.commands import Command
from litert_build.incremental.database import Database
from litert_build.incremental.search import include_folders, is_shadowed, looked_in, probes
from litert_build.incremental.steps import Step


def shadowed_steps(database: Database, steps: Iterable[Step]) -> list[str]:
    """Return the compiles for which a file in a changed folder would be found before one that they read, or that asked for such a file
    with __has_include. May name one that finds the same header as before: how a header was found, nobody records."""
    changed = database.changed_folders()
    if not changed:
        return []
    asked = {path: names for path in database.files.paths if (names := _probes(database, path))}
    places = _places(database, changed, (name for names in asked.values() for name in names))
    standing = _standing(places)
    hot = _read_under_another_name(database.files.paths, standing)
    hot.update(number for number, path in enumerate(database.files.paths) if path in asked)
    result = []
    for step in steps:
        record = database.records.get(step.key)
        if record is None or not step.reports_inputs or not isinstance(step.work, Command) or hot.isdisjoint(array("I", record[1])):
            continue
        read = database.inputs(step.key)[len(step.outputs) :]
        spelled = {name for path in read for name in asked.get(path, ())}
        folders = include_folders(step.work.argv)
        if is_shadowed(folders, read, standing) or not places.keys().isdisjoint(looked_in(folders, read, spelled)):
            result.append(step.key)
    return result


def _places(database: Database, changed: Iterable[str], asked: Iterable[str]) -> dict[str, set[str]]:
    """Return the names of files by folder: the changed folders, and below them those whose names occur in a path that somebody read."""
    parts = {part for path in (*database.files.paths, *asked) for part in posixpath.dirname(path).split("/")}
    result: dict[str, set[str]] = {}
    waiting = list(changed)
    while waiting:
        folder = waiting.pop()
        if folder in result:
            continue
        try:
            with os.scandir(database.files.full(folder)) as entries:
                listed = [(entry.name, entry.is_dir()) for entry in entries]
        except OSError:
            continue
        result[folder] = {name for name, is_folder in listed if not is_folder}
        waiting += [posixpath.normpath(posixpath.join(folder, name)) for name, is_folder in listed if is_folder and name in parts]
    return result


def _standing(places: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Return the folders by the names of the files in them."""
    where: dict[str, list[str]] = {}
    for place, names in places.items():
        for name in names:
            where.setdefault(name, []).append(place)
    return where


def _read_under_another_name(paths: list[str], where: Mapping[str, list[str]]) -> set[int]:
    """Return the numbers of the paths of which a file of the same name stands in another folder."""
    result = set()
    for number, path in enumerate(paths):
        folder, name = posixpath.split(path)
        if any(place != (folder or ".") for place in where.get(name, ())):
            result.add(number)
    return result


def _probes(database: Database, path: str) -> list[str]:
    if path.startswith("/") or posixpath.splitext(path)[1] in (".o", ".obj", ".so", ".a"):
        return []
    try:
        with open(database.files.full(path), "rb") as stream:  # noqa: PTH123 (each header of the build)
            return probes(stream.read())
    except OSError:
        return []
