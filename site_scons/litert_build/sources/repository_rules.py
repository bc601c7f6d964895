"""Owns Bazel's own repository rules, as entries of a lock: http_archive, http_file, git_repository, local_repository, and the new_ ones.

    http_archive("absl", {"urls": [...], "sha256": "...", "patches": ["//:absl.patch"]}, to_file)

Rules: the references of @bazel_tools//tools/build_defs/repo (http.bzl, git.bzl, local.bzl), Bazel 7.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from litert_build.errors import nearest
from litert_build.sources.lock import FileRef, Patch, Repository
from litert_build.starlark.values import EvalError, to_repr, type_name

ToFile = Callable[[Any], FileRef]

_COMMON = {
    "name",
    "repo_mapping",
    "workspace_file",
    "workspace_file_content",
    "canonical_id",
    "netrc",
    "auth_patterns",
    "visibility",
    "tags",
}
_TREE = {
    "build_file",
    "build_file_content",
    "patches",
    "patch_args",
    "patch_strip",
    "patch_cmds",
    "patch_cmds_win",
    "patch_tool",
    "strip_prefix",
}
_ARCHIVE = {
    "url", "urls", "sha256", "integrity", "add_prefix", "type", "remote_patches", "remote_patch_strip", "remote_file_urls",
    "remote_file_integrity",
}  # fmt: skip
_GIT = {"remote", "commit", "tag", "branch", "shallow_since", "init_submodules", "recursive_init_submodules", "verbose"}
_FILE = {"url", "urls", "sha256", "integrity", "downloaded_file_path", "executable"}
_LOCAL = {"path", "build_file", "build_file_content"}


class Attributes:
    """The arguments of one declaration, read with their types. `used` names what may stand there."""

    def __init__(self, rule: str, values: Mapping[str, Any], known: Iterable[str]) -> None:
        self.rule, self.values = rule, {name: value for name, value in values.items() if value is not None}
        names = {*_COMMON, *known}
        for name in self.values:
            if name not in names:
                raise EvalError(f"{rule}() has no attribute '{name}'; {nearest(name, names)}".rstrip("; "))

    def text(self, name: str) -> str:
        value = self.values.get(name, "")
        if not isinstance(value, str):
            raise EvalError(f"{self.rule}.{name} takes a string, not {to_repr(value)} ({type_name(value)})")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name, ())
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise EvalError(f"{self.rule}.{name} takes a list of strings, not {to_repr(value)} ({type_name(value)})")
        return tuple(value)

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            raise EvalError(f"{self.rule}.{name} takes a dict, not {to_repr(value)} ({type_name(value)})")
        return dict(value)

    def refuse(self, name: str, why: str) -> None:
        if self.values.get(name):
            raise EvalError(f"{self.rule}.{name} is not supported: {why}")


def http_archive(name: str, values: Mapping[str, Any], to_file: ToFile) -> Repository:
    """Return the lock entry of an http_archive(); a missing digest stays empty. Raises EvalError for what it cannot express."""
    attributes = Attributes("http_archive", values, _ARCHIVE | _TREE)
    urls = addresses(attributes)
    if not urls:
        raise EvalError(f"http_archive '{name}' has neither url nor urls")
    check_archive_type(attributes.text("type"))
    integrities = attributes.mapping("remote_file_integrity")
    files = {
        path: FileRef(urls=tuple([where] if isinstance(where, str) else where), sha256=from_integrity(integrities.get(path, "")))
        for path, where in attributes.mapping("remote_file_urls").items()
    }
    remote = attributes.mapping("remote_patches")
    strip = int(attributes.values.get("remote_patch_strip", 0))
    base = Repository(
        name=name,
        rule="http_archive",
        urls=urls,
        sha256=attributes.text("sha256").lower() or from_integrity(attributes.text("integrity")),
        strip_prefix=attributes.text("strip_prefix").strip("/"),
        add_prefix=attributes.text("add_prefix").strip("/"),
        patches=tuple(Patch(FileRef(urls=(url,), sha256=from_integrity(text)), strip) for url, text in remote.items()),
        link_files=files,
    )
    return _with_tree(base, attributes, to_file)


def http_file(name: str, values: Mapping[str, Any], to_file: ToFile) -> Repository:
    """Return the lock entry of an http_file(): file/NAME and file/BUILD, as Bazel lays it out."""
    attributes = Attributes("http_file", values, _FILE)
    inner = attributes.text("downloaded_file_path") or "downloaded"
    digest = attributes.text("sha256").lower() or from_integrity(attributes.text("integrity"))
    file = FileRef(urls=addresses(attributes), sha256=digest, executable=bool(attributes.values.get("executable", False)))
    build = f'filegroup(name = "file", srcs = ["{inner}"], visibility = ["//visibility:public"])\n'
    files = {f"file/{inner}": file, "file/BUILD": FileRef(content=build)}
    return Repository(name=name, rule="http_file", link_files=files, repo_mapping=mapping_of(attributes))


def git_repository(name: str, values: Mapping[str, Any], to_file: ToFile, resolve: Callable[[str, str], str]) -> Repository:
    """Return the lock entry of a git_repository() or new_git_repository(); `resolve(remote, ref)` tells the commit of a tag or branch."""
    attributes = Attributes("git_repository", values, _GIT | _TREE)
    for submodules in ("init_submodules", "recursive_init_submodules"):
        attributes.refuse(submodules, "a commit does not pin what submodules fetch; declare them as repositories")
    remote = attributes.text("remote")
    ref = attributes.text("commit") or attributes.text("tag") or attributes.text("branch")
    if not remote or not ref:
        raise EvalError(f"git_repository '{name}' needs remote and one of commit, tag, branch")
    prefix = attributes.text("strip_prefix").strip("/")
    return _with_tree(
        Repository(name=name, rule="git_repository", git=remote, commit=resolve(remote, ref), strip_prefix=prefix), attributes, to_file
    )


def local_repository(name: str, values: Mapping[str, Any], to_file: ToFile, main: Repository) -> Repository:
    """Return the lock entry of a local_repository() or new_local_repository(): a folder of the main repository, from the same source."""
    attributes = Attributes("local_repository", values, _LOCAL)
    path = attributes.text("path").strip("/")
    if not path or attributes.text("path").startswith("/") or ".." in path.split("/"):
        raise EvalError(f"local_repository '{name}' lies outside of the main repository: {attributes.text('path')!r}")
    if main.path is not None:
        base = replace(main, path=main.path / path, overlay={})
    else:
        base = replace(main, strip_prefix=f"{main.strip_prefix}/{path}".strip("/"), overlay={}, lfs=None)
    base = replace(base, name=name, rule="local_repository", repo_mapping={}, location="", shadowed=())
    return _with_tree(base, attributes, to_file)


def _with_tree(base: Repository, attributes: Attributes, to_file: ToFile) -> Repository:
    attributes.refuse("patch_tool", "patches are applied exactly, without a tool")
    build = attributes.values.get("build_file")
    content = attributes.values.get("build_file_content")
    if build and content:
        raise EvalError(f"{attributes.rule} '{base.name}' has both build_file and build_file_content")
    given = int(attributes.values.get("patch_strip", 0)) or patch_strip(attributes.texts("patch_args"))
    patches = tuple(Patch(to_file(file), given) for file in attributes.values.get("patches", ()))
    return replace(
        base,
        build_file=to_file(build) if build else FileRef(content=content) if content is not None else None,
        patches=(*patches, *base.patches),
        patch_cmds=attributes.texts("patch_cmds"),
        patch_cmds_win=attributes.texts("patch_cmds_win"),
        repo_mapping=mapping_of(attributes),
    )


def mapping_of(attributes: Attributes) -> dict[str, str]:
    """Return repo_mapping without the @ signs."""
    return {str(inner).lstrip("@"): str(outer).lstrip("@") for inner, outer in attributes.mapping("repo_mapping").items()}


def addresses(attributes: Attributes) -> tuple[str, ...]:
    """Return url and urls, url first."""
    one = attributes.text("url")
    return tuple(dict.fromkeys([*([one] if one else []), *attributes.texts("urls")]))


def patch_strip(arguments: Iterable[str]) -> int:
    """Return N of -pN. Raises EvalError for any other argument of `patch`: patches are applied exactly."""
    strip = 0
    for argument in arguments:
        if not (argument.startswith("-p") and argument[2:].isdigit()):
            raise EvalError(f"the patch argument {argument!r} is not supported: only -pN is")
        strip = int(argument[2:])
    return strip


def from_integrity(text: str) -> str:
    """Return the sha256, in hex, of a Subresource Integrity text; empty for an empty text. Raises EvalError for any other digest."""
    if not text:
        return ""
    algorithm, _, value = text.partition("-")
    try:
        digest = base64.b64decode(value, validate=True).hex()
    except binascii.Error:
        digest = ""
    if algorithm != "sha256" or len(digest) != 64:
        raise EvalError(f"the integrity {text!r} is no sha256")
    return digest


def check_archive_type(text: str) -> None:
    """Raise EvalError for an archive type that cannot be unpacked. Of the others the first bytes tell (sources/archive)."""
    if text.lstrip(".") in ("tar.zst", "tzst", "deb", "ar", "7z"):
        raise EvalError(f"archives of type {text!r} are not supported")
