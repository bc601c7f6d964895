"""Owns `scons lock` and the lock of a build: where locks lie, what is added to upstream's repositories, what is said about a new one.

text = run_lock(LockRequest("v0.19.1", root=Path(".")), store=default_store())        # writes third_party/refs/v0.19.1.json
text = run_lock(LockRequest("v0.20.0", root=Path("."), against="v0.19.1"), store=..., diff=True)     # writes nothing
lock, notes = ensure_lock(LockRequest("v0.19.1", root=Path(".")), store=..., locked=False)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from litert_build.actions import ActionList
from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError, nearest
from litert_build.options import Options
from litert_build.policy.companions import official_assets
from litert_build.policy.refs import apply_policy, is_release
from litert_build.policy.targets import find_target
from litert_build.sources.bump import analysis_diff, lock_diff
from litert_build.sources.carried import apply_carried, audit, audit_text, declared, read_carried
from litert_build.sources.console import console, network_of
from litert_build.sources.download import Progress, silent
from litert_build.sources.generate import UPSTREAM, Closure, Generated, LazyTrees, Wanted, generate_lock, release_of
from litert_build.sources.lock import Lock, Repository
from litert_build.sources.lock_text import lock_text
from litert_build.sources.network import Network
from litert_build.sources.store import default_store
from litert_build.sources.trees import materialize

_ROOT = Path(__file__).parents[3]
UPSTREAM_TARGETS = ("linux-x64", "linux-arm64", "windows-x64", "macos-arm64", "ios-arm64", "android-arm64")


@dataclass(frozen=True)
class LockRequest:
    """What `scons lock` is asked for; `root` is this project's folder, `targets` whose closures the lock must cover together.

    `policy` is the release whose rules hold where the ref is none itself, `commit` pins the ref, `against` names the lock to compare
    with, `skip` the macros of WORKSPACE that are not called, `options` the options that switch carried changes on.
    """

    ref: str
    root: Path
    targets: tuple[str, ...] = UPSTREAM_TARGETS
    remote: str = UPSTREAM
    policy: str | None = None
    commit: str = ""
    against: str = ""
    roots: tuple[str, ...] = ("//c:engine",)
    skip: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def refs(self) -> Path:
        return self.root / "third_party" / "refs"

    @property
    def file(self) -> Path:
        return self.refs / f"{self.ref}.json"


def generate(
    request: LockRequest, *, store: Path, network: Network, progress: Progress = silent, closure: Closure | None = None
) -> Generated:
    """Return the lock of a request, with this project's own repositories among its own."""
    policy = release_of(request.ref, request.policy)
    carried = read_carried(request.root / "third_party")
    bridge = Repository("litert_lm_native", path=request.root / "src" / "bridge", rule="local_repository")
    additions, of_main = declared(carried, policy, dict(request.options))
    wanted = Wanted(
        request.ref,
        remote=request.remote,
        policy=policy,
        commit=request.commit,
        roots=request.roots,
        skip=request.skip,
        assets=official_assets(request.targets, request.ref) if is_release(request.ref) and policy else {},
        additions={**additions, bridge.name: bridge},
        of_main=of_main,
    )
    found = closure or closure_of(request.targets, request.root, dict(request.options))
    return generate_lock(wanted, request.file, store=store, closure=found, network=network, progress=progress)


def closure_of(targets: tuple[str, ...], root: Path, options: Mapping[str, str] | None = None) -> Closure:
    """Return the closure that analysis finds for the targets together, carried changes included."""

    def visit(lock: Lock, trees: LazyTrees) -> None:
        for name in targets:
            actions_of(lock, trees.carried, name, root, options)

    return visit


def actions_of(
    lock: Lock, trees: Callable[[Lock], Mapping[str, Path]], target: str, root: Path, options: Mapping[str, str] | None = None
) -> ActionList:
    """Return what a lock builds for a target, by the compiler that its releases are made with; `trees` gives the sources of the lock with
    what is carried for the target."""
    effective, _ = apply_carried(apply_policy(lock, target), read_carried(root / "third_party"), target, options or {})
    row = find_target(target)
    return analyze(effective, trees(effective), row, compiler=row.release_toolchain).actions


def run_lock(request: LockRequest, *, store: Path, network: Network | None = None, progress: Progress = silent, diff: bool = False) -> str:
    """Make the lock of a ref and write it; with `diff` print what it changes instead. Returns the text for the console."""
    network = network or Network()
    old = Lock.read(_compared(request)) if diff else None
    made = generate(request, store=store, network=network, progress=progress)
    if old is None:
        request.file.parent.mkdir(parents=True, exist_ok=True)
        request.file.write_text(lock_text(made.lock), encoding="utf-8")
        return "\n".join([f"wrote {request.file}: {len(made.lock.repositories)} repositories, commit {made.lock.commit}", *made.notes])
    lines = [f"{old.ref} -> {made.lock.ref}", *lock_diff(old, made.lock)]
    for target in request.targets:
        actions = [_actions(lock, target, request.root, store, network) for lock in (old, made.lock)]
        lines += [f"{target}: {line}" for line in analysis_diff(*actions)]
    return "\n".join(lines)


