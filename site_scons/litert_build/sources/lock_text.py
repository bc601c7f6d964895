"""Owns the text of a lock file: the same lock gives the same bytes, paths relative to its folder, nothing that is at its default.

file.write_text(lock_text(lock), encoding="utf-8")
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from litert_build.sources.lock import SCHEMA, Cargo, FileRef, Lock, Patch, Repository


def lock_text(lock: Lock) -> str:
    """Return the JSON text that Lock.read takes for `lock`. Repositories stand in their order, the main one first."""
    base = lock.file.absolute().parent
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "ref": lock.ref,
        "release": lock.release if lock.release != lock.ref else "",
        "commit": lock.commit,
        "policy": lock.policy,
        "main": lock.main,
        "roots": list(lock.roots),
        "product": _filled(
            {
                "kind": lock.product.kind,
                "library": lock.product.library,
                "required": list(lock.product.required),
                "allowed": list(lock.product.allowed),
                "headers": list(lock.product.headers),
                "registrations": list(lock.product.registrations),
            }
        ),
        "link_mode": "" if lock.policy or lock.link_mode == "static" else lock.link_mode,
        "flags": lock.flags,
        "defines": lock.defines,
        "copts": list(lock.copts),
        "cxxopts": list(lock.cxxopts),
        "conlyopts": list(lock.conlyopts),
        "linkopts": list(lock.linkopts),
        "visibility": "" if lock.visibility == "checked" else lock.visibility,
        "bindings": lock.bindings,
        "repositories": {name: repository_data(lock.repositories[name], base) for name in lock.repositories},
    }
    return json.dumps(_filled(data), indent=2, ensure_ascii=False) + "\n"


def repository_data(repository: Repository, base: Path) -> dict[str, Any]:
    """Return one entry as it stands in the lock of folder `base`."""
    lfs = {"url": repository.lfs.url, "include": list(repository.lfs.include)} if repository.lfs else None
    return _filled(
        {
            "rule": repository.rule,
            "location": repository.location,
            "path": _relative(repository.path, base) if repository.path else None,
            "urls": [_address(url, base) for url in repository.urls],
            "sha256": repository.sha256,
            "git": repository.git,
            "commit": repository.commit,
            "strip_prefix": repository.strip_prefix,
            "add_prefix": repository.add_prefix,
            "lfs": lfs,
            "build_file": _file(repository.build_file, base) if repository.build_file else None,
            "patches": [_patch(patch, base) for patch in repository.patches],
            "edits": [{"file": edit.file, "find": edit.find, "replace": edit.replace} for edit in repository.edits],
            "patch_cmds": list(repository.patch_cmds),
            "patch_cmds_win": list(repository.patch_cmds_win),
            "link_files": {name: _file(reference, base) for name, reference in repository.link_files.items()},
            "overlay": {name: _relative(path, base) for name, path in repository.overlay.items()},
            "repo_mapping": repository.repo_mapping,
            "cargo": _cargo(repository.cargo, base) if repository.cargo else None,
            "shadowed": list(repository.shadowed),
        }
    )


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in (None, "", [], {})}


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path, base)).as_posix()


def _address(url: str, base: Path) -> str:
    here = base.as_uri() + "/"
    return url[len(here) :] if url.startswith(here) else url


def _file(reference: FileRef, base: Path) -> Any:
    if reference.content is not None:
        source: dict[str, Any] = {"content": reference.content}
    elif reference.urls:
        source = {"urls": [_address(url, base) for url in reference.urls]}
    elif reference.path is not None:
        source = {"file": _relative(reference.path, base)}
    else:
        package, _, name = reference.inner.rpartition("/")
        source = {"file": f"@{reference.repository}//{package}:{name}"}
    return {**source, **_filled({"sha256": reference.sha256}), **({"executable": True} if reference.executable else {})}


def _cargo(cargo: Cargo, base: Path) -> dict[str, Any]:
    patches = {crate: [_patch(patch, base) for patch in patches] for crate, patches in cargo.crate_patches.items()}
    named = _filled(
        {
            "package": cargo.package,
            "headers": list(cargo.headers),
            "bridges": list(cargo.bridges),
            "crates": cargo.crates,
            "crate_patches": patches,
        }
    )
    return named if cargo.static_crt else {**named, "static_crt": False}


def _patch(patch: Patch, base: Path) -> dict[str, Any]:
    data = dict(_file(patch.file, base))
    return {**data, "strip": patch.strip} if patch.strip else data
