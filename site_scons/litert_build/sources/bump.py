"""Owns what a bump changes: between two locks, and between what two analyses build of them.

lines = [*lock_diff(old, new), *analysis_diff(old_analysis.actions, new_analysis.actions)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from litert_build.actions import ActionList, Compile
from litert_build.sources.lock import Lock, Repository


def lock_diff(old: Lock, new: Lock) -> list[str]:
    """Return what a bump changes, a line each: commit, repositories that come and go, versions, patches, settings."""
    lines = []
    if old.commit != new.commit:
        lines.append(f"commit {old.commit or '-'} -> {new.commit or '-'}")
    for name in [*new.repositories, *(name for name in old.repositories if name not in new.repositories)]:
        before, after = old.repositories.get(name), new.repositories.get(name)
        if before is None and after is not None:
            lines.append(f"+ {name} {version_of(after)}")
        elif after is None and before is not None:
            lines.append(f"- {name} {version_of(before)}")
        elif before is not None and after is not None:
            lines += _repository_diff(before, after)
    for setting in ("policy", "link_mode", "roots", "product", "flags", "defines", "copts", "cxxopts", "conlyopts", "linkopts", "bindings"):
        if getattr(old, setting) != getattr(new, setting):
            lines.append(f"{setting}: {getattr(old, setting)} -> {getattr(new, setting)}")
    return lines


def _repository_diff(before: Repository, after: Repository) -> list[str]:
    lines = []
    if version_of(before) != version_of(after):
        lines.append(f"~ {before.name} {version_of(before)} -> {version_of(after)}")
    elif before.sha256 != after.sha256:
        lines.append(f"~ {before.name} {version_of(before)}: other bytes under the same version: {before.sha256} -> {after.sha256}")
    for what in ("patches", "patch_cmds", "build_file", "link_files", "repo_mapping", "overlay"):
        if getattr(before, what) != getattr(after, what):
            lines.append(f"~ {before.name}: {what} changed")
    return lines


def version_of(repository: Repository) -> str:
    """Return how a reader tells the version: the commit, or the last part of the address, or the path."""
    if repository.git:
        return repository.commit[:12]
    if repository.urls:
        name = repository.urls[0].rstrip("/").rpartition("/")[2]
        return re.sub(r"^([0-9a-f]{12})[0-9a-f]{28}\..*", r"\1", name)
    return str(repository.path) if repository.path else "files"


def analysis_diff(old: ActionList, new: ActionList) -> list[str]:
    """Return how two builds differ: targets and translation units that come and go, and those whose flags, defines or includes change."""
    before, after = _units(old), _units(new)
    gone = {compile.label for compile in before.values()} - {compile.label for compile in after.values()}
    come = {compile.label for compile in after.values()} - {compile.label for compile in before.values()}
    lines = [f"translation units {len(before)} -> {len(after)}"] if len(before) != len(after) else []
    lines += [*(f"+ target {label}" for label in sorted(come)), *(f"- target {label}" for label in sorted(gone))]
    lines += [f"+ {source} in {label}" for label, source in sorted(after.keys() - before.keys()) if label not in come]
    lines += [f"- {source} in {label}" for label, source in sorted(before.keys() - after.keys()) if label not in gone]
    changes: dict[str, list[str]] = {}
    for key in sorted(before.keys() & after.keys()):
        for change in _option_changes(before[key], after[key]):
            changes.setdefault(change, []).append(key[1])
    lines += [f"~ {change}: {len(sources)} translation units, first {sources[0]}" for change, sources in changes.items()]
    return lines


def _units(actions: ActionList) -> dict[tuple[str, str], Compile]:
    return {(compile.label, compile.source): compile for compile in actions.compiles() if not compile.configuration.endswith("-exec")}


def _option_changes(before: Compile, after: Compile) -> Iterable[str]:
    for what in ("flags", "defines", "includes"):
        old, new = getattr(before, what), getattr(after, what)
        if old != new:
            words = [*(f"+{_word(item)}" for item in new if item not in old), *(f"-{_word(item)}" for item in old if item not in new)]
            yield f"{what} {' '.join(words) or 'in another order'}"


def _word(item: object) -> str:
    return " ".join(item) if isinstance(item, tuple) else str(item)
