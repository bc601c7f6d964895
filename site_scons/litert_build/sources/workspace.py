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

import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litert_build.bazel.attributes import Attr
from litert_build.bazel.labels import Label, parse_label
from litert_build.bazel.packages import PerModule, read_text
from litert_build.bazel.rules import bzl_globals, embedded_repositories, native_module
from litert_build.errors import BuildError, nearest
from litert_build.sources import repository_rules as rules
from litert_build.sources.crate_universe import CrateUniverse
from litert_build.sources.git import resolve
from litert_build.sources.lock import Cargo, FileRef, Repository
from litert_build.sources.network import Network
from litert_build.sources.repository_context import Services, interpret
from litert_build.sources.trees import TreeMaker
from litert_build.starlark.modules import Modules, call_stack, located, prepare, run
from litert_build.starlark.opaque import Opaque
from litert_build.starlark.values import Builtin, EvalError, StarlarkDict, StarlarkFunction, Value, to_repr, type_name

INERT: dict[str, str] = {
    name: why
    for why, names in {
        "crates are built by cargo": "rules_rust cxx.rs crate_index",
        "a host holds no Java": "rules_java rules_jvm_external rules_kotlin rules_android rules_android_ndk local_config_android",
        "a host holds no JavaScript": "io_bazel_rules_closure build_bazel_rules_nodejs rules_nodejs",
        "toolchain= chooses the compiler": "rules_apple rules_swift build_bazel_rules_apple build_bazel_rules_swift "
        "build_bazel_apple_support bazel_toolchains rules_ml_toolchain rules_foreign_cc",
        "tools run with what the machine has": "rules_python rules_go gazelle io_bazel_rules_go bazel_gazelle",
        "neither compiler nor RPC goes into a host": "llvm-raw llvm-project tf_runtime com_github_grpc_grpc com_google_googleapis",
        "bundles are made here": "rules_pkg rules_oci rules_docker io_bazel_rules_docker",
    }.items()
    for name in names.split()
}
# Macros that WORKSPACE files of upstream load for toolchains and devices: they compute with what only other machines have.
INERT_SYMBOLS = re.compile(r"(?:cuda|nccl|nvshmem|rocm|sycl|tensorrt|python_init|py_|pip_|cc_toolchain_|android_)\w*")
# Builtins of .bzl files that declare nothing: files may name them, since WORKSPACE files load macros from where rules are defined too.
_ELSEWHERE = (
    "module_extension tag_class transition configuration_field exec_group subrule macro materializer_rule analysis_test_transition "
    "exec_transition toolchain_type config_common platform_common apple_common android_common java_common js_common coverage_common "
    "pkg_common py_internal testing proto_common proto_common_do_not_use objc_common "
    "AnalysisFailureInfo AnalysisTestResultInfo AndroidIdeInfo AndroidNativeLibsInfo AndroidSdkInfo ApkInfo AppleDynamicFrameworkInfo "
    "CcSharedLibraryInfo CcSharedLibraryHintInfo CcToolchainConfigInfo CcToolchainInfo ConstraintSettingInfo ConstraintValueInfo "
    "DebugPackageInfo ExecutionInfo FeatureFlagInfo FilesToRunProvider GeneratedExtensionRegistryProvider IncompatiblePlatformProvider "
    "InstrumentedFilesInfo JavaInfo JavaPluginInfo JavaRuntimeInfo JavaToolchainInfo MaterializedDepsInfo ObjcProvider PackageInfo "
    "PackageSpecificationInfo PlatformInfo ProguardSpecProvider ProtoInfo ProtoLangToolchainInfo PyCcLinkParamsProvider PyInfo "
    "PyRuntimeInfo PyWrapCcInfo RunEnvironmentInfo StaticallyLinkedMarkerProvider TemplateVariableInfo ToolchainInfo ToolchainTypeInfo "
    "UnboundValue XcodeProperties XcodeVersionConfig"
).split()


