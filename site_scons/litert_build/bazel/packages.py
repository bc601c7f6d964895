"""Owns packages: which folder is one, what its BUILD file declares, and the loading of both on demand.

    packages = Packages(workspace)
    packages.load("abseil", "absl/base").targets["base"]

Rules: Bazel's "Repositories, workspaces, packages, and targets" page.
"""

from __future__ import annotations

import os
import posixpath
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from litert_build.bazel.attributes import COMMON
from litert_build.bazel.glob import PackageFiles
from litert_build.bazel.labels import Label, check_name, parse_label
from litert_build.bazel.providers import Provider
from litert_build.bazel.rule_class import RuleClass, RuleTarget
from litert_build.errors import BuildError, nearest
from litert_build.starlark.modules import Compiler, Modules, call_stack, located, prepare, run
from litert_build.starlark.opaque import Opaque
from litert_build.starlark.syntax import compile_file
from litert_build.starlark.values import EvalError, to_repr

if TYPE_CHECKING:
    from litert_build.bazel.package_cache import PackageCache

BUILD_NAMES = ("BUILD.bazel", "BUILD")
_EXTERNAL = ("//external:", "@//external:", "@@//external:")
_STACK: list[Package] = []


def current_package(what: str) -> Package:
    """Return the package being evaluated. Raises EvalError outside of one: `what` is called while a .bzl file loads."""
    if not _STACK:
        raise EvalError(f"{what} can only be called while a BUILD file is evaluated: call it from a macro, not at the top level of a .bzl")
    return _STACK[-1]


@dataclass
class PackageGroup:
    """A package_group(): specifications as absolute patterns, and other groups."""

    label: Label
    packages: tuple[str, ...]
    includes: tuple[Label, ...]


@dataclass
class Package:
    """What one BUILD file declares."""

    repository: str
    name: str
    root: Path
    build_file: Path
    display: str
    mapping: Mapping[str, str]
    owner: Packages
    targets: MutableMapping[str, RuleTarget] = field(default_factory=dict)
    outputs: MutableMapping[str, RuleTarget] = field(default_factory=dict)
    output_folders: dict[str, RuleTarget] = field(default_factory=dict)
    groups: dict[str, PackageGroup] = field(default_factory=dict)
    exported: dict[str, tuple[Label, ...] | None] = field(default_factory=dict)
    default_visibility: tuple[Label, ...] = ()
    features: tuple[str, ...] = ()
    default_testonly: bool = False
    declared_package: bool = False
    _files: PackageFiles | None = None
    _labels: dict[str, Label] = field(default_factory=dict)

    @property
    def importer(self) -> Label:
        """What stands for the BUILD file among the modules that load others."""
        return Label(self.repository, self.name, "")

    def to_label(self, text: Any) -> Label:
        """Return the Label of a string as this package's BUILD file means it. Raises EvalError."""
        if isinstance(text, Label):
            return text
        known = self._labels.get(text)
        if known is None:
            known = self._labels[text] = self.owner.label(text, self.repository, self.name, self.mapping)
        return known

    @property
    def files(self) -> PackageFiles:
        if self._files is None:
            prefix = f"{self.name}/" if self.name else ""
            self._files = PackageFiles(self.root / self.name, lambda path: self.owner.is_package(self.repository, prefix + path))
            self.owner.read.extend(Path(folder) for folder in self._files.listed)
            for inner in self._files.subpackages:
                self.owner.read.extend(self.owner.deciding(self.repository, prefix + inner))
        return self._files

    @property
    def globs(self) -> bool:
        """Whether anyone has asked for the files of this package."""
        return self._files is not None

    def place(self) -> str:
        stack = call_stack()
        return f"{stack[0][0]}:{stack[0][1]}" if stack else self.display

    def add_rule(self, rule: RuleClass, name: str, attrs: dict[str, Any]) -> None:
        """Declare a target. Raises EvalError if the name is none, or it or one of its outputs is taken."""
        check_name(name)
        self.check_free(name, f"{rule.name} rule '{name}'")
        if name in self.outputs:
            raise EvalError(f"{rule.name} rule '{name}' conflicts with a generated file of {named(self.outputs[name])}")
        target = RuleTarget(Label(self.repository, self.name, name), rule, attrs, tuple(call_stack()), self)
        if rule.outputs is not None:
            target.outputs = tuple(rule.outputs(attrs))
            for output in target.outputs:
                self._add_output(output, target)
        self.targets[name] = target

    def check_free(self, name: str, what: str) -> None:
        """Raise EvalError where `what`, about to take a name, conflicts with a rule, a group or a file that is exported."""
        if name in self.targets:
            raise EvalError(f"{what} conflicts with an existing target, defined at {self.targets[name].location}")
        if name in self.groups:
            raise EvalError(f"{what} conflicts with an existing target, defined at a package_group")
        if name in self.exported:
            raise EvalError(f"{what} conflicts with a source file that exports_files() names")

    def _add_output(self, name: str, target: RuleTarget) -> None:
        if name in self.outputs:
            raise EvalError(f"generated file '{name}' of {target.label.name} conflicts with one of {named(self.outputs[name])}")
        if name in self.targets:
            raise EvalError(f"generated file '{name}' of {target.label.name} conflicts with the rule {named(self.targets[name])}")
        folders = [name[:end] for end, letter in enumerate(name) if letter == "/"]
        other = next((self.outputs[folder] for folder in folders if folder in self.outputs), self.output_folders.get(name))
        if other is not None:
            raise EvalError(
                f"generated file '{name}' of {target.label.name} conflicts with one of {named(other)}: one is a folder of the other"
            )
        self.output_folders.update(dict.fromkeys(folders, target))
        self.outputs[name] = target


