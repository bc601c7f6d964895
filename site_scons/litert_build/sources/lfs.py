"""Owns Git LFS: telling pointers from files, and replacing pointers by their files through the batch API.

    materialise(folder, Lfs("https://host/owner/name.git/info/lfs", ("prebuilt/linux_x86_64/*",)), fetcher, where="lock.json")

Sources of the rules: git-lfs docs/spec.md (pointer file) and docs/api/batch.md. An oid is the sha256 of the file, so that the store
holds LFS files as it holds every other.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litert_build.errors import BuildError
from litert_build.sources.download import Fetcher
from litert_build.sources.lock import Lfs
from litert_build.sources.network import WAYS_ON, Permanent, check_status, redact

_MEDIA = "application/vnd.git-lfs+json"
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n")


@dataclass(frozen=True)
class Pointer:
    """What a pointer file says: the sha256 and the size in bytes of the file it stands for."""

    oid: str
    size: int


def read_pointer(file: Path) -> Pointer | None:
    """Return what a pointer file says, None for any other file."""
    if file.is_symlink() or file.stat().st_size > 1024:
        return None
    match = _POINTER.fullmatch(file.read_bytes())
    return Pointer(match.group(1).decode(), int(match.group(2))) if match else None


def materialise(folder: Path, lfs: Lfs, fetcher: Fetcher, *, where: str) -> list[str]:
    """Replace the pointers below `folder` that match `lfs.include` by their files; return their paths, sorted.

    Raises BuildError where a pattern matches no file, or an object is not to be had.
    """
    files = sorted(str((Path(parent) / name).relative_to(folder).as_posix()) for parent, _, names in os.walk(folder) for name in names)
    chosen: dict[str, Pointer] = {}
    for pattern in lfs.include:
        matched = fnmatch.filter(files, pattern)
        if not matched:
            raise BuildError(f"the LFS pattern {pattern!r} matches no file", where=where, mend="correct lfs.include in the lock")
        chosen |= {name: pointer for name in matched if (pointer := read_pointer(folder / name))}
    missing = {pointer.oid: pointer for pointer in chosen.values() if not fetcher.store.blob(pointer.oid).exists()}
    if missing:
        fetcher.network.refuse_offline(lfs.url, f"the LFS object {next(iter(missing))}")
        for oid, (href, headers) in _locate(lfs, list(missing.values()), fetcher, where).items():
            fetcher.fetch(f"LFS object {oid[:12]}", (href,), oid, headers)
    for name, pointer in chosen.items():
        mode = (folder / name).stat().st_mode
        shutil.copyfile(fetcher.store.blob(pointer.oid), folder / name)
        (folder / name).chmod(mode)
    return sorted(chosen)


def _locate(lfs: Lfs, pointers: list[Pointer], fetcher: Fetcher, where: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Ask the batch API where the objects are: oid -> address and headers."""
    request = {"operation": "download", "transfers": ["basic"], "hash_algo": "sha256"}
    objects = [{"oid": pointer.oid, "size": pointer.size} for pointer in pointers]

    def ask(url: str) -> dict[str, Any]:
        headers = {**fetcher.network.headers(url), "Accept": _MEDIA, "Content-Type": _MEDIA}
        response = fetcher.client.post(url, json={**request, "objects": objects}, headers=headers)
        check_status(response)
        try:
            return dict(response.json())
        except ValueError as error:
            raise Permanent("the answer is not JSON") from error

    url = fetcher.network.rewrite(lfs.url).rstrip("/") + "/objects/batch"
    try:
        answer = fetcher.network.attempt(url, ask)
    except Permanent as error:
        raise BuildError(f"the LFS server does not answer: {error}", where=redact(url), mend=WAYS_ON) from error
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for item in answer.get("objects", ()):
        if download := item.get("actions", {}).get("download"):
            found[item["oid"]] = (download["href"], dict(download.get("header", {})))
        elif "error" in item:
            raise BuildError(
                f"the LFS object {item['oid']} is not to be had: {item['error'].get('message', '')}", where=redact(url), mend=WAYS_ON
            )
    for pointer in pointers:
        if pointer.oid not in found:
            raise BuildError(f"the LFS server says nothing about object {pointer.oid}", where=redact(url), mend=WAYS_ON)
    return found
