"""Owns the evaluation of a WORKSPACE file: which repositories it declares, in stages, as Bazel does.

    workspace = Workspace("litert_lm", main, maker, network)
    workspace.evaluate()
    workspace.repository("com_google_absl")      # a lock entry
    workspace.tree("com_google_absl")            # its folder, fetched on demand

A load() may need a repository declared above it: that one is fetched, then the evaluation goes on. The first declaration of a name wins;
what it kept out is remembered. Macros whose files cannot be had, those of INERT repositories, INERT_SYMBOLS and what `skip` names are
unknown: calling one declares nothing (it is noted), and a condition or address that depends on one is an error. Rules: Bazel's WORKSPACE
reference and `native`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litert_build.bazel.labels import Label, parse_label
from litert_build.bazel.packages import read_text
from litert_build.bazel.rules import embedded_repositories
from litert_build.errors import BuildError, nearest
from litert_build.sources.crate_universe import CrateUniverse
from litert_build.sources.lock import Cargo, FileRef, Repository
from litert_build.sources.network import Network
from litert_build.sources.repository_context import Services
from litert_build.sources.trees import TreeMaker
from litert_build.sources.workspace_globals import INERT, INERT_SYMBOLS, Globals, Unknown
from litert_build.starlark.modules import Modules, call_stack, located, prepare, run
from litert_build.starlark.values import EvalError, to_repr, type_name


class Unavailable(BuildError):
    """A repository is declared in a way that no lock can express."""


@dataclass
class Declaration:
    """One declared repository: what existing_rule() shows, where it was declared, and how to make the lock entry."""

    name: str
    kind: str
    attrs: dict[str, Any]
    location: str
    make: Callable[[], Repository]
    shadowed: list[str] = field(default_factory=list)


class Workspace:
    """One evaluation. `declared` holds the declarations in order, `bindings` what bind() said, `notes` the calls that declared nothing."""

    def __init__(self, main: str, repository: Repository, maker: TreeMaker, network: Network, skip: Collection[str] = ()) -> None:
        self.main, self.maker, self.network, self.skip = main, maker, network, skip
        self.declared: dict[str, Declaration] = {}
        self.made: dict[str, Repository] = {main: repository}
        self.bindings: dict[str, str] = {}
        self.notes: list[str] = []
        self.unpinned: list[str] = []
        self.embedded = embedded_repositories()
        self.services = Services(self.to_label, self.tree, maker.made.get)
        self.crates = CrateUniverse(self._declare_crates, self.to_file)
        self.modules = Modules(self)
        self.globals = Globals(self)
        self.modules.loaded.update(self.globals.bazel_tools())
        self.modules.loaded[Label("rules_rust", "crate_universe", "defs.bzl")] = self.crates.module()

    # Evaluation

    def evaluate(self) -> None:
        """Run WORKSPACE.bazel or WORKSPACE of the main repository. Raises BuildError with file:line and macro stack."""
        tree = self.tree(self.main)
        name = next((name for name in ("WORKSPACE.bazel", "WORKSPACE") if (tree / name).is_file()), "")
        if not name:
            raise BuildError("there is no WORKSPACE file", where=str(tree), mend="is this the tree of the main repository?")
        bindings = self.globals.of(Label(self.main, "", name))
        for stage in prepare(read_text(tree / name, name), name, "workspace", bindings):
            self.modules.bind(stage.loads, Label(self.main, "", ""), name, bindings)
            for load in stage.loads:
                for local, symbol in load.names:
                    if symbol in self.skip or INERT_SYMBOLS.fullmatch(symbol):
                        why = "skip= leaves it out" if symbol in self.skip else "a host has no use for it"
                        bindings[local] = self.unavailable(symbol, load.label, why, f"{name}:{load.line}")
            run(stage, name, bindings)

    def to_label(self, text: Any) -> Label:
        """Return the label that a string means in WORKSPACE."""
        return self._absolute(parse_label(text, self.main, "", {}))

    def label_in(self, home: Label, text: Any) -> Label:
        """Return the label that a string means in the file `home`, under the repo_mapping of its repository."""
        mapping = self.made[home.repository].repo_mapping if home.repository in self.made else {}
        return self._absolute(parse_label(text, home.repository, home.package, mapping))

    def _absolute(self, label: Label) -> Label:
        return Label(self.main, label.package, label.name) if label.repository in ("", "__main__") else label

    def to_file(self, value: Any) -> FileRef:
        """Return the file of a label attribute."""
        label = value if isinstance(value, Label) else self.to_label(value)
        return FileRef(repository=label.repository, inner=f"{label.package}/{label.name}" if label.package else label.name)

    def declare(self, name: Any, kind: str, attrs: dict[str, Any], make: Callable[[], Repository]) -> None:
        """Declare a repository; a later declaration of the same name is remembered as shadowed."""
        if not isinstance(name, str) or not name:
            raise EvalError(f"{kind}() takes the name of the repository, not {to_repr(name)} ({type_name(name)})")
        location = " < ".join(f"{file}:{line}" for file, line, _ in reversed(call_stack()))
        if name in self.declared:
            self.declared[name].shadowed.append(location)
        else:
            self.declared[name] = Declaration(name, kind, attrs, location, make)

    def note_call(self, callee: Unknown, arguments: Mapping[str, Any]) -> None:
        """Remember the call of an unknown function; with a name it declares a repository that is not to be had."""
        place = " < ".join(f"{file}:{line}" for file, line, _ in reversed(call_stack()))
        self.notes.append(f"{place}: {' '.join(filter(None, (callee.name, callee.owner)))} was not called: {callee.why}")
        name = arguments.get("name")

        def unavailable() -> Repository:
            raise EvalError(callee.fault("declares it").what)

        if isinstance(name, str):
            self.declare(name, callee.name, dict(arguments), unavailable)

    def _declare_crates(self, name: str, arguments: dict[str, Any]) -> None:
        def unavailable() -> Repository:
            raise EvalError("crates are built by cargo, as one library: what C++ reaches of them is declared in third_party/overlays")

        self.declare(name, "crates_repository", arguments, unavailable)

    # Repositories

    def names(self) -> list[str]:
        return [self.main, *self.declared]

    def repository(self, name: str) -> Repository:
        """Return the lock entry of a declared repository; its digests may still be missing.

        Raises BuildError where it is not declared, Unavailable at its declaration where it cannot be expressed in a lock.
        """
        if name not in self.made:
            declaration = self.declared.get(name)
            elsewhere = f"name a checkout with src_{name}=PATH"
            if declaration is None:
                raise BuildError(f"WORKSPACE declares no repository '@{name}'", mend=nearest(name, self.declared) or elsewhere)
            try:
                with located(declaration.location):
                    made = declaration.make()
            except BuildError as error:
                if not isinstance(error.__cause__, EvalError):
                    raise
                place = [f"at {error.where}"] if error.where != declaration.location else []
                what = f"repository '@{name}' cannot be locked: {error.what}"
                raise Unavailable(what, where=declaration.location, notes=[*place, *error.notes], mend=elsewhere) from error
            self.made[name] = replace(made, location=declaration.location)
        return self.made[name]

    def pinned(self, name: str) -> Repository:
        """Return the lock entry of a repository with the digests that its declaration lacks: of the archive and of single downloads
        (trusted on first use), and of every file that goes into it."""
        repository = self.repository(name)
        if repository.urls and not repository.sha256:
            repository = replace(repository, sha256=self._first_use(repository.name, repository.urls))
        shadowed = tuple(self.declared[name].shadowed) if name in self.declared else ()
        self.made[name] = replace(
            repository,
            shadowed=shadowed,
            build_file=self._pin(repository.build_file) if repository.build_file else None,
            patches=tuple(replace(patch, file=self._pin(patch.file)) for patch in repository.patches),
            link_files={inner: self._pin(reference) for inner, reference in repository.link_files.items()},
            cargo=self._pin_crates(repository.cargo) if repository.cargo else None,
        )
        return self.made[name]

    def tree(self, name: str) -> Path:
        """Return the folder of a repository, fetched on demand."""
        if name not in self.maker.made:
            repository = self.pinned(name)
            for reference in repository.references():
                if reference.repository:
                    self.tree(reference.repository)
            self.maker.make(repository)
        return self.maker.made[name]

    def _pin_crates(self, cargo: Cargo) -> Cargo:
        """Return a crate with the patches that WORKSPACE annotates those it needs with."""
        if not cargo.crates:
            return cargo
        found = {**self.crates.patches, **cargo.crate_patches}
        pinned = {crate: tuple(replace(patch, file=self._pin(patch.file)) for patch in patches) for crate, patches in found.items()}
        return replace(cargo, crate_patches={crate: patches for crate, patches in pinned.items() if patches})

    def _pin(self, reference: FileRef) -> FileRef:
        if reference.urls:
            return reference if reference.sha256 else replace(reference, sha256=self._first_use(reference.urls[0], reference.urls))
        if reference.repository and not reference.sha256:
            self.tree(reference.repository)
            return replace(reference, sha256=self.maker.digest_of(reference))
        return reference

    def _first_use(self, name: str, urls: tuple[str, ...]) -> str:
        _, digest = self.maker.fetcher.fetch_unpinned(name, urls)
        self.trust(name, urls[0], digest)
        return digest

    def trust(self, name: str, url: str, digest: str) -> None:
        """Remember that a digest was taken from the file itself."""
        self.unpinned.append(f"{name}: sha256 {digest} of {url} was trusted on first use")

    # SourceOf: where .bzl modules come from

    def resolve(self, label: str, importer: Hashable, place: str) -> Label:
        """Return the Label of a load() as written in `importer`."""
        assert isinstance(importer, Label)
        with located(place):
            return self.label_in(importer, label)

    def text_of(self, key: Hashable) -> tuple[str, str] | str:
        """Return text and display name of a .bzl file, or the reason why it is not to be had."""
        assert isinstance(key, Label)
        if key.repository in INERT:
            return INERT[key.repository]
        if key.repository != self.main and key.repository not in self.declared:
            if key.repository not in self.embedded:
                return f"no repository @{key.repository} is declared above"
            tree = self.embedded[key.repository]
        else:
            try:
                self.repository(key.repository)
            except Unavailable as error:
                return error.what
            tree = self.tree(key.repository)
        inner = f"{key.package}/{key.name}" if key.package else key.name
        if not (tree / inner).is_file():
            return f"there is no file {inner} in @{key.repository}"
        display = inner if key.repository == self.main else f"external/{key.repository}/{inner}"
        return read_text(tree / inner, display), display

    def globals_for(self, key: Hashable) -> dict[str, Any]:
        assert isinstance(key, Label)
        return self.globals.of(key)

    def unavailable(self, symbol: str, key: Hashable, why: str, place: str) -> Unknown:
        """Return what stands for a symbol of a file that is not to be had."""
        return self.globals.unknown(symbol, why, f"of {key}", place)
