"""Owns trees that are seen with some files replaced: a farm of links over a folder, real files where something else stands.

farm = overlay_farm(Path("checkout"), {"BUILD.bazel": b"..."}, Path("build/overlays/absl"))
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from litert_build.errors import BuildError


def overlay_farm(tree: Path, files: Mapping[str, bytes], farm: Path) -> Path:
    """Return `farm`, a folder that shows `tree` through links, but for `files` (path inside the tree -> content), which are real.

    Only folders on the way to a replaced file are real folders. Called again it touches only what differs, so that time stamps of
    unchanged files stay. Raises BuildError where a replaced file would stand below a file.
    """
    _mirror(tree, files, farm)
    return farm


def _mirror(tree: Path, files: Mapping[str, bytes], farm: Path) -> None:
    here = {path: content for path, content in files.items() if "/" not in path}
    below: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        if "/" in path:
            folder, rest = path.split("/", 1)
            below.setdefault(folder, {})[rest] = content
    if farm.is_symlink() or farm.is_file():
        farm.unlink()
    farm.mkdir(parents=True, exist_ok=True)
    children = {child.name for child in tree.iterdir()} if tree.is_dir() else set()
    for name in {child.name for child in farm.iterdir()} - children - set(here) - set(below):
        _remove(farm / name)
    for name, content in here.items():
        write_if_changed(farm / name, content)
    for name, inner in below.items():
        if (tree / name).is_file():
            raise BuildError(f"the overlay puts {next(iter(inner))} below {name}, which is a file", where=str(tree / name))
        _mirror(tree / name, inner, farm / name)
    for name in children - set(here) - set(below):
        link(farm / name, tree / name)


def write_if_changed(file: Path, content: bytes) -> None:
    """Write `content` unless the file holds it already; whatever else stood there goes."""
    if file.is_symlink() or file.is_dir():
        _remove(file)
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def link(place: Path, target: Path) -> None:
    """Make `place` a link to `target`, absolute. Where the system grants no symbolic links, a file becomes a copy and a folder
    a junction."""
    target = target.absolute()
    if place.is_symlink() and place.readlink() == target:
        return
    if place.is_symlink() or place.exists():
        _remove(place)
    try:
        place.symlink_to(target, target_is_directory=target.is_dir())
    except OSError:
        if os.name != "nt":
            raise
        if target.is_dir():
            import _winapi

            _winapi.CreateJunction(str(target), str(place))  # type: ignore[attr-defined,unused-ignore]
        else:
            shutil.copy2(target, place)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
