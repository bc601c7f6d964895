"""Owns what upstream publishes ready-made: the prebuilt folder of one platform, Git LFS pointers replaced by what they stand for, and the
assets of its release.

    tree = prebuilt_tree(lock, "linux_x86_64", store=default_store())
    tree / "linux_x86_64" / "libwebgpu_dawn.so"
    official_tree(lock, store=default_store()) / "CLiteRTLM.xcframework.zip"

The commit of the lock pins the pointers, and a pointer the sha256 of its file; the lock has the sha256 of the assets.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.policy.companions import OFFICIAL_REPOSITORY
from litert_build.sources.download import Fetcher, Progress, silent
from litert_build.sources.lock import Lfs, Lock, Repository
from litert_build.sources.network import Network
from litert_build.sources.store import Store
from litert_build.sources.trees import TreeMaker


def prebuilt_tree(lock: Lock, folder: str, *, store: Path, network: Network | None = None, progress: Progress = silent) -> Path:
    """Return a folder that holds `folder` of the main repository's prebuilt/; a main repository that is a checkout gives its own.

    Raises BuildError where the folder or one of its LFS objects is not to be had.
    """
    main = lock.repositories[lock.main]
    if main.path is not None:
        return main.path / "prebuilt"
    return _made(prebuilt_repository(main, folder, str(lock.file)), lock, store, network, progress)


def official_tree(lock: Lock, *, store: Path, network: Network | None = None, progress: Progress = silent) -> Path | None:
    """Return a folder that holds the assets of upstream's release, None where the lock has none. Raises BuildError where one is not to be
    had."""
    repository = lock.repositories.get(OFFICIAL_REPOSITORY)
    return _made(repository, lock, store, network, progress) if repository else None


def _made(repository: Repository, lock: Lock, store: Path, network: Network | None, progress: Progress) -> Path:
    fetcher = Fetcher(Store(store), network or Network(), progress)
    try:
        return TreeMaker(fetcher, store / "overlays", str(lock.file)).make(repository)
    finally:
        fetcher.close()


def prebuilt_repository(main: Repository, folder: str, where: str = "") -> Repository:
    """Return the lock entry of one folder of the main repository's prebuilt/, with its LFS objects."""
    remote = re.match(r"(https://[^/]+/[^/]+/[^/]+)/archive/", main.urls[0] if main.urls else "")
    if remote is None:
        raise BuildError(
            "the main repository is no archive of GitHub, so that its LFS store is not known", where=where, mend="name companions=PATH"
        )
    return replace(
        main,
        name="prebuilt",
        strip_prefix=f"{main.strip_prefix}/prebuilt/{folder}".strip("/"),
        add_prefix=folder,
        lfs=Lfs(f"{remote.group(1)}.git/info/lfs", (f"{folder}/*",)),
        build_file=None,
        patches=(),
        edits=(),
        patch_cmds=(),
        patch_cmds_win=(),
        link_files={},
        overlay={},
    )