class Unknown(Opaque):
    """A value that cannot be known here. It may be named, called and passed on; it decides nothing and makes no text."""

    def __init__(self, name: str, owner: str, why: str, place: str, called: Callable[[Unknown, dict[str, Any]], None]) -> None:
        super().__init__(name, owner, why, place)
        self.called = called

    def fault(self, use: str = "is used") -> BuildError:
        """Return the error of whoever needs the value after all."""
        error = super().fault(use)
        return BuildError(
            error.what, notes=error.notes, mend="if a host needs nothing of the macro that uses it, leave it out with skip=MACRO"
        )

    def computed(self, name: str) -> Unknown:
        return Unknown(name, self.owner, self.why, self.place, self.called)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.called(self, kwargs)
        return super().__call__(*args, **kwargs)

    def starlark_str(self) -> str:
        raise self.fault("becomes part of a text")


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


class _RepositoryRule(Value):
    type_name = "repository_rule"

    def __init__(self, owner: Workspace, implementation: Any, attrs: dict[str, Attr], home: Label) -> None:
        self.owner, self.implementation, self.attrs, self.home = owner, implementation, attrs, home

    def __call__(self, *, name: str, **given: Any) -> None:
        kind = self.implementation.name.strip("_").removesuffix("_impl")
        common = ("repo_mapping", "visibility", "tags", "deprecation", "exec_properties")
        for attribute in given:
            if attribute not in self.attrs and attribute not in common:
                raise EvalError(f"repository rule has no attribute '{attribute}'; {nearest(attribute, self.attrs)}".rstrip("; "))
        missing = [attribute for attribute, spec in self.attrs.items() if spec.mandatory and attribute not in given]
        if missing:
            raise EvalError(f"repository '{name}' lacks the mandatory attribute '{missing[0]}'")
        values = {attribute: spec.empty() for attribute, spec in self.attrs.items()}
        for attribute, value in given.items():
            if attribute in self.attrs and value is not None:
                values[attribute] = self.attrs[attribute].convert(value, attribute, self.owner.to_label)
        mapping = {str(inner).lstrip("@"): str(outer).lstrip("@") for inner, outer in (given.get("repo_mapping") or {}).items()}

        def make() -> Repository:
            made = interpret(kind, self.implementation, name, {"name": name, **values}, self.owner.services)
            return replace(made, repo_mapping=mapping)

        self.owner.declare(name, kind, {**given}, make)