def named(target: RuleTarget) -> str:
    """Return the name of a target and where it is declared, for messages."""
    return f"{target.label.name}, defined at {target.location}"


class Packages:
    """Loads packages of all repositories on demand. `read` gathers every file and folder that decided something, also by not being
    there; `cache`, where there is one, gives packages back that an earlier process evaluated."""

    def __init__(
        self,
        trees: Mapping[str, Path],
        mappings: Mapping[str, Mapping[str, str]],
        main: str,
        embedded: Mapping[str, Path],
        build_globals: Mapping[str, Any],
        bzl_globals: Mapping[str, Any],
        display: Callable[[str], str],
        compiler: Compiler = compile_file,
        bindings: Mapping[str, str] | None = None,
    ) -> None:
        self.trees: Mapping[str, Path] = ChainMap(cast("dict[str, Path]", trees), dict(embedded))  # never copied: trees may be lazy
        self.mappings = mappings
        self.main = main
        self.embedded = embedded
        self.build_globals = build_globals
        self.bzl_globals = bzl_globals
        self.bindings = bindings or {}
        self.display = display
        self.modules = Modules(self, compiler)
        self.modules.on_loaded = name_exports
        self.loaded: dict[tuple[str, str], Package | BuildError] = {}
        self.folders: dict[tuple[str, str], str] = {}
        self.read: list[Path] = []
        self.cache: PackageCache | None = None
        self._labels: dict[tuple[str, str], Label] = {}
        self._texts: dict[Label, tuple[str, str] | str] = {}

    def label(self, text: Any, repository: str, package: str, mapping: Mapping[str, str]) -> Label:
        """Return the absolute label of `text`; `@`, `@//` and `@@//` mean the main repository, `//external:NAME` what bind() said."""
        key = (repository, text)
        known = self._labels.get(key) if isinstance(text, str) else None
        if known is not None:
            return known
        label = parse_label(text, repository, package, mapping)
        if isinstance(text, str) and text.startswith(_EXTERNAL):
            return self._bound(label.name)
        if label.repository in (self.main, "__main__"):
            label = Label("", label.package, label.name)
        if isinstance(text, str) and text.startswith(("//", "@")):  # others mean another thing in each package
            self._labels[key] = label
        return label

    def _bound(self, name: str, seen: tuple[str, ...] = ()) -> Label:
        """Return what `//external:NAME` stands for by bind(); a name that nobody bound, or only to itself, is left for find() to refuse."""
        actual = self.bindings.get(name)
        if actual is None or name in seen:
            return Label("", "external", name)
        if actual.startswith(_EXTERNAL):
            return self._bound(actual.split(":", 1)[1], (*seen, name))
        return self.label(actual, "", "", self.mapping(""))

    def tree(self, repository: str) -> Path | None:
        """Return the folder of a repository, the empty name being the main one's; None where there is none."""
        return self.trees.get(repository or self.main)

    def root(self, repository: str) -> Path:
        """Return the folder of a repository that is there."""
        return self.trees[repository or self.main]

    def build_file(self, repository: str, package: str) -> str:
        """Return the name of the BUILD file of a folder, empty where it is no package."""
        key = (repository, package)
        if key not in self.folders:
            root = self.tree(repository)
            folder = root / package if root is not None else None
            # os.path.isfile is false, not an OSError, for a name that is too long
            self.folders[key] = next((n for n in BUILD_NAMES if folder is not None and os.path.isfile(folder / n)), "")  # noqa: PTH113
        return self.folders[key]

    def deciding(self, repository: str, package: str) -> list[Path]:
        """Return the files that decide, by being there or not, whether a folder is a package, and by which BUILD file."""
        name, folder = self.build_file(repository, package), self.root(repository) / package
        return [folder / known for known in (BUILD_NAMES[: BUILD_NAMES.index(name) + 1] if name else BUILD_NAMES)]

    def crossed(self, label: Label) -> str:
        """Return the subpackage whose border the name of a label crosses, empty where it crosses none."""
        parts = label.name.split("/")[:-1]
        for count in range(len(parts), 0, -1):
            inner = posixpath.join(label.package, *parts[:count])
            if (label.repository, inner) not in self.folders:
                self.read.extend(self.deciding(label.repository, inner))
            if self.is_package(label.repository, inner):
                return inner
        return ""

    def is_package(self, repository: str, package: str) -> bool:
        return bool(self.build_file(repository, package))

    def mapping(self, repository: str) -> Mapping[str, str]:
        return self.mappings.get(repository or self.main, {})

    def shown(self, repository: str, path: str) -> str:
        root = self.display(repository or self.main)
        return f"{root}/{path}" if root else path

    def load(self, repository: str, name: str, wanted_by: str = "", mend: str = "") -> Package:
        """Return a package, evaluated once. Raises BuildError if there is none or its BUILD file has a fault."""
        key = (repository, name)
        known = self.loaded.get(key)
        if isinstance(known, BuildError):
            raise known
        if known is not None:
            return known
        try:
            package = self._evaluate(repository, name, wanted_by)
        except BuildError as error:
            if error.where:
                self.loaded[key] = error
            raise
        self.loaded[key] = package
        return package

    def _evaluate(self, repository: str, name: str, wanted_by: str) -> Package:
        if self.tree(repository) is None:
            raise BuildError(
                f"no such repository '@{repository}'",
                where=wanted_by,
                mend=nearest(repository, self.trees) or f"declare it in the lock or with src_{repository}=PATH",
            )
        file_name = self.build_file(repository, name)
        if not file_name:
            folder = self.root(repository) / name
            what = "it has no BUILD file" if folder.is_dir() else "there is no such folder"
            raise BuildError(
                f"no such package '{_package_text(repository, name)}': {what}", where=wanted_by, mend="check the label, or add an overlay"
            )
        inner = f"{name}/{file_name}" if name else file_name
        file = self.root(repository) / inner
        display = self.shown(repository, inner)
        package = Package(repository, name, self.root(repository), file, display, self.mapping(repository), self)
        self.read.extend(self.deciding(repository, name))
        text = read_text(file, display)
        if self.cache is None:
            self.execute(package, text)
        elif not self.cache.restore(package, text):
            self.execute(package, text)
            self.cache.keep(package, text)
        return package

    def execute(self, package: Package, text: str) -> None:
        """Run the text of a BUILD file into `package`. Raises BuildError."""
        bindings = dict(self.build_globals)
        _STACK.append(package)
        try:
            for stage in prepare(text, package.display, "build", bindings, self.modules.compiler):
                _STACK.pop()
                try:
                    self.modules.bind(stage.loads, package.importer, package.display, bindings)
                finally:
                    _STACK.append(package)
                run(stage, package.display, bindings)
        finally:
            _STACK.pop()

    # SourceOf: where .bzl modules come from

    def resolve(self, label: str, importer: Hashable, place: str) -> Label:
        """Return the Label of a load() as written in `importer`. Raises BuildError if it is none or names no .bzl file."""
        assert isinstance(importer, Label)
        with located(place):
            found = self.label(label, importer.repository, importer.package, self.mapping(importer.repository))
            if not found.name.endswith((".bzl", ".scl")):
                raise EvalError(f"load() takes the label of a .bzl file, not {to_repr(label)}")
            return found

    def text_of(self, key: Hashable) -> tuple[str, str] | str:
        """Return text and display name of a .bzl file, or the reason why it is not there: the same answer as long as this lives."""
        assert isinstance(key, Label)
        if key not in self._texts:
            self._texts[key] = self._text_of(key)
        return self._texts[key]

    def _text_of(self, key: Label) -> tuple[str, str] | str:
        root = self.tree(key.repository)
        if root is None:
            return f"repository @{key.repository} is not in the lock"
        inner = f"{key.package}/{key.name}" if key.package else key.name
        self.read.append(root / inner)
        if not (root / inner).is_file():
            return f"there is no file {inner} in @{key.repository or self.main}"
        display = self.shown(key.repository, inner)
        return read_text(root / inner, display), display

    def unavailable(self, symbol: str, key: Hashable, why: str, place: str) -> Opaque:
        """Return what stands for a symbol of a .bzl file that is not there."""
        return UnavailableRule(symbol, f"of {key}", why, place)

    def globals_for(self, key: Hashable) -> dict[str, Any]:
        assert isinstance(key, Label)
        bindings = dict(self.bzl_globals)
        for name, make in self.bzl_globals.items():
            if isinstance(make, PerModule):
                bindings[name] = make.make(key, self)
        return bindings


