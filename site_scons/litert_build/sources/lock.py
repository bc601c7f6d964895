"""Owns lock files: the only description of what a build is made of.

    lock = Lock.read(Path("third_party/refs/sample.json"))
    lock.repositories["litert"].path

Paths in a lock are relative to the folder of the lock file. docs/refs-and-locks.md describes each field.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from litert_build.errors import BuildError, nearest

SCHEMA = 1


@dataclass(frozen=True)
class Repository:
    """One external (or the main) repository: a `path` to a local tree, or `urls` with the sha256 of an archive.

    `overlay` maps a path inside the tree (a BUILD file, a .bzl, a generated file) to the file that stands there instead;
    `repo_mapping` maps apparent repository names, as this repository writes them, to names of this lock.
    """

    name: str
    path: Path | None = None
    urls: tuple[str, ...] = ()
    sha256: str = ""
    strip_prefix: str = ""
    overlay: dict[str, Path] = field(default_factory=dict)
    repo_mapping: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Product:
    """What is made of the roots: one host library (`kind` "host") or their objects ("objects").

    `library` overrides the file name of the target's row; `required` and `allowed` are C symbol names (allowed also takes a
    trailing `*`); what is required is allowed.
    """

    kind: Literal["host", "objects"]
    library: str = ""
    required: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lock:
    """One parsed lock file. `roots` are labels or `//pkg/...` patterns in the main repository; `flags` set build settings by label,
    `defines` the --define pairs, `copts`/`cxxopts`/`conlyopts`/`linkopts` the global options of the target configuration."""

    file: Path
    ref: str
    release: str
    main: str
    repositories: dict[str, Repository]
    roots: tuple[str, ...]
    product: Product
    link_mode: Literal["static", "dynamic", "none"] = "static"
    flags: dict[str, str] = field(default_factory=dict)
    defines: dict[str, str] = field(default_factory=dict)
    copts: tuple[str, ...] = ()
    cxxopts: tuple[str, ...] = ()
    conlyopts: tuple[str, ...] = ()
    linkopts: tuple[str, ...] = ()
    visibility: Literal["checked", "advisory"] = "checked"
    commit: str = ""

    @staticmethod
    def read(file: Path) -> Lock:
        """Parse and validate `file`. Raises BuildError that names the file and the faulty field."""
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise BuildError(
                f"cannot read the lock: {error.strerror}", where=str(file), mend="name an existing file with lock=PATH"
            ) from error
        except ValueError as error:
            raise BuildError(f"the lock is not valid JSON: {error}", where=str(file), mend="regenerate it with scons lock") from error
        return _parse(file, data)


_FIELDS = {
    "schema", "ref", "release", "commit", "main", "repositories", "roots", "product", "link_mode", "flags", "defines", "copts", "cxxopts",
    "conlyopts", "linkopts", "visibility",
}  # fmt: skip


def _parse(file: Path, data: dict[str, Any]) -> Lock:
    if data.get("schema") != SCHEMA:
        raise BuildError(f"lock schema {data.get('schema')} is not {SCHEMA}", where=str(file), mend="regenerate it with scons lock")
    for name in data:
        if name not in _FIELDS:
            raise BuildError(f"unknown field {name!r} in the lock", where=str(file), mend=nearest(name, _FIELDS))
    base = file.resolve().parent
    repositories = {name: _repository(file, base, name, fields) for name, fields in data["repositories"].items()}
    if data["main"] not in repositories:
        raise BuildError(
            f"main repository {data['main']!r} is not among the repositories", where=str(file), mend=nearest(data["main"], repositories)
        )
    product = data["product"]
    return Lock(
        file=file,
        ref=data["ref"],
        release=data.get("release", data["ref"]),
        commit=data.get("commit", ""),
        main=data["main"],
        repositories=repositories,
        roots=tuple(data["roots"]),
        product=Product(product["kind"], product.get("library", ""), tuple(product.get("required", ())), tuple(product.get("allowed", ()))),
        link_mode=data.get("link_mode", "static"),
        flags=dict(data.get("flags", {})),
        defines=dict(data.get("defines", {})),
        copts=tuple(data.get("copts", ())),
        cxxopts=tuple(data.get("cxxopts", ())),
        conlyopts=tuple(data.get("conlyopts", ())),
        linkopts=tuple(data.get("linkopts", ())),
        visibility=data.get("visibility", "checked"),
    )


def _repository(file: Path, base: Path, name: str, fields: dict[str, Any]) -> Repository:
    if ("path" in fields) == ("urls" in fields):
        raise BuildError(f"repository {name!r} needs either path or urls", where=str(file))
    if "urls" in fields and not fields.get("sha256"):
        raise BuildError(f"repository {name!r} has urls but no sha256", where=str(file), mend="add the sha256 of the archive")
    return Repository(
        name=name,
        path=base / fields["path"] if "path" in fields else None,
        urls=tuple(fields.get("urls", ())),
        sha256=fields.get("sha256", ""),
        strip_prefix=fields.get("strip_prefix", ""),
        overlay={inner: base / outer for inner, outer in fields.get("overlay", {}).items()},
        repo_mapping=dict(fields.get("repo_mapping", {})),
    )