class _Native(Value):
    """`native` in files that WORKSPACE loads: its own functions, and what BUILD files have, for macros that are only defined here."""

    type_name = "native"

    def __init__(self, functions: Mapping[str, Any], build: Value) -> None:
        self.functions, self.build = functions, build

    def starlark_attr(self, name: str) -> Any:
        return self.functions[name] if name in self.functions else self.build.starlark_attr(name)

    def starlark_dir(self) -> list[str]:
        return sorted({*self.functions, *self.build.starlark_dir()})


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
        self.modules.loaded.update(self._bazel_tools())
        self.modules.loaded[Label("rules_rust", "crate_universe", "defs.bzl")] = self.crates.module()

    # Evaluation

    def evaluate(self) -> None:
        """Run WORKSPACE.bazel or WORKSPACE of the main repository. Raises BuildError with file:line and macro stack."""
        tree = self.tree(self.main)
        name = next((name for name in ("WORKSPACE.bazel", "WORKSPACE") if (tree / name).is_file()), "")
        if not name:
            raise BuildError("there is no WORKSPACE file", where=str(tree), mend="is this the tree of the main repository?")
        bindings = self._globals(Label(self.main, "", name))
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
        mapping = self.made[importer.repository].repo_mapping if importer.repository in self.made else {}
        with located(place):
            return self._absolute(parse_label(label, importer.repository, importer.package, mapping))

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
        return self._globals(key)

    def unavailable(self, symbol: str, key: Hashable, why: str, place: str) -> Unknown:
        """Return what stands for a symbol of a file that is not to be had."""
        return Unknown(symbol, f"of {key}", why, place, self.note_call)

    def _unknown(self, name: str, why: str) -> Unknown:
        return Unknown(name, "", why, "", self.note_call)

    # Globals

    def _globals(self, key: Label) -> dict[str, Any]:
        unknown = {name: self._unknown(name, "WORKSPACE files have no use for it") for name in _ELSEWHERE}
        shared = {name: value for name, value in bzl_globals().items() if not isinstance(value, PerModule)}
        functions = {name: call if isinstance(call, Value) else Builtin(name, call) for name, call in self._functions().items()}

        def label(text: Any) -> Label:
            mapping = self.made[key.repository].repo_mapping if key.repository in self.made else {}
            return self._absolute(parse_label(text, key.repository, key.package, mapping))

        def repository_rule(implementation: Any, attrs: Any = None, **_: Any) -> _RepositoryRule:
            if not isinstance(implementation, StarlarkFunction):
                raise EvalError(f"repository_rule(implementation) takes a function, not {type_name(implementation)}")
            return _RepositoryRule(self, implementation, dict(attrs or {}), key)

        return {
            **unknown,
            **shared,
            **(functions if key.name.startswith("WORKSPACE") else {}),
            "native": _Native(functions, native_module()),
            "Label": Builtin("Label", label),
            "repository_rule": Builtin("repository_rule", repository_rule),
        }

    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "workspace": self._workspace,
            "local_repository": self._native_rule("local_repository"),
            "new_local_repository": self._native_rule("new_local_repository"),
            "bind": self._bind,
            "existing_rule": self._existing_rule,
            "existing_rules": lambda: StarlarkDict({name: self._existing_rule(name) for name in self.declared}),
            **{
                name: self._unknown(name, "toolchain= chooses the compiler")
                for name in ("android_sdk_repository", "android_ndk_repository")
            },
            "register_toolchains": lambda *_, **__: None,
            "register_execution_platforms": lambda *_, **__: None,
        }

    def _workspace(self, *, name: str, **_: Any) -> None:
        if name != self.main:
            self.notes.append(f"WORKSPACE names the main repository {name!r}; the lock calls it {self.main!r}")

    def _bind(self, *, name: str, actual: Any = None, **_: Any) -> None:
        if actual is not None:
            self.bindings.setdefault(name, str(self.to_label(actual)))

    def _existing_rule(self, name: str) -> Any:
        found = self.declared.get(name)
        return None if found is None else StarlarkDict({**found.attrs, "name": name, "kind": found.kind})

    def _native_rule(self, kind: str) -> Callable[..., None]:
        def call(*, name: str, **values: Any) -> None:
            self.declare(name, kind, values, lambda: self._make_native(kind, name, values))

        return call

    def _make_native(self, kind: str, name: str, values: Mapping[str, Any]) -> Repository:
        if kind == "http_archive":
            return rules.http_archive(name, values, self.to_file)
        if kind == "http_file":
            return rules.http_file(name, values, self.to_file)
        if kind in ("git_repository", "new_git_repository"):
            return rules.git_repository(name, values, self.to_file, lambda remote, ref: resolve(remote, ref, self.network))
        return rules.local_repository(name, values, self.to_file, self.made[self.main])

    def _bazel_tools(self) -> dict[Hashable, dict[str, Any] | str]:
        """Return the modules of @bazel_tools that declare repositories, made of our own rules."""
        folder = "tools/build_defs/repo"
        modules = {
            "http.bzl": ("http_archive", "http_file"),
            "git.bzl": ("git_repository", "new_git_repository"),
            "local.bzl": ("local_repository", "new_local_repository"),
        }
        helpers = "patch workspace_and_buildfile update_attrs get_auth read_netrc read_user_netrc use_netrc parse_netrc".split()
        unknown = {name: self._unknown(name, "repositories are made here without Bazel's own helpers") for name in helpers}
        made: dict[str, dict[str, Any]] = {
            file: {kind: Builtin(kind, self._native_rule(kind)) for kind in kinds} for file, kinds in modules.items()
        }
        made["http.bzl"]["http_jar"] = self._unknown("http_jar", "a host holds no Java")
        made["utils.bzl"] = {**unknown, "maybe": Builtin("maybe", self._maybe)}
        return {Label("bazel_tools", folder, file): symbols for file, symbols in made.items()}

    def _maybe(self, repo_rule: Any, name: str, **values: Any) -> None:
        """maybe(): declares as any declaration does, for the first one wins anyway."""
        repo_rule(name=name, **values)