def name_exports(key: Hashable, exported: dict[str, Any]) -> None:
    """Give rules and providers of a .bzl file the name of the global they are bound to, and rules the file."""
    for name, value in exported.items():
        if isinstance(value, RuleClass | Provider) and not value.name:
            value.name = name
            if isinstance(value, RuleClass):
                assert isinstance(key, Label)
                value.origin = key


def _package_text(repository: str, name: str) -> str:
    return f"@{repository}//{name}" if repository else f"//{name}"


class UnavailableRule(Opaque):
    """An unavailable symbol. Called with a name while a BUILD file is evaluated, it declares a target that no closure may need."""

    def __call__(self, *args: Any, **given: Any) -> Any:
        name = given.get("name")
        if _STACK and isinstance(name, str) and name not in _STACK[-1].targets:
            missing = f"its rule comes from {self.owner.removeprefix('of ')}, loaded at {self.place}, but {self.why}"
            _STACK[-1].add_rule(unavailable_rule(self.name, missing), name, {})
        return super().__call__(*args, **given)


def unavailable_rule(name: str, missing: str) -> RuleClass:
    """Return what stands for a rule whose .bzl file is not there."""
    return RuleClass(name, {**COMMON}, None, missing=missing, any_attr=True)


class PerModule:
    """A .bzl global that depends on the file it stands in, such as Label()."""

    def __init__(self, make: Callable[[Label, Packages], Any]) -> None:
        self.make = make


def read_text(file: Path, display: str) -> str:
    """Return the text of a build file. Raises BuildError if it cannot be read or is not UTF-8."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BuildError(f"the file is not UTF-8: byte {error.start}", where=display, mend="re-encode it in an overlay") from None
    except OSError as error:
        raise BuildError(f"cannot read the file: {error.strerror}", where=display) from None
