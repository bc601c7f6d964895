"""Owns `scons -c`: the removal of all that was made for one target and ref.

clean(Path("build/linux-x64/sample"), kept=Path("build/linux-x64/sample/.build/lock"))      # 431

It asks no step what it makes, so it works where BUILD files are broken, a compiler is gone, or another option made a file.
"""

from __future__ import annotations

import os
from pathlib import Path

from litert_build.errors import BuildError


def clean(root: Path, kept: Path, *, pretend: bool = False) -> int:
    """Remove everything below `root` but `kept`, a file; returns how many files and links there were. Links are never followed: what
    they lead to are sources. With `pretend` they are only counted. Raises BuildError for what cannot be removed."""
    count = 0
    for place, folders, files in os.walk(root, topdown=False):
        for path in (Path(place, name) for name in (*files, *folders)):
            if kept == path or path in kept.parents:
                continue
            is_folder = path.is_dir() and not path.is_symlink()
            count += not is_folder
            if not pretend:
                _remove(path, is_folder=is_folder)
    return count


def _remove(path: Path, *, is_folder: bool) -> None:
    try:
        if is_folder:
            path.rmdir()
        else:
            path.unlink()
    except OSError as error:
        raise BuildError(f"cannot be removed: {error.strerror}", where=str(path), mend="make its folder writable, or remove it") from error
