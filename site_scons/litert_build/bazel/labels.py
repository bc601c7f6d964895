"""Owns labels: parsing, canonical text, repository mapping.

    parse_label("//a/b", "repo", "pkg", {})      # @repo//a/b:b

Rules: Bazel's "Labels" page and the Label reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from litert_build.starlark.values import Builtin, EvalError, Value

_TEXT = re.compile(r"(?:@@?(?P<repo>[^/:]*))?(?P<absolute>//)?(?P<package>[^:]*)(?P<colon>:)?(?P<name>.*)", re.DOTALL)
_BAD_NAME = re.compile(r"(^|/)\.\.?(/|$)|//|^/|/$|[:\\\x00-\x1f\x7f]|^$")
_BAD_PACKAGE = re.compile(r"(^|/)\.+(/|$)|//|^/|/$|[:\\\x00-\x1f\x7f]")
_BAD_REPOSITORY = re.compile(r"^[~]|[^A-Za-z0-9._~+-]")


class Label(Value):
    """One label. `repository` is the name in the lock, empty for the main repository."""

    type_name = "Label"
    __slots__ = ("_hash", "name", "package", "repository")

    def __init__(self, repository: str, package: str, name: str) -> None:
        self.repository = repository
        self.package = package
        self.name = name
        self._hash = hash((repository, package, name))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Label) and self.name == other.name and self.package == other.package and self.repository == other.repository
        )

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Label) -> bool:
        return (self.repository, self.package, self.name) < (other.repository, other.package, other.name)

    def __str__(self) -> str:
        return f"{'@' if self.repository else ''}{self.repository}//{self.package}:{self.name}"

    __repr__ = __str__

    def starlark_str(self) -> str:
        # one @, as Bazel writes str(Label()) where modules are off: TFLite's macros tell the two apart by it
        return f"@{self.repository}//{self.package}:{self.name}"

    def sibling(self, name: str) -> Label:
        return Label(self.repository, self.package, name)

    def starlark_attr(self, name: str) -> Any:
        if name in ("name", "package"):
            return getattr(self, name)
        if name in ("workspace_name", "repo_name"):
            return self.repository
        if name == "workspace_root":
            return f"external/{self.repository}" if self.repository else ""
        if name == "same_package_label":
            return Builtin(name, self.sibling)
        if name == "relative":
            return Builtin(name, lambda text: parse_label(text, self.repository, self.package, {}))
        return super().starlark_attr(name)

    def starlark_dir(self) -> list[str]:
        return ["name", "package", "relative", "repo_name", "same_package_label", "workspace_name", "workspace_root"]


def parse_label(text: Any, repository: str, package: str, mapping: Mapping[str, str]) -> Label:
    """Return the Label that `text` means in `package` of `repository`, whose apparent repository names `mapping` translates.

    Raises EvalError where the text is no label.
    """
    if isinstance(text, Label):
        return text
    match = _TEXT.fullmatch(text)
    if match is None or text in ("", ":", "//"):
        raise EvalError(f"invalid label {text!r}")
    repo, absolute, path, colon, name = match.group("repo", "absolute", "package", "colon", "name")
    if repo is None:
        repo = repository
    else:
        repo = mapping.get(repo, repo)
        if _BAD_REPOSITORY.search(repo):
            raise EvalError(f"invalid label {text!r}: invalid repository name {repo!r}")
        if not absolute:
            if path or colon:
                raise EvalError(f"invalid label {text!r}: a repository name is followed by //")
            return Label(repo, "", repo)
    if not absolute:
        if colon and path:
            raise EvalError(f"invalid label {text!r}: a package path starts with //")
        name, path = (name if colon else path), package
    elif not colon:
        name = path.rsplit("/", 1)[-1]
    if path and path is not package and _BAD_PACKAGE.search(path):
        raise EvalError(f"invalid label {text!r}: invalid package name {path!r}: {_why(path)}")
    if _BAD_NAME.search(name):
        try:
            check_name(name)
        except EvalError as error:
            raise EvalError(f"invalid label {text!r}: {error}") from None
    return Label(repo, path, name)


def check_name(name: str) -> None:
    """Raise EvalError where no target can have this name (Bazel's "Target names"; `.` alone is one)."""
    if _BAD_NAME.search(name) and name != ".":
        raise EvalError(f"invalid target name {name!r}: {_why(name)}")


def _why(name: str) -> str:
    """Return what is wrong with the name of a target or package."""
    parts = name.split("/")
    faults = {
        "it is empty": not name,
        "it starts with /": name.startswith("/"),
        "it ends with /": name.endswith("/"),
        "it holds //": "//" in name,
        "it holds an up-level reference": ".." in parts,
        "it has a segment of dots alone": any(part and not part.strip(".") for part in parts),
        "it holds a colon": ":" in name,
        "it holds a backslash": "\\" in name,
    }
    return next((fault for fault, found in faults.items() if found), "it holds a control character")
