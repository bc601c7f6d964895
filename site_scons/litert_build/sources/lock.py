"""Owns lock files: the only description of what a build is made of.

    lock = Lock.read(Path("third_party/refs/sample.json"))
    lock.repositories["litert"].path

Paths in a lock are relative to the folder of the lock file. docs/refs-and-locks.md describes each field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from litert_build.errors import BuildError, nearest
from litert_build.sources.fields import Fields, read_json

SCHEMA = 1


@dataclass(frozen=True)
class FileRef:
    """One file that goes into a tree: `path` on this machine, or `inner` inside another `repository` of the lock, or its
    `content`, or a download from `urls`. `sha256` is checked where it is given; a download always has one."""

    path: Path | None = None
    repository: str = ""
    inner: str = ""
    content: str | None = None
    urls: tuple[str, ...] = ()
    sha256: str = ""
    executable: bool = False


@dataclass(frozen=True)
class Patch:
    """One unified diff and how many leading path components (`patch -p`) its names carry too many."""

    file: FileRef
    strip: int = 0


@dataclass(frozen=True)
class Edit:
    """One text of one file that is replaced. `file` is a path or a pattern (fnmatch, `*` also matches /) that fits one file; `find`
    must stand in it exactly once."""

    file: str
    find: str
    replace: str


@dataclass(frozen=True)
class Cargo:
    """A crate whose static library stands for the repository: the package to build, the headers C++ code includes (paths in the crate, or
    `vendor/NAME/...` in a crate it needs; they land in include/), the Rust files with a cxx bridge, and whether the MSVC runtime is the
    static one. `crates` is the address below which the crates of Cargo.lock are fetched; without it they lie in the folder vendor/.
    `crate_patches` are applied to them, by name."""

    package: str
    headers: tuple[str, ...] = ()
    bridges: tuple[str, ...] = ()
    static_crt: bool = True
    crates: str = ""
    crate_patches: dict[str, tuple[Patch, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Lfs:
    """Git LFS pointers to replace by their files: the server's `url` (the part before /objects/batch) and which paths (`include`,
    fnmatch patterns over tree-relative paths)."""

    url: str
    include: tuple[str, ...]


@dataclass(frozen=True)
class Repository:
    """One external (or the main) repository: a `path` to a local tree, or `urls` with the sha256 of an archive, or a `git` remote
    with a commit; or none of them where `link_files` are all there is.

    A tree is made in this order: extract and strip `strip_prefix` (under `add_prefix`), fetch `lfs`, write `build_file` as
    BUILD.bazel, apply `patches` and `edits`, run `patch_cmds`, place `link_files`, place `overlay`; the last two map a path inside the
    tree to the file that stands there. Of a `cargo` repository the tree is then what sources/rust makes of it.

    `repo_mapping` maps apparent repository names, as this repository writes them, to names of this lock. `rule`, `location` and
    `shadowed` say where the entry comes from: the repository rule, the declaring file:line, and later declarations of the same name
    that the first one kept out.
    """

    name: str
    path: Path | None = None
    urls: tuple[str, ...] = ()
    sha256: str = ""
    git: str = ""
    commit: str = ""
    strip_prefix: str = ""
    add_prefix: str = ""
    lfs: Lfs | None = None
    build_file: FileRef | None = None
    patches: tuple[Patch, ...] = ()
    edits: tuple[Edit, ...] = ()
    patch_cmds: tuple[str, ...] = ()
    patch_cmds_win: tuple[str, ...] = ()
    link_files: dict[str, FileRef] = field(default_factory=dict)
    overlay: dict[str, Path] = field(default_factory=dict)
    repo_mapping: dict[str, str] = field(default_factory=dict)
    cargo: Cargo | None = None
    rule: str = ""
    location: str = ""
    shadowed: tuple[str, ...] = ()

    def references(self) -> list[FileRef]:
        """Return every file of elsewhere that goes into the tree, in the order of use."""
        first = [self.build_file] if self.build_file else []
        return [
            *first,
            *(patch.file for patch in self.patches),
            *self.link_files.values(),
            *(FileRef(path) for path in self.overlay.values()),
            *(patch.file for patches in (self.cargo.crate_patches.values() if self.cargo else ()) for patch in patches),
        ]


@dataclass(frozen=True)
class Product:
    """What is made of the roots: one host library (`kind` "host") or their objects ("objects").

    `library` overrides the file name of the target's row; `required` and `allowed` are C symbol names (allowed also takes a
    trailing `*`); what is required is allowed. `headers` are patterns of exec paths: the C functions that these headers declare are
    allowed in place of the patterns of `allowed`. `registrations` are labels of libraries that register themselves and must be linked.
    """

    kind: Literal["host", "objects"]
    library: str = ""
    required: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    registrations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lock:
    """One parsed lock file. `roots` are labels or `//pkg/...` patterns in the main repository; `flags` set build settings by label,
    `defines` the --define pairs, `copts`/`cxxopts`/`conlyopts`/`linkopts` the global options of the target configuration, `bindings`
    what bind() declared (`//external:NAME` by name), `commit` the commit that the release tag meant when the lock was made. `policy`
    names the release of upstream whose rules (policy/refs) add link mode, defines, roots and required exports by target; it is empty
    for a lock that says all itself."""

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
    bindings: dict[str, str] = field(default_factory=dict)
    policy: str = ""

    @staticmethod
    def read(file: Path) -> Lock:
        """Parse and validate `file`. Raises BuildError that names the file and the faulty field."""
        data = read_json(file, "regenerate it with scons lock", missing="name an existing file with lock=PATH")
        return _parse(file, data)


LOCK_FIELDS = (
    "schema", "ref", "release", "commit", "main", "roots", "product", "link_mode", "flags", "defines", "copts", "cxxopts",
    "conlyopts", "linkopts", "visibility", "bindings", "policy", "repositories",
)  # fmt: skip
REPOSITORY_FIELDS = (
    "rule", "location", "path", "urls", "sha256", "git", "commit", "strip_prefix", "add_prefix", "lfs", "build_file", "patches",
    "edits", "patch_cmds", "patch_cmds_win", "link_files", "overlay", "repo_mapping", "cargo", "shadowed",
)  # fmt: skip


def _parse(file: Path, data: Any) -> Lock:
    if isinstance(data, dict) and data.get("schema") != SCHEMA:
        raise BuildError(f"lock schema {data.get('schema')} is not {SCHEMA}", where=str(file), mend="regenerate it with scons lock")
    fields = Fields(file, "", data, LOCK_FIELDS)
    base = file.resolve().parent
    repositories = {name: read_repository(file, base, name, value) for name, value in fields.mapping("repositories").items()}
    for name in repositories:
        _file_name(fields, "repositories", name)
    _check_references(file, repositories)
    main = fields.text("main")
    if main not in repositories:
        raise BuildError(f"main repository {main!r} is not among the repositories", where=str(file), mend=nearest(main, repositories))
    if not fields.items("roots"):
        fields.fault("roots", "at least one label is expected")
    return Lock(
        file=file,
        ref=_file_name(fields, "ref", fields.text("ref")),
        release=fields.text("release", fields.text("ref")),
        commit=fields.text("commit", ""),
        main=main,
        repositories=repositories,
        roots=fields.texts("roots"),
        product=_product(file, fields.mapping("product")),
        link_mode=fields.choice("link_mode", ("static", "dynamic", "none"), "static"),
        flags=fields.text_mapping("flags"),
        defines=fields.text_mapping("defines"),
        copts=fields.texts("copts"),
        cxxopts=fields.texts("cxxopts"),
        conlyopts=fields.texts("conlyopts"),
        linkopts=fields.texts("linkopts"),
        visibility=fields.choice("visibility", ("checked", "advisory"), "checked"),
        bindings=fields.text_mapping("bindings"),
        policy=fields.text("policy", ""),
    )


def _product(file: Path, data: dict[str, Any]) -> Product:
    fields = Fields(file, "product", data, ("kind", "library", "required", "allowed", "headers", "registrations"))
    kind = fields.choice("kind", ("host", "objects"))
    library = fields.text("library", "")
    return Product(
        kind, library and _file_name(fields, "library", library), *map(fields.texts, ("required", "allowed", "headers", "registrations"))
    )


def read_repository(file: Path, base: Path, name: str, data: Any, place: str = "repositories") -> Repository:
    """Read one entry; raises BuildError that names `file` and the field below `place`."""
    fields = Fields(file, f"{place}.{name}", data, REPOSITORY_FIELDS)
    sources = [source for source in ("path", "urls", "git") if source in fields]
    if len(sources) > 1 or not (sources or "link_files" in fields):
        raise BuildError(f"repository {name!r} needs exactly one of path, urls and git", where=str(file), mend="see docs/refs-and-locks.md")
    _check_identity(file, name, fields)
    return Repository(
        name=name,
        path=base / fields.text("path") if "path" in fields else None,
        urls=_addresses(base, fields.texts("urls")),
        sha256=fields.text("sha256", "").lower(),
        git=fields.text("git", ""),
        commit=fields.text("commit", ""),
        strip_prefix=fields.text("strip_prefix", ""),
        add_prefix=inner_path(fields, "add_prefix", fields.text("add_prefix", "")),
        lfs=_lfs(file, name, fields),
        build_file=_file_ref(fields, base, "build_file", fields.data["build_file"]) if "build_file" in fields else None,
        patches=_patches(file, base, f"repositories.{name}.patches", fields.items("patches", [])),
        edits=tuple(read_edit(file, f"repositories.{name}.edits[{at}]", value) for at, value in enumerate(fields.items("edits", []))),
        patch_cmds=fields.texts("patch_cmds"),
        patch_cmds_win=fields.texts("patch_cmds_win"),
        link_files={
            inner_path(fields, f"link_files.{inner}", inner): _file_ref(fields, base, f"link_files.{inner}", value)
            for inner, value in fields.mapping("link_files", {}).items()
        },
        overlay={inner_path(fields, f"overlay.{inner}", inner): base / outer for inner, outer in fields.text_mapping("overlay").items()},
        repo_mapping={inner.lstrip("@"): outer.lstrip("@") for inner, outer in fields.text_mapping("repo_mapping").items()},
        cargo=_cargo(file, base, name, fields),
        rule=fields.text("rule", ""),
        location=fields.text("location", ""),
        shadowed=fields.texts("shadowed"),
    )


def _check_identity(file: Path, name: str, fields: Fields) -> None:
    if "urls" in fields:
        if not fields.texts("urls"):
            fields.fault("urls", "at least one address is expected")
        digest = fields.text("sha256", "")
        if not digest:
            raise BuildError(f"repository {name!r} has urls but no sha256", where=str(file), mend="add the sha256 of the archive")
        if not re.fullmatch(r"[0-9a-fA-F]{64}", digest):
            fields.fault("sha256", f"64 hex digits are expected, not {digest!r}")
    if "git" in fields and not re.fullmatch(r"[0-9a-f]{40}", fields.text("commit", "")):
        fields.fault("commit", f"the full 40 hex digits of a commit are expected, not {fields.text('commit', '')!r}")


def _file_name(fields: Fields, name: str, text: str) -> str:
    """Return `text` if it can name a file or folder of the build folder; raises BuildError for field `name` otherwise."""
    if not re.fullmatch(r"\w[\w.+~-]{0,199}", text, re.ASCII):
        fields.fault(name, f"{text!r} cannot name a file", mend="use letters, digits and . _ + ~ -")
    return text


def inner_path(fields: Fields, name: str, text: str) -> str:
    """Return `text` if it is a relative path that stays inside a tree; raises BuildError for field `name` otherwise."""
    parts = text.split("/")
    if text and (text.startswith("/") or "\\" in text or ":" in text or ".." in parts or "" in parts or "." in parts):
        fields.fault(name, f"{text!r} is not a plain path inside the tree")
    return text


def read_edit(file: Path, place: str, value: Any) -> Edit:
    """Read one edit; raises BuildError that names `file` and `place`."""
    fields = Fields(file, place, value, ("file", "find", "replace"))
    return Edit(fields.text("file"), fields.text("find"), fields.text("replace"))


def _lfs(file: Path, name: str, fields: Fields) -> Lfs | None:
    if "lfs" not in fields:
        return None
    inner = Fields(file, f"repositories.{name}.lfs", fields.data["lfs"], ("url", "include"))
    return Lfs(inner.text("url"), inner.texts("include"))


def _cargo(file: Path, base: Path, name: str, fields: Fields) -> Cargo | None:
    if "cargo" not in fields:
        return None
    known = ("package", "headers", "bridges", "static_crt", "crates", "crate_patches")
    inner = Fields(file, f"repositories.{name}.cargo", fields.data["cargo"], known)
    return Cargo(
        package=inner.text("package"),
        headers=inner.texts("headers"),
        bridges=inner.texts("bridges"),
        static_crt=bool(inner.raw("static_crt", bool, True)),
        crates=inner.text("crates", ""),
        crate_patches={
            crate: _patches(file, base, f"repositories.{name}.cargo.crate_patches.{crate}", patches)
            for crate, patches in inner.mapping("crate_patches", {}).items()
        },
    )


def _patches(file: Path, base: Path, place: str, values: Any) -> tuple[Patch, ...]:
    return tuple(_patch(file, base, f"{place}[{at}]", value) for at, value in enumerate(values))


def _patch(file: Path, base: Path, place: str, value: Any) -> Patch:
    fields = Fields(file, place, value, ("file", "content", "urls", "sha256", "strip"))
    reference = {key: value for key, value in fields.data.items() if key != "strip"}
    return Patch(_file_ref(fields, base, "file", reference), fields.number("strip", 0))


def _file_ref(fields: Fields, base: Path, name: str, value: Any) -> FileRef:
    """Read `"path"`, `"@repository//package:file"` or an object with one of `file`, `content` and `urls`, `sha256` and `executable`."""
    data = {"file": value} if isinstance(value, str) else value
    inner = Fields(fields.file, f"{fields.place}.{name}", data, ("file", "content", "urls", "sha256", "executable"))
    if len([source for source in ("file", "content", "urls") if source in inner]) != 1:
        fields.fault(name, "exactly one of file, content and urls is expected")
    digest, executable = inner.text("sha256", "").lower(), bool(inner.raw("executable", bool, False))
    if "content" in inner:
        return FileRef(content=inner.text("content"), sha256=digest, executable=executable)
    if "urls" in inner:
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            inner.fault("sha256", f"64 hex digits are expected, not {digest!r}")
        return FileRef(urls=_addresses(base, inner.texts("urls")), sha256=digest, executable=executable)
    text = inner.text("file")
    if not text.startswith("@"):
        return FileRef(path=base / text, sha256=digest, executable=executable)
    label = re.fullmatch(r"@([\w.+~-]+)//([^:]*):(.+)", text)
    if label is None:
        fields.fault(name, f"{text!r} is not a label of a file, as in @repository//package:file")
    repository, package, file = label.groups()
    return FileRef(repository=repository, inner=f"{package}/{file}" if package else file, sha256=digest, executable=executable)


def _addresses(base: Path, urls: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(url if re.match(r"[a-z][a-z0-9+.-]+:", url) else (base / url).as_uri() for url in urls)


def _check_references(file: Path, repositories: dict[str, Repository]) -> None:
    for repository in repositories.values():
        for reference in repository.references():
            if reference.repository and reference.repository not in repositories:
                raise BuildError(
                    f"repository {repository.name!r} takes {reference.inner} from {reference.repository!r}, which is not in the lock",
                    where=str(file),
                    mend=nearest(reference.repository, repositories),
                )
