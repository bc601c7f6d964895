"""Owns the execution root: the folder in which every command of a build runs.

plant(Path("build/linux-x64/sample"), main=trees["litert_lm"], external=trees)

It holds links to the main repository's top-level entries and `external/<repository>` links to all repositories, as Bazel lays it out (Bazel
documentation, "Output Directory Layout"), and, in bazel-out, what the build makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from litert_build.errors import BuildError

OWN = frozenset({"bazel-out", "external", ".build", "bundle", "actions.json", "checks.json", "compile_commands.json"})


def plant(root: Path, main: Path, external: Mapping[str, Path]) -> bool:
    """Make the links of the execution root and remove those that nothing names any more. Returns whether any link changed.

    Raises BuildError where something that is not a link of ours stands in the way, or the folder cannot be written.
    """
    try:
        (root / "external").mkdir(parents=True, exist_ok=True)
        (root / "bazel-out").mkdir(exist_ok=True)
        top = _link_all(
            root, {entry.name: entry for entry in main.iterdir() if entry.name not in OWN and not entry.name.startswith("bazel-")}
        )
        return _link_all(root / "external", dict(external)) or top
    except OSError as error:
        mend = "free some space or name another folder with build_dir=PATH"
        raise BuildError(f"cannot write the build folder: {error.strerror}", where=str(error.filename or root), mend=mend) from error


def links_of(root: Path) -> list[str]:
    """Return every link of the execution root with its target, sorted: what `plant` would have to look at again if it is not as it was."""
    folders = [folder for folder in (root, root / "external") if folder.is_dir()]
    return sorted(f"{link.relative_to(root)} -> {link.readlink()}" for folder in folders for link in folder.iterdir() if link.is_symlink())


def _link_all(folder: Path, wanted: Mapping[str, Path]) -> bool:
    changed = False
    for entry in folder.iterdir():
        if entry.is_symlink() and entry.name not in wanted:
            entry.unlink()
            changed = True
    for name, target in wanted.items():
        link, place = folder / name, target.absolute()
        if link.is_symlink():
            if link.readlink() == place:
                continue
            link.unlink()
        elif link.exists():
            raise BuildError("it stands where a link to the sources belongs", where=str(link), mend="remove it")
        link.symlink_to(place, target_is_directory=place.is_dir())
        changed = True
    return changed
