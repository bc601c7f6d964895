"""Owns the interpretation of repository rules written in Starlark: their implementation runs against a ctx that notes what it asks for.

    repository = interpret(rule, "farmhash", attrs, services)      # tf_http_archive and its likes, as a lock entry

What can be said in a lock (one archive, patches, links to files of other repositories, written files, single downloads) is noted; what
depends on this machine (execute, which, environment) makes the repository unavailable, with the reason. Rules: the repository_ctx
reference of Bazel 7.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litert_build.bazel.labels import Label
from litert_build.bazel.providers import Struct
from litert_build.sources.lock import FileRef, Patch, Repository
from litert_build.sources.repository_rules import check_archive_type, from_integrity
from litert_build.starlark.values import Builtin, EvalError, StarlarkDict, Value


@dataclass(frozen=True)
class Services:
    """What an interpretation needs of the evaluation around it: labels from text, trees of other repositories (`tree` makes a missing
    one, `made` does not)."""

    to_label: Callable[[Any], Label]
    tree: Callable[[str], Path]
    made: Callable[[str], Path | None]


class RepositoryPath(Value):
    """A path: into the repository that is being made (`inner`), or of a file of another one (`label`)."""

    type_name = "path"

    def __init__(self, inner: str, label: Label | None, context: Recorder) -> None:
        self.inner, self.label, self.context = inner, label, context

    def __truediv__(self, other: str) -> RepositoryPath:
        return self.child(other)

    def child(self, *names: str) -> RepositoryPath:
        return RepositoryPath(posixpath.join(self.inner, *names), self.label, self.context)

    def starlark_attr(self, name: str) -> Any:
        if name == "basename":
            return posixpath.basename(self.inner)
        if name == "dirname":
            return RepositoryPath(posixpath.dirname(self.inner), self.label, self.context)
        if name == "get_child":
            return Builtin(name, self.child)
        if name == "exists":
            return self.context.exists(self)
        return super().starlark_attr(name)

    def starlark_str(self) -> str:
        return self.inner


@dataclass
class Recorder(Value):
    """The ctx of a repository rule."""

    type_name = "repository_ctx"

    repository: Repository
    attrs: Mapping[str, Any]
    services: Services
    archives: int = 0
    files: dict[str, FileRef] = field(default_factory=dict)
    patches: list[Patch] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    __hash__ = object.__hash__

    def starlark_attr(self, name: str) -> Any:
        if name == "attr":
            return Struct(dict(self.attrs))
        if name == "name":
            return self.repository.name
        if name == "os":
            return Struct({"name": "linux", "arch": "amd64", "environ": StarlarkDict()})
        if name == "workspace_root":
            main = self.services.to_label("//:WORKSPACE")
            return RepositoryPath("", Label(main.repository, "", ""), self)
        methods: dict[str, Callable[..., Any]] = {
            "path": self.path, "download_and_extract": self.download_and_extract, "download": self.download, "patch": self.patch,
            "symlink": self.symlink, "file": self.file, "template": self.template, "delete": self.delete, "read": self.read,
            "getenv": lambda name, default=None: default, "report_progress": lambda text: None, "watch": lambda path: None,
        }  # fmt: skip
        if name in methods:
            return Builtin(name, methods[name])
        raise EvalError(f"repository rule '{self.repository.rule}' uses ctx.{name}, which depends on the machine it runs on")

    # Paths

    def path(self, target: Any) -> RepositoryPath:
        if isinstance(target, RepositoryPath):
            return target
        if isinstance(target, Label):
            return RepositoryPath(posixpath.join(target.package, target.name), target, self)
        return RepositoryPath(_plain(target), None, self)

    def reference(self, target: Any) -> FileRef:
        """Return a file of another repository. Raises EvalError for a folder or one of this repository."""
        path = self.path(target if not isinstance(target, str) or not target.startswith(("@", "//")) else self.services.to_label(target))
        if path.label is None:
            raise EvalError(f"ctx of '{self.repository.name}' reads {path.inner!r} of the repository that is being made")
        made = self.services.made(path.label.repository)
        if made is not None and (made / path.inner).is_dir():
            raise EvalError(f"ctx of '{self.repository.name}' takes the whole folder {path.inner!r} of {path.label.repository}")
        return FileRef(repository=path.label.repository, inner=path.inner)

    def exists(self, path: RepositoryPath) -> bool:
        if path.label is None:
            raise EvalError(f"ctx of '{self.repository.name}' asks whether {path.inner!r} exists in the repository that is being made")
        return (self.services.tree(path.label.repository) / path.inner).exists()

    # What makes the tree

    def download_and_extract(
        self, url: Any, output: Any = "", sha256: str = "", type: str = "", strip_prefix: str = "", integrity: str = "", **more: Any
    ) -> Struct:
        check_archive_type(type)
        self.archives += 1
        if self.archives > 1:
            raise EvalError(f"repository rule '{self.repository.rule}' extracts more than one archive")
        prefix = (strip_prefix or more.get("stripPrefix", "")).strip("/")
        self.repository = replace(
            self.repository,
            urls=_urls(url),
            sha256=sha256.lower() or from_integrity(integrity),
            strip_prefix=prefix,
            add_prefix=self.path(output).inner,
        )
        return Struct({"success": True, "sha256": sha256, "integrity": integrity})

    def download(self, url: Any, output: Any = "", sha256: str = "", executable: bool = False, integrity: str = "", **_: Any) -> Struct:
        digest = sha256.lower() or from_integrity(integrity)
        self.files[self.path(output).inner] = FileRef(urls=_urls(url), sha256=digest, executable=executable)
        return Struct({"success": True, "sha256": digest, "integrity": integrity})

    def patch(self, patch_file: Any, strip: int = 0, **_: Any) -> None:
        if self.files:
            raise EvalError(f"repository rule '{self.repository.rule}' patches after it placed files")
        self.patches.append(Patch(self.reference(patch_file), strip))

    def symlink(self, target: Any, link_name: Any) -> None:
        self.files[self.path(link_name).inner] = self.reference(target)

    def file(self, path: Any, content: str = "", executable: bool = True, legacy_utf8: bool = False) -> None:
        self.files[self.path(path).inner] = FileRef(content=content, executable=executable)

    def template(self, path: Any, template: Any, substitutions: Any = (), executable: bool = True, **_: Any) -> None:
        text = self.read(template)
        for old, new in dict(substitutions).items():
            text = text.replace(old, new)
        self.file(path, text, executable)

    def delete(self, path: Any) -> bool:
        inner = self.path(path).inner
        if self.files.pop(inner, None) is None:
            self.deleted.append(inner)
        return True

    def read(self, path: Any, **_: Any) -> str:
        reference = self.reference(path)
        return (self.services.tree(reference.repository) / reference.inner).read_text(encoding="utf-8")

    def finished(self) -> Repository:
        """Return the lock entry. Raises EvalError where nothing was asked for."""
        removed = [inner for inner in self.deleted if inner not in self.files]
        if not (self.repository.urls or self.files):
            raise EvalError(f"repository rule '{self.repository.rule}' makes nothing")
        commands = (f"rm -rf -- {' '.join(map(shlex.quote, removed))}",) if removed else ()
        return replace(self.repository, patches=tuple(self.patches), patch_cmds=commands, link_files=self.files)


def interpret(rule_name: str, implementation: Any, name: str, attrs: Mapping[str, Any], services: Services) -> Repository:
    """Return the lock entry that a Starlark repository rule amounts to. Raises EvalError, or what its implementation fails with."""
    recorder = Recorder(Repository(name=name, rule=rule_name), attrs, services)
    implementation(recorder)
    return recorder.finished()


def _plain(path: Any) -> str:
    plain = posixpath.normpath(str(path)) if path else ""
    if plain.startswith(("/", "..")):
        raise EvalError(f"{path!r} leads out of the repository")
    return "" if plain == "." else plain


def _urls(url: Any) -> tuple[str, ...]:
    urls = (url,) if isinstance(url, str) else tuple(url)
    if not urls or not all(isinstance(item, str) for item in urls):
        raise EvalError(f"no address to download from: {url!r}")
    return urls