def _actions(lock: Lock, target: str, root: Path, store: Path, network: Network) -> ActionList:
    def trees(effective: Lock) -> Mapping[str, Path]:
        return materialize(effective, store=store, overlays_dir=store / "overlays", network=network, outlines=True)

    return actions_of(lock, trees, target, root)


def _compared(request: LockRequest) -> Path:
    """Return the lock to compare with: the named one, the ref's own, or the newest release before it."""
    if request.against or request.file.exists():
        file = request.refs / f"{request.against or request.ref}.json"
        if not file.exists():
            known = [path.stem for path in request.refs.glob("*.json")]
            raise BuildError(f"there is no lock of {request.against}", where="against=", mend=nearest(request.against, known))
        return file
    older = [(version, path) for path in request.refs.glob("v*.json") if (version := _version(path.stem)) is not None]
    before = [item for item in older if (bound := _version(request.ref)) is None or item[0] < bound]
    if not before:
        raise BuildError(
            f"there is no lock to compare {request.ref} with",
            where=str(request.refs),
            mend="make the lock of an older release first (scons lock ref=REF), or name one with against=REF",
        )
    return max(before)[1]


def _version(ref: str) -> Version | None:
    try:
        return Version(ref)
    except InvalidVersion:
        return None


def ensure_lock(
    request: LockRequest, *, store: Path, locked: bool = False, network: Network | None = None, progress: Progress = silent
) -> tuple[Lock, tuple[str, ...]]:
    """Return the lock of a build, and what must be said: a missing lock is made and written, and what it trusted on first use is told.

    With `locked` (for CI) a missing lock is an error.
    """
    if request.file.exists():
        return Lock.read(request.file), ()
    known = sorted(path.stem for path in request.refs.glob("*.json"))
    if locked:
        mend = nearest(request.ref, known) or f"commit the lock that scons lock ref={request.ref} writes"
        raise BuildError(f"there is no lock of {request.ref}, and locked=yes forbids to make one", where=str(request.file), mend=mend)
    try:
        text = run_lock(request, store=store, network=network, progress=progress)
    except BuildError as error:
        hint = [f"the locks here: {', '.join(known)}"] if known else []
        raise BuildError(error.what, where=error.where, notes=[*error.notes, *hint], mend=error.mend) from error
    trusted = [line for line in text.splitlines() if "trusted on first use" in line]
    return Lock.read(request.file), (f"there was no lock of {request.ref}: {text.splitlines()[0]}; commit it", *trusted)


def run_patches(request: LockRequest, *, store: Path, network: Network | None = None) -> str:
    """Try everything that is carried on the sources of a ref and return the text of docs/patch-audit.md; sources come from its lock."""
    if not request.file.is_file():
        raise BuildError(f"there is no lock of {request.ref}", where=str(request.file), mend=f"make it: scons lock ref={request.ref}")
    lock = Lock.read(request.file)
    carried = read_carried(request.root / "third_party")
    trees = materialize(lock, store=store, overlays_dir=store / "overlays", network=network or Network(), outlines=True)
    return audit_text(carried, {request.ref: audit(carried, lock, trees)})


def request_of(options: Options, root: Path) -> LockRequest:
    """Return what `scons lock`, `scons patches` or a build without a lock asks for."""
    targets = tuple(filter(None, options["targets"].split(",")))
    return LockRequest(
        options["ref"],
        root=root,
        targets=tuple(find_target(name).name for name in targets) or UPSTREAM_TARGETS,
        policy=options["policy"] or None,
        commit=options["commit"],
        against=options["against"],
        skip=tuple(filter(None, options["skip"].split(","))),
        options=(("static_gpu", options["static_gpu"]),),
    )


def lock_command(options: Options) -> int:
    """`scons lock`: make the lock of ref=, or print what it would change with diff=yes."""
    request = request_of(options, _ROOT)
    if request.file.exists() and (lock := Lock.read(request.file)).repositories[lock.main].path:
        raise BuildError(
            f"the lock of {request.ref} is written by hand", where="ref=", mend="name a release of upstream: scons lock ref=v0.19.1"
        )
    store = options.path("store") or default_store()
    print(run_lock(request, store=store, network=network_of(options), progress=console(), diff=options.enabled("diff")))
    return 0


def patches_command(options: Options) -> int:
    """`scons patches`: try everything that is carried on the sources of ref=, and write docs/patch-audit.md."""
    store = options.path("store") or default_store()
    text = run_patches(request_of(options, _ROOT), store=store, network=network_of(options))
    (_ROOT / "docs" / "patch-audit.md").write_text(text, encoding="utf-8")
    print(text)
    return 0
