"""Owns what the tests of the evaluator share: .bzl files from memory, and small trees on disk.

run("x = 1 + 1")["x"]                                   # 2
Tree(tmp_path, {"BUILD": "..."}).analyze("//:x")        # Analysis
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pytest
from litert_build.bazel.analysis import Analysis, Analyzer, analyze, on_deep_stack
from litert_build.bazel.packages import Package
from litert_build.bazel.rule_class import RuleTarget
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock, Product, Repository
from litert_build.starlark.builtins import UNIVERSAL
from litert_build.starlark.modules import Modules
from litert_build.starlark.opaque import Opaque
from litert_build.starlark.values import Builtin, to_str


class Memory:
    """A SourceOf whose modules are texts by name; `printed` gathers what print() was given."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.printed: list[str] = []

    def resolve(self, label: str, importer: Hashable, place: str) -> str:
        return label

    def text_of(self, key: Hashable) -> tuple[str, str] | str:
        return (self.files[str(key)], str(key)) if key in self.files else f"there is no file {key}"

    def globals_for(self, key: Hashable) -> dict[str, Any]:
        return {**UNIVERSAL, "print": Builtin("print", self._print)}

    def unavailable(self, symbol: str, key: Hashable, why: str, place: str) -> Opaque:
        return Opaque(symbol, f"of {key}", why, place)

    def _print(self, *items: Any, sep: str = " ") -> None:
        self.printed.append(sep.join(map(to_str, items)))


def run(text: str, **others: str) -> dict[str, Any]:
    """Return the globals of main.bzl after loading it. `others` are further files: b="..." is b.bzl."""
    files = {"main.bzl": textwrap.dedent(text), **{f"{name}.bzl": textwrap.dedent(other) for name, other in others.items()}}
    exported = Modules(Memory(files)).load("main.bzl", "")
    assert isinstance(exported, dict)
    return exported


def printed(text: str) -> list[str]:
    """Return what main.bzl prints."""
    memory = Memory({"main.bzl": textwrap.dedent(text)})
    Modules(memory).load("main.bzl", "")
    return memory.printed


def failure(text: str, **others: str) -> BuildError:
    """Return the error that loading main.bzl raises."""
    with pytest.raises(BuildError) as caught:
        run(text, **others)
    return caught.value


class Tree:
    """Repositories on disk: `files` by path, those of others than the main one under `external/NAME/`."""

    def __init__(self, root: Path, files: Mapping[str, str | bytes], **lock: Any) -> None:
        self.root = root
        self.settings = lock
        self.trees = {"main": root / "main"}
        self.trees["main"].mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            self.write(path, content)

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file, dedented."""
        parts = path.split("/")
        if parts[0] == "external":
            self.trees[parts[1]] = self.root / parts[1]
            file = self.root.joinpath(*parts[1:])
        else:
            file = self.trees["main"] / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else textwrap.dedent(content).encode())

    def shown(self, repository: str = "main") -> str:
        """Return what stands before a path of a repository in messages."""
        root = self.trees[repository].resolve()
        return f"{root.relative_to(Path.cwd())}/" if root.is_relative_to(Path.cwd()) else f"@{repository}//"

    def lock(self, *roots: str) -> Lock:
        settings = {"link_mode": "none", **self.settings}
        mappings = settings.pop("repo_mapping", {})
        return Lock(
            file=self.root / "test.json",
            ref="test",
            release="test",
            main="main",
            repositories={name: Repository(name, path, repo_mapping=mappings.get(name, {})) for name, path in self.trees.items()},
            roots=roots,
            product=Product("objects"),
            **settings,
        )

    def analyze(self, *roots: str, target: str = "linux-x64") -> Analysis:
        return analyze(self.lock(*roots), self.trees, find_target(target))

    def package(self, name: str = "", repository: str = "") -> Package:
        """Return a loaded package of the main repository or another."""
        analyzer = Analyzer(self.lock(f"//{name}:x"), self.trees, find_target("linux-x64"), "gcc", "gcc")
        package: Package = on_deep_stack(lambda: analyzer.packages.load(repository, name))
        return package

    def target(self, name: str, package: str = "") -> RuleTarget:
        return self.package(package).targets[name]

    def failure(self, *roots: str, target: str = "linux-x64") -> BuildError:
        """Return the error of analyzing `roots`."""
        with pytest.raises(BuildError) as caught:
            self.analyze(*roots, target=target)
        return caught.value

    def load_failure(self, package: str = "") -> BuildError:
        """Return the error of loading a package."""
        with pytest.raises(BuildError) as caught:
            self.package(package)
        return caught.value
