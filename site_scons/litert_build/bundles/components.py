"""Owns what a host is made of, for people who must know: each repository, crate and companion with version, licence and digest.

parts = repository_components(lock, trees={"litert_lm": Path("...")})
notice(parts)      # the text of NOTICE

Licence texts come from the source trees themselves; a component without one is refused. SPDX identifiers are those of the SPDX
licence list; an unknown text becomes a LicenseRef, and is printed all the same.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from litert_build.bundles.checksums import sha256_file
from litert_build.bundles.layout import library_in
from litert_build.errors import BuildError
from litert_build.policy.companions import UPSTREAM, Companion
from litert_build.sources.lock import Lock, Repository
from litert_build.sources.rust import PAPERS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CODE = (".c", ".cc", ".cpp", ".h", ".py", ".rs", ".go", ".js", ".bzl", ".bazel", ".html")

# What stands in the text of a licence and in no other's, after white space and case are levelled.
_TELLTALES = (
    ("Apache-2.0 WITH LLVM-exception", "llvm exceptions to the apache 2.0 license"),
    ("Apache-2.0", "apache license version 2.0"),
    ("MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("BSD-3-Clause", "neither the name"),
    ("BSD-2-Clause", "redistribution and use in source and binary forms"),
    ("BSL-1.0", "boost software license - version 1.0"),
    ("MPL-2.0", "mozilla public license version 2.0"),
    ("Zlib", "provided 'as-is', without any express or implied warranty"),
    ("ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"),
    ("Unicode-3.0", "unicode license v3"),
    ("Unlicense", "this is free and unencumbered software released into the public domain"),
    ("CC0-1.0", "cc0 1.0 universal"),
)
_COVERS = {"Apache-2.0 WITH LLVM-exception": "Apache-2.0", "BSD-3-Clause": "BSD-2-Clause"}


@dataclass(frozen=True)
class Component:
    """One part of the bundle. `sha256` is of what was downloaded, or of the tree or file where nothing was; `licence` is an SPDX
    expression, `texts` are (file name, content) of its licence files."""

    name: str
    version: str
    kind: Literal["repository", "crate", "companion"]
    url: str
    sha256: str
    licence: str
    texts: tuple[tuple[str, str], ...] = ()
    commit: str = ""


def identify_licence(texts: Iterable[str], name: str) -> str:
    """Return the SPDX expression for licence texts: one identifier, several joined by AND, or LicenseRef-<name> for unknown words."""
    level = re.sub(
        r"\s+",
        " ",
        re.sub(r",? ?version 2\.0", " version 2.0", " ".join(texts).lower().replace("“", "'").replace("”", "'").replace('"', "'")),
    )
    found = [spdx for spdx, words in _TELLTALES if words in level]
    found = [spdx for spdx in found if not any(_COVERS.get(other) == spdx for other in found)]
    return " AND ".join(found) if found else f"LicenseRef-{re.sub(r'[^A-Za-z0-9.-]', '-', name)}"


def licence_texts(tree: Path) -> tuple[tuple[str, str], ...]:
    """Return (name, content) of the licence files at the top of a tree and in its LICENSES folder, sorted."""
    folders = [tree, tree / "LICENSES"]
    files = [path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()]
    wanted = [path for path in files if path.parent != tree or (PAPERS.fullmatch(path.name) and path.suffix not in _CODE)]
    return tuple((path.relative_to(tree).as_posix(), path.read_text(encoding="utf-8", errors="replace")) for path in sorted(wanted))


def repository_components(
    lock: Lock, trees: Mapping[str, Path], fallback: Path | None = None, local: Collection[str] = ()
) -> list[Component]:
    """Return one component a repository of the lock that is in `trees` (name -> the tree that was built), and one a crate of each that
    cargo builds.

    `fallback` is the licence file of trees that belong to this project; `local` names those that were replaced by a checkout.
    Raises BuildError for a tree that has no licence.
    """
    parts = []
    for name in sorted(trees):
        row = lock.repositories[name]
        if name in local:
            row = replace(row, path=trees[name], urls=(), sha256="", git="", commit="")
        texts = licence_texts(trees[name])
        if not texts and row.path is not None and fallback is not None:
            texts = ((fallback.name, fallback.read_text(encoding="utf-8")),)
        if not texts:
            raise BuildError(
                f"repository {name!r} has no licence file",
                where=str(trees[name]),
                mend="add one to its overlay in the lock, from its project",
            )
        own = name == lock.main and name not in local
        version = lock.ref if own else _version(row)
        licence = identify_licence((text for _, text in texts), name)
        digest = row.sha256 or tree_digest(trees[name])
        commit = row.commit or (lock.commit if own else "")
        parts.append(Component(name, version, "repository", _url(row), digest, licence, texts, commit))
        if row.cargo is not None:
            parts += crate_components(trees[name] / "Cargo.lock", trees[name] / "crates")
    return list(dict.fromkeys(parts))


def _url(row: Repository) -> str:
    return row.git or (row.urls[0] if row.urls else "")


def _version(row: Repository) -> str:
    """The version in the address of an archive, its commit, or `local`."""
    match = re.search(r"[-/]v?(\d+(?:\.\d+)+[\w.-]*?)(?:\.tar\.\w+|\.tgz|\.zip|/|$)", _url(row))
    return match[1] if match else row.commit[:12] or (row.sha256[:12] if row.sha256 else "local")


def tree_digest(tree: Path) -> str:
    """Return a digest over the paths and contents of a tree, without its .git folder."""
    files = sorted(path for path in tree.rglob("*") if path.is_file() and ".git" not in path.relative_to(tree).parts)
    lines = "".join(f"{sha256_file(path)}  {path.relative_to(tree).as_posix()}\n" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def crate_components(cargo_lock: Path, vendor: Path) -> list[Component]:
    """Return one component a crate of Cargo.lock that comes from a registry; manifests and texts are read from the vendored sources.

    Raises BuildError for a crate that is not vendored, and for one that states no licence.
    """
    packages = tomllib.loads(cargo_lock.read_text(encoding="utf-8")).get("package", [])
    return [_crate(row, vendor, cargo_lock) for row in packages if row.get("checksum")]


def _crate(row: Mapping[str, Any], vendor: Path, cargo_lock: Path) -> Component:
    name, version = row["name"], row["version"]
    folder = next((path for path in (vendor / f"{name}-{version}", vendor / name) if (path / "Cargo.toml").is_file()), None)
    manifest = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))["package"] if folder else {}
    if folder is None or manifest.get("version") != version:
        raise BuildError(f"crate {name} {version} is not vendored", where=str(cargo_lock), mend="run cargo vendor --versioned-dirs")
    texts = licence_texts(folder)
    licence = str(manifest.get("license", "")).replace("/", " OR ") or (
        identify_licence((text for _, text in texts), name) if texts else ""
    )
    if not licence:
        raise BuildError(
            f"crate {name} {version} states no licence", where=str(folder / "Cargo.toml"), mend="ask its authors, or do without it"
        )
    return Component(name, version, "crate", f"https://crates.io/crates/{name}/{version}", row["checksum"], licence, texts)


_COMPANION_LICENCES = {"dxcompiler.dll": "NCSA AND MIT", "dxil.dll": "LicenseRef-Microsoft-DXC"}


def companion_components(rows: Iterable[Companion], digests: Mapping[str, str], compatibility: str) -> list[Component]:
    """Return one component a companion. `digests` are those of the files by path under the layout's folder."""
    parts = []
    for row in rows:
        if row.source == "dxc" and row.file.endswith(".txt"):
            continue
        repository = "microsoft/DirectXShaderCompiler" if row.source == "dxc" else UPSTREAM
        licence = _COMPANION_LICENCES.get(row.file, "Apache-2.0")
        parts.append(
            Component(row.file, compatibility, "companion", f"https://github.com/{repository}", digests[library_in(row.file)], licence)
        )
    return parts


def notice(parts: Iterable[Component]) -> str:
    """Return the text of NOTICE: what the bundle holds, and every licence text once, with the components that it covers."""
    parts = list(parts)
    lines = ["This software contains the following components.", ""]
    lines += [f"{part.name} {part.version} ({part.licence}) {part.url}".rstrip() for part in parts]
    owners: dict[str, list[str]] = {}
    for part in parts:
        for file, text in part.texts:
            owners.setdefault(text.strip("\n"), []).append(f"{part.name} {part.version}: {file}")
    for text, names in owners.items():
        lines += ["", "=" * 79, *names, "=" * 79, "", text]
    return "\n".join(lines) + "\n"


def components_digest(parts: Iterable[Component]) -> str:
    """Return a digest over all components; it names the SBOM's serial number."""
    rows = [[part.name, part.version, part.kind, part.sha256, part.licence] for part in parts]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
