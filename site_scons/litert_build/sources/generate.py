"""Owns the making of locks: from a release tag to a commit, its WORKSPACE, the closure of the roots and the lock they amount to.

made = generate_lock(Wanted("v0.19.1"), Path("third_party/refs/v0.19.1.json"), store=default_store(), closure=closure)
made.lock, made.notes
print("\\n".join(lock_diff(old, made.lock)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.companions import OFFICIAL_REPOSITORY, is_upstream_release
from litert_build.policy.exports import API_PATTERNS
from litert_build.sources.download import Absent, Fetcher, Progress, silent
from litert_build.sources.git import resolve
from litert_build.sources.lock import FileRef, Lock, Product, Repository
from litert_build.sources.network import GITHUB, Network
from litert_build.sources.overlay import overlay_farm
from litert_build.sources.store import Store
from litert_build.sources.trees import TreeMaker
from litert_build.sources.workspace import Unavailable, Workspace

UPSTREAM = f"{GITHUB}/google-ai-edge/LiteRT-LM"


@dataclass(frozen=True)
class Wanted:
    """What to lock: a tag (or branch, or commit) of `remote`.

    `policy` is the release whose rules hold: by default the tag itself, none for an empty one. `commit` pins it instead of the tag's
    present one; `additions` declare repositories that WORKSPACE lacks, or replace its own, `of_main` those that are made of the main
    archive once more; `assets` (name -> address) are files of
    upstream's release that bundles take; `skip` names macros that WORKSPACE loads and that are not called.
    """

    ref: str
    remote: str = UPSTREAM
    main: str = "litert_lm"
    policy: str | None = None
    commit: str = ""
    roots: tuple[str, ...] = ("//c:engine",)
    allowed: tuple[str, ...] = API_PATTERNS
    headers: tuple[str, ...] = ("c/*.h", "external/litert_lm_native/*/*.h")
    additions: dict[str, Repository] = field(default_factory=dict)
    of_main: dict[str, Repository] = field(default_factory=dict)
    assets: dict[str, str] = field(default_factory=dict)
    skip: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generated:
    """A lock and what a maintainer should read: what was trusted on first use, what of WORKSPACE was not evaluated, what is not needed."""

    lock: Lock
    notes: tuple[str, ...]


class LazyTrees(Mapping[str, Path]):
    """The repositories of a workspace as folders, fetched when they are looked at; `used` gathers the names."""

    def __init__(self, workspace: Workspace, additions: Mapping[str, Repository]) -> None:
        self.workspace, self.additions = workspace, additions
        self.used: dict[str, None] = {}

    def __getitem__(self, name: str) -> Path:
        if name not in self:
            raise KeyError(name)
        self.used[name] = None
        return self.workspace.tree(name)

    def __contains__(self, name: object) -> bool:
        return name in self.additions or name in self.workspace.declared or name == self.workspace.main

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.workspace.names(), *self.additions]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def carried(self, lock: Lock) -> Mapping[str, Path]:
        """Return the same repositories as `lock` has them: with what is carried for one target, which the lock itself does not hold."""
        return CarriedTrees(self, lock)


class CarriedTrees(Mapping[str, Path]):
    """Lazy trees with the BUILD files that overlays of `lock` put into them."""

    def __init__(self, trees: LazyTrees, lock: Lock) -> None:
        self.trees, self.lock = trees, lock

    def __getitem__(self, name: str) -> Path:
        tree = self.trees[name]
        overlay = self.lock.repositories[name].overlay if name in self.lock.repositories else {}
        added = {inner: path for inner, path in overlay.items() if self.trees.workspace.made[name].overlay.get(inner) != path}
        if not added:
            return tree
        maker = self.trees.workspace.maker
        return overlay_farm(tree, {inner: path.read_bytes() for inner, path in added.items()}, maker.overlays_dir / f"carried-{name}")

    def __contains__(self, name: object) -> bool:
        return name in self.trees

    def __iter__(self) -> Iterator[str]:
        return iter(self.trees)

    def __len__(self) -> int:
        return len(self.trees)


Closure = Callable[[Lock, LazyTrees], None]


def generate_lock(
    wanted: Wanted, file: Path, *, store: Path, closure: Closure, network: Network | None = None, progress: Progress = silent
) -> Generated:
    """Return the lock of a ref; `file` is where it will stand. `closure(lock, trees)` looks at every tree that the roots need.

    Raises BuildError where the tag is unknown or moved since the lock in `file`, WORKSPACE cannot be evaluated, or the closure needs what
    no lock can express.
    """
    network = network or Network()
    commit = wanted.commit or resolve(wanted.remote, wanted.ref, network)
    policy = release_of(wanted.ref, wanted.policy)
    _refuse_moved(wanted, file, commit)
    maker = TreeMaker(Fetcher(Store(store), network, progress), store / "overlays", str(file), outlines=True)
    try:
        main = _main_repository(wanted, commit, maker)
        workspace = Workspace(wanted.main, main, maker, network, wanted.skip)
        additions = {**wanted.additions, **{name: _of_main(entry, main) for name, entry in wanted.of_main.items()}}
        workspace.made |= additions
        workspace.trust(wanted.main, main.urls[0], main.sha256)
        workspace.evaluate()
        draft = Lock(
            file=file,
            ref=wanted.ref,
            release=wanted.ref,
            main=wanted.main,
            repositories=_expressible(workspace),
            roots=wanted.roots,
            product=Product("host", allowed=wanted.allowed, headers=wanted.headers),
            commit=commit,
            bindings=workspace.bindings,
            policy=policy,
        )
        trees = LazyTrees(workspace, additions)
        closure(draft, trees)
        needed = _with_sources(workspace, [wanted.main, *trees.used])
        needed += _add_assets(wanted, workspace)
        unneeded = [f"{name} is declared, but not needed" for name in workspace.declared if name not in needed]
        notes = [*workspace.unpinned, *workspace.notes, *unneeded]
        product = replace(draft.product, headers=_headers_of(needed, wanted.headers))
        return Generated(replace(draft, repositories={name: workspace.made[name] for name in needed}, product=product), tuple(notes))
    finally:
        maker.fetcher.close()


def release_of(ref: str, policy: str | None) -> str:
    """Return the release whose rules hold for a ref: the named one, else the ref where it is a release tag, else none."""
    if policy is not None:
        return policy
    return ref if ref.startswith("v") and is_upstream_release(ref) else ""


def _refuse_moved(wanted: Wanted, file: Path, commit: str) -> None:
    if file.exists() and not wanted.commit:
        check_tag(Lock.read(file), commit)


def check_tag(lock: Lock, commit: str) -> None:
    """Raise BuildError where `commit`, what the tag means now, is not what the lock says."""
    if lock.commit and lock.commit != commit:
        raise BuildError(
            f"the tag {lock.ref} moved since it was locked",
            where=str(lock.file),
            notes=[f"locked {lock.commit}", f"now    {commit}"],
            mend="find out why; to accept it, delete the lock and make it anew (identity is the commit, never the tag)",
        )


def _main_repository(wanted: Wanted, commit: str, maker: TreeMaker) -> Repository:
    url = f"{wanted.remote}/archive/{commit}.tar.gz"
    _, digest = maker.fetcher.fetch_unpinned(wanted.main, [url])
    name = wanted.remote.rstrip("/").rpartition("/")[2]
    return Repository(wanted.main, urls=(url,), sha256=digest, strip_prefix=f"{name}-{commit}", rule="http_archive", location=wanted.ref)


def _of_main(entry: Repository, main: Repository) -> Repository:
    return replace(entry, urls=main.urls, sha256=main.sha256, strip_prefix=main.strip_prefix, rule=main.rule, location=main.location)


def _add_assets(wanted: Wanted, workspace: Workspace) -> list[str]:
    """Add the repository of upstream's release assets and return its name; what upstream did not publish is left out and told."""
    files = {}
    for name, url in wanted.assets.items():
        try:
            _, digest = workspace.maker.fetcher.fetch_unpinned(name, (url,))
        except Absent:
            workspace.notes.append(f"{url} does not exist: bundles that hold it need official=PATH")
            continue
        workspace.trust(OFFICIAL_REPOSITORY, url, digest)
        files[name] = FileRef(urls=(url,), sha256=digest)
    if not files:
        return []
    workspace.made[OFFICIAL_REPOSITORY] = Repository(OFFICIAL_REPOSITORY, link_files=files, rule="release_assets", location=wanted.ref)
    return [OFFICIAL_REPOSITORY]


def _expressible(workspace: Workspace) -> dict[str, Repository]:
    """Return the entry of every repository that a lock can express; the others fail when the closure looks at them."""
    for name in workspace.declared:
        try:
            workspace.repository(name)
        except Unavailable:
            continue
    return dict(workspace.made)


def _headers_of(needed: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of API headers whose repository is in the lock."""
    outside = {pattern: pattern.split("/")[1] for pattern in patterns if pattern.startswith("external/")}
    return tuple(pattern for pattern in patterns if outside.get(pattern) in (None, *needed))


def _with_sources(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Return the names, and those of the repositories they take files from, each once."""
    found: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in found:
            found[name] = None
            for reference in workspace.pinned(name).references():
                if reference.repository:
                    add(reference.repository)

    for name in names:
        add(name)
    return list(found)
