"""Owns what this project carries against upstream's sources: the folders of third_party/patches and third_party/overlays.

    carried = read_carried(Path("third_party"))
    lock, applied = apply_carried(lock, carried, "ios-arm64", {"static_gpu": "inject"})
    audit(carried, lock, trees)           # which apply, which no longer do, which are unneeded

The carried.json of a folder says which releases it serves (`refs`, a PEP 440 specifier), on which systems (`os`), why, its `upstream`
status, `until` when it is carried, and the `option` that switches it on (without one it is always on). Per repository it adds patches,
edits, overlay and urls (mirrors) to the lock's entry, only for the archive `sha256` where that is given; `roots` add labels;
`declares` holds whole entries of repositories that WORKSPACE lacks, for `scons lock`; `of_main` those that are made of the main
repository's archive once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from packaging.specifiers import SpecifierSet

from litert_build.errors import BuildError
from litert_build.policy.refs import ANY, release_version
from litert_build.policy.targets import find_target
from litert_build.sources.fields import Fields, read_json
from litert_build.sources.lock import Edit, FileRef, Lock, Patch, Repository, read_edit, read_repository
from litert_build.sources.patches import apply_edit, apply_patch

Status = Literal["applies", "no longer applies", "unneeded", "no such repository"]


@dataclass(frozen=True)
class Additions:
    """What one carried change adds to one repository."""

    patches: tuple[Patch, ...]
    edits: tuple[Edit, ...]
    overlay: dict[str, Path]
    urls: tuple[str, ...]
    sha256: str


@dataclass(frozen=True)
class Carried:
    """One carried change. `option` is NAME=VALUE, empty where it is always on."""

    name: str
    file: Path
    refs: str
    os: tuple[str, ...]
    why: str
    upstream: str
    until: str
    option: str
    roots: tuple[str, ...]
    repositories: dict[str, Additions]
    declares: dict[str, Repository]
    of_main: dict[str, Repository]

    def serves(self, release: str) -> bool:
        return bool(release) and SpecifierSet(self.refs).contains(release_version(release), prereleases=True)


@dataclass(frozen=True)
class Audited:
    """What became of one carried change at one ref; `detail` is the first line of the reason."""

    carried: Carried
    status: Status
    detail: str = ""


def read_carried(third_party: Path) -> list[Carried]:
    """Return all carried changes, patches first, by name. Raises BuildError for a faulty carried.json."""
    return [_read(file) for kind in ("patches", "overlays") for file in sorted((third_party / kind).glob("*/carried.json"))]


def _read(file: Path) -> Carried:
    known = ("refs", "os", "why", "upstream", "until", "option", "roots", "repositories", "declares", "of_main")
    fields = Fields(file, "", read_json(file, "restore the file"), known)
    for name in ("why", "upstream", "until"):
        if not fields.text(name).strip():
            fields.fault(name, "a sentence is expected")
    systems, base = fields.texts("os") or ANY, file.parent.absolute()
    for system in systems:
        if system not in ANY:
            fields.fault("os", f"{system!r} is not one of {', '.join(ANY)}")
    return Carried(
        name=file.parent.name,
        file=file,
        refs=fields.text("refs"),
        os=systems,
        why=fields.text("why"),
        upstream=fields.text("upstream"),
        until=fields.text("until"),
        option=fields.text("option", ""),
        roots=fields.texts("roots"),
        repositories={name: _additions(file, name, data) for name, data in fields.mapping("repositories", {}).items()},
        declares={name: read_repository(file, base, name, data, "declares") for name, data in fields.mapping("declares", {}).items()},
        of_main={
            name: replace(read_repository(file, base, name, {**data, "path": "."}, "of_main"), path=None)
            for name, data in fields.mapping("of_main", {}).items()
        },
    )


def _additions(file: Path, name: str, data: Any) -> Additions:
    fields = Fields(file, f"repositories.{name}", data, ("patches", "edits", "overlay", "urls", "sha256"))
    base = file.parent.absolute()
    patches = []
    for at, value in enumerate(fields.items("patches", [])):
        patch = Fields(file, f"repositories.{name}.patches[{at}]", value, ("file", "strip"))
        patches.append(Patch(FileRef(base / patch.text("file")), patch.number("strip", 0)))
    return Additions(
        patches=tuple(patches),
        edits=tuple(read_edit(file, f"repositories.{name}.edits[{at}]", value) for at, value in enumerate(fields.items("edits", []))),
        overlay={inner: base / outer for inner, outer in fields.text_mapping("overlay").items()},
        urls=fields.texts("urls"),
        sha256=fields.text("sha256", ""),
    )


def apply_carried(lock: Lock, carried: Sequence[Carried], target: str, options: Mapping[str, str]) -> tuple[Lock, list[Carried]]:
    """Return the lock with the carried changes that serve its release and target, and which those are.

    A change that names a repository the lock does not have, or another archive of it, adds nothing there. A lock without a policy is no
    release and carries nothing.
    """
    repositories, roots, applied = dict(lock.repositories), list(lock.roots), []
    for change in carried:
        if not (change.serves(lock.policy) and find_target(target).os in change.os and _switched_on(change, options)):
            continue
        applied.append(change)
        roots += [root for root in change.roots if root not in roots]
        for name, additions in change.repositories.items():
            if name in repositories and additions.sha256 in ("", repositories[name].sha256):
                repositories[name] = _added(repositories[name], additions)
    return replace(lock, repositories=repositories, roots=tuple(roots)), applied


def declared(carried: Sequence[Carried], release: str, options: Mapping[str, str]) -> tuple[dict[str, Repository], dict[str, Repository]]:
    """Return the repositories that carried changes declare for the lock of a release, and those that are of the main archive."""
    serving = [change for change in carried if change.serves(release) and _switched_on(change, options)]
    return (
        {name: entry for change in serving for name, entry in change.declares.items()},
        {name: entry for change in serving for name, entry in change.of_main.items()},
    )


def _switched_on(change: Carried, options: Mapping[str, str]) -> bool:
    name, _, value = change.option.partition("=")
    return not change.option or options.get(name, "") == value


def _added(repository: Repository, additions: Additions) -> Repository:
    return replace(
        repository,
        patches=(*repository.patches, *additions.patches),
        edits=(*repository.edits, *additions.edits),
        overlay={**repository.overlay, **additions.overlay},
        urls=(*repository.urls, *(url for url in additions.urls if url not in repository.urls)) if repository.urls else (),
    )


def audit(carried: Sequence[Carried], lock: Lock, trees: Mapping[str, Path]) -> list[Audited]:
    """Return what becomes of every change at the lock's release, tried on `trees`, which were made without them. A change that serves
    other releases is unneeded; a lock without a policy is no release and needs none."""
    if not lock.policy:
        return []
    return [
        _audit(change, lock, trees) if change.serves(lock.policy) else Audited(change, "unneeded", f"it serves {change.refs}")
        for change in carried
    ]


def _audit(change: Carried, lock: Lock, trees: Mapping[str, Path]) -> Audited:
    found: list[Audited] = []
    for name, additions in change.repositories.items():
        if name not in lock.repositories:
            found.append(Audited(change, "no such repository", name))
        elif additions.sha256 not in ("", lock.repositories[name].sha256):
            found.append(Audited(change, "unneeded", f"{name} is another archive"))
        else:
            found += [_try_patch(change, patch, trees[name]) for patch in additions.patches]
            found += [_try_edit(change, edit, trees[name]) for edit in additions.edits]
    order: list[Status] = ["no longer applies", "no such repository", "unneeded", "applies"]
    return min(found, key=lambda audited: order.index(audited.status), default=Audited(change, "applies"))


def _try_patch(change: Carried, patch: Patch, tree: Path) -> Audited:
    assert patch.file.path is not None
    data, source = patch.file.path.read_bytes(), patch.file.path.name
    try:
        apply_patch(data, tree, strip=patch.strip, source=source, dry_run=True)
        return Audited(change, "applies")
    except BuildError as error:
        reason = error
    try:
        apply_patch(data, tree, strip=patch.strip, source=source, dry_run=True, reverse=True)
    except BuildError:
        return Audited(change, "no longer applies", f"{source}: {reason.what}")
    return Audited(change, "unneeded", f"{source} is in the sources already")


def _try_edit(change: Carried, edit: Edit, tree: Path) -> Audited:
    try:
        apply_edit(tree, edit, str(change.file), dry_run=True)
        return Audited(change, "applies")
    except BuildError as error:
        reason = error
    try:
        apply_edit(tree, replace(edit, find=edit.replace), str(change.file), dry_run=True)
    except BuildError:
        return Audited(change, "no longer applies", reason.what)
    return Audited(change, "unneeded", f"{edit.replace!r} stands in the sources already")


def audit_text(carried: Sequence[Carried], audits: Mapping[str, Sequence[Audited]]) -> str:
    """Return docs/patch-audit.md: every carried change with its reasons, and what became of it at each audited ref."""
    lines = ["# Carried patches and overlays", "", "Written by `scons patches ref=...`; the facts stand in each folder's carried.json.", ""]
    for change in carried:
        kind = change.file.parent.parent.name
        lines += [
            f"## {change.name}",
            "",
            f"- folder: third_party/{kind}/{change.name}",
            f"- releases: {change.refs}",
            f"- systems: {', '.join(change.os)}",
        ]
        lines += [f"- on with: `{change.option}`"] if change.option else []
        lines += [f"- why: {change.why}", f"- upstream: {change.upstream}", f"- until: {change.until}"]
        for ref, found in audits.items():
            lines += [f"- {ref}: {item.status}{f' ({item.detail})' if item.detail else ''}" for item in found if item.carried == change]
        lines.append("")
    return "\n".join(lines)
