"""Owns the step from a lock to readable folders, one a repository.

trees = materialize(lock, store=default_store(), overlays_dir=Path("build/overlays"), offline=False)
trees["litert"]                    # a plain folder: a checkout, a farm of links over one, or a sealed tree of the store

Archives and git commits become sealed trees: made once, read-only, named by the digest of everything that made them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from litert_build.errors import BuildError, nearest
from litert_build.policy.companions import OFFICIAL_REPOSITORY
from litert_build.policy.targets import host_target
from litert_build.sources.archive import extract
from litert_build.sources.commands import run_patch_commands
from litert_build.sources.crates import vendor_crates
from litert_build.sources.download import Fetcher, Progress, silent
from litert_build.sources.git import checkout
from litert_build.sources.lfs import materialise
from litert_build.sources.lock import Cargo, FileRef, Lock, Repository
from litert_build.sources.network import Network
from litert_build.sources.overlay import overlay_farm
from litert_build.sources.patches import apply_edit, apply_patch
from litert_build.sources.rust import build_crate, outline_crate
from litert_build.sources.store import Store

FORMAT = 1  # part of every tree's digest: raised when the same description would give other bytes


def materialize(
    lock: Lock,
    *,
    store: Path,
    overlays_dir: Path,
    offline: bool = False,
    local: Mapping[str, Path] | None = None,
    progress: Progress = silent,
    network: Network | None = None,
    target: str = "",
    outlines: bool = False,
) -> dict[str, Path]:
    """Return a readable folder for every repository of the lock, in the lock's order, but for the assets of upstream's release: they are
    no sources, and sources/prebuilt fetches them for the bundles that hold them.

    `local` names checkouts that stand in for repositories: they are read as they are, but for build file, link files and overlay, which
    are laid over them; patches are not applied to a checkout. Crates are built for `target`, by default for this machine; with `outlines`
    they are not built, and their trees fit for evaluation alone.

    Raises BuildError for what cannot be fetched, does not have its digest, or does not unpack, patch or build as declared.
    """
    local = local or {}
    for name in local:
        if name not in lock.repositories:
            mend = nearest(name, lock.repositories) or f"it has {', '.join(sorted(lock.repositories))}"
            raise BuildError(f"the lock has no repository {name!r} to replace", where=f"src_{name}=", mend=mend)
    network = replace(network or Network(), offline=offline)
    maker = TreeMaker(Fetcher(shared_store(store, progress), network, progress), overlays_dir, str(lock.file), target, outlines)
    try:
        names = [name for name in lock.repositories if name != OFFICIAL_REPOSITORY]
        repositories = _ordered([_localized(lock.repositories[name], local) for name in names], str(lock.file))
        maker.prefetch(repositories)
        for repository in repositories:
            maker.make(repository)
    finally:
        maker.fetcher.close()
    return {name: maker.made[name] for name in names}


def shared_store(root: Path, progress: Progress) -> Store:
    """Return a store that says so when it waits for another process."""
    return Store(root, lambda: progress("another build that uses the store", "wait for", 0, 0))


def _localized(repository: Repository, local: Mapping[str, Path]) -> Repository:
    if repository.name not in local:
        return repository
    path = local[repository.name]
    if not path.is_dir():
        raise BuildError(f"{path} is not a folder", where=f"src_{repository.name}=", mend="name a checkout of the repository")
    return replace(repository, path=path.absolute(), urls=(), git="", lfs=None, patches=(), patch_cmds=(), patch_cmds_win=())


def _ordered(repositories: list[Repository], where: str) -> list[Repository]:
    """Return the repositories so that each stands after those it takes files from. Raises BuildError with the path of a cycle."""
    by_name = {repository.name: repository for repository in repositories}
    ordered: dict[str, Repository] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise BuildError(f"repositories take files from each other: {' -> '.join((*path, name))}", where=where, mend="break the cycle")
        if name not in ordered:
            for reference in by_name[name].references():
                if reference.repository:
                    visit(reference.repository, (*path, name))
            ordered[name] = by_name[name]

    for repository in repositories:
        visit(repository.name, ())
    return list(ordered.values())


class TreeMaker:
    """Makes trees one by one; `made` holds those that exist, by repository name."""

    def __init__(self, fetcher: Fetcher, overlays_dir: Path, where: str, target: str = "", outlines: bool = False) -> None:
        self.fetcher, self.overlays_dir, self.where, self.target, self.outlines = fetcher, overlays_dir, where, target, outlines
        self.store = fetcher.store
        self.made: dict[str, Path] = {}

    def prefetch(self, repositories: list[Repository]) -> None:
        """Fetch, several at once, the archives of all trees that are not known to be in the store already."""
        wanted = [repository for repository in repositories if repository.urls and not self._known(repository)]
        self.fetcher.fetch_all([(repository.name, repository.urls, repository.sha256) for repository in wanted])

    def _known(self, repository: Repository) -> bool:
        """Whether the tree exists already, as far as its digest can be told before other trees are made."""
        if any(reference.repository and not reference.sha256 for reference in repository.references()):
            return False
        return self.store.tree(repository.name, self.digest(repository)).is_dir()

    def make(self, repository: Repository) -> Path:
        """Return the folder of one repository and remember it. The repositories it takes files from must have been made."""
        self.made[repository.name] = self._make(repository)
        return self.made[repository.name]

    def _make(self, repository: Repository) -> Path:
        if repository.cargo and self.outlines:
            return outline_crate(repository.cargo, self.store)
        if repository.path is not None:
            tree = self._local_tree(repository, repository.path)
        else:
            tree = self.store.make_tree(repository.name, self.digest(repository), lambda folder: self._fill(repository, folder))
        return self._crate(repository, repository.cargo, tree) if repository.cargo else tree

    def _crate(self, repository: Repository, cargo: Cargo, tree: Path) -> Path:
        vendor = None
        if cargo.crates and (tree / "Cargo.lock").is_file():
            patches = {
                crate: [(self.read(patch.file), patch.strip, _spelling(patch.file)) for patch in patches]
                for crate, patches in cargo.crate_patches.items()
            }
            vendor = vendor_crates(tree / "Cargo.lock", cargo.crates, patches, self.fetcher)
        self.fetcher.progress(repository.name, "cargo", 0, 0)
        where = repository.location or self.where
        return build_crate(tree, cargo, self.target or host_target(), self.store, where=where, vendor=vendor)

    def _local_tree(self, repository: Repository, path: Path) -> Path:
        if not path.is_dir():
            raise BuildError(f"repository {repository.name!r} has no folder {path}", where=self.where, mend="correct its path in the lock")
        files = {name: self.read(reference) for name, reference in _placed(repository).items()}
        return overlay_farm(path, files, self.overlays_dir / repository.name) if files else path

    def digest(self, repository: Repository) -> str:
        """Return the sha256, in hex, over everything that decides the bytes of the tree; names, places and addresses do not."""
        parts = {
            "format": FORMAT,
            "sha256": repository.sha256 if repository.urls else repository.commit,
            "strip_prefix": repository.strip_prefix,
            "add_prefix": repository.add_prefix,
            "lfs": repository.lfs.include if repository.lfs else (),
            "patches": [(self.digest_of(patch.file), patch.strip) for patch in repository.patches],
            "edits": [(edit.file, edit.find, edit.replace) for edit in repository.edits],
            "patch_cmds": repository.patch_cmds,
            "patch_cmds_win": repository.patch_cmds_win,
            "build_file": self.digest_of(repository.build_file) if repository.build_file else "",
            "link_files": {name: (self.digest_of(reference), reference.executable) for name, reference in repository.link_files.items()},
            "overlay": {name: self.digest_of(FileRef(path)) for name, path in repository.overlay.items()},
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def digest_of(self, reference: FileRef) -> str:
        if reference.sha256 and (reference.repository or reference.urls):
            return reference.sha256
        return hashlib.sha256(self.read(reference)).hexdigest()

    def read(self, reference: FileRef) -> bytes:
        """Return the bytes of a file that goes into a tree. Raises BuildError where it is missing or not the one that was locked."""
        if reference.content is not None:
            data, name = reference.content.encode(), "content"
        elif reference.urls:
            name = reference.urls[0].rpartition("/")[2]
            data = self.fetcher.fetch(name, reference.urls, reference.sha256).read_bytes()
        else:
            path = reference.path or self.made[reference.repository] / reference.inner
            name = _spelling(reference)
            try:
                data = path.read_bytes()
            except OSError as error:
                raise BuildError(f"cannot read {name}: {error.strerror}", where=self.where, mend="correct the path in the lock") from error
        actual = hashlib.sha256(data).hexdigest()
        if reference.sha256 and actual != reference.sha256:
            raise BuildError(
                f"{name} is not the file that was locked",
                where=self.where,
                notes=[f"expected sha256 {reference.sha256}", f"found    sha256 {actual}"],
                mend="regenerate the lock, or restore the file",
            )
        return data

    def _fill(self, repository: Repository, folder: Path) -> None:
        """Make the tree of a repository in an empty folder, in the order that lock.Repository states."""
        where = repository.location or self.where
        inside = folder / repository.add_prefix
        inside.mkdir(parents=True, exist_ok=True)
        if repository.git:
            self.fetcher.progress(repository.name, "fetch", 0, 0)
            network, prefix = self.fetcher.network, repository.strip_prefix
            checkout(repository.git, repository.commit, inside, network, where=where, strip_prefix=prefix)
        elif repository.urls:
            archive = self.fetcher.fetch(repository.name, repository.urls, repository.sha256)
            self.fetcher.progress(repository.name, "extract", 0, 0)
            extract(archive, inside, strip_prefix=repository.strip_prefix, source=repository.urls[0])
        if repository.lfs:
            materialise(folder, repository.lfs, self.fetcher, where=where)
        placed = _placed(repository)
        if repository.build_file:
            _put(folder, "BUILD.bazel", self.read(placed["BUILD.bazel"]))
        for patch in repository.patches:
            self.fetcher.progress(repository.name, "patch", 0, 0)
            apply_patch(self.read(patch.file), folder, strip=patch.strip, source=_spelling(patch.file))
        for edit in repository.edits:
            apply_edit(folder, edit, where)
        run_patch_commands(repository.patch_cmds, repository.patch_cmds_win, folder, where)
        for name, reference in placed.items():
            if reference is not repository.build_file:
                _put(folder, name, self.read(reference), reference.executable)


def _spelling(reference: FileRef) -> str:
    return str(reference.path) if reference.path else f"@{reference.repository}//:{reference.inner}"


def _placed(repository: Repository) -> dict[str, FileRef]:
    """Return the files that stand in a tree in place of its own, the last word for a path being the overlay's."""
    build = {"BUILD.bazel": repository.build_file} if repository.build_file else {}
    return {**build, **repository.link_files, **{name: FileRef(path) for name, path in repository.overlay.items()}}


def _put(folder: Path, name: str, content: bytes, executable: bool = False) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    path.write_bytes(content)
    if executable:
        path.chmod(0o755)
