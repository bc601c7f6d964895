"""Owns what WORKSPACE files and the .bzl files that they load may name: functions that declare repositories, stand-ins for what a host
has no use for.

    globals = Globals(workspace)
    globals.of(Label("litert_lm", "", "WORKSPACE"))      # {"workspace": ..., "repository_rule": ..., "Label": ..., ...}
    globals.bazel_tools()                                # @bazel_tools//tools/build_defs/repo: http_archive, git_repository, maybe

What stands in for a function that cannot be called may be named, called and passed on: a call is noted and declares what cannot be had.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from litert_build.bazel.attributes import Attr
from litert_build.bazel.labels import Label
from litert_build.bazel.packages import PerModule
from litert_build.bazel.rules import bzl_globals, native_module
from litert_build.errors import BuildError, nearest
from litert_build.sources import repository_rules as rules
from litert_build.sources.git import resolve
from litert_build.sources.lock import Repository
from litert_build.sources.repository_context import interpret
from litert_build.starlark.opaque import Opaque
from litert_build.starlark.values import Builtin, EvalError, StarlarkDict, StarlarkFunction, Value, type_name

if TYPE_CHECKING:
    from litert_build.sources.workspace import Workspace

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


class Globals:
    """The names that one Workspace gives its files. Declarations, bindings and notes go to it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def of(self, key: Label) -> dict[str, Any]:
        """Return the names that a file sees; functions that declare are global in WORKSPACE alone, and `native`'s everywhere."""
        unknown = {name: self.unknown(name, "WORKSPACE files have no use for it") for name in _ELSEWHERE}
        shared = {name: value for name, value in bzl_globals().items() if not isinstance(value, PerModule)}
        functions = {name: call if isinstance(call, Value) else Builtin(name, call) for name, call in self._functions().items()}

        def label(text: Any) -> Label:
            return self.workspace.label_in(key, text)

        def repository_rule(implementation: Any, attrs: Any = None, **_: Any) -> _RepositoryRule:
            if not isinstance(implementation, StarlarkFunction):
                raise EvalError(f"repository_rule(implementation) takes a function, not {type_name(implementation)}")
            return _RepositoryRule(self.workspace, implementation, dict(attrs or {}), key)

        return {
            **unknown,
            **shared,
            **(functions if key.name.startswith("WORKSPACE") else {}),
            "native": _Native(functions, native_module()),
            "Label": Builtin("Label", label),
            "repository_rule": Builtin("repository_rule", repository_rule),
        }

    def unknown(self, name: str, why: str, owner: str = "", place: str = "") -> Unknown:
        """Return what stands for a name that cannot be called."""
        return Unknown(name, owner, why, place, self.workspace.note_call)

    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "workspace": self._workspace,
            "local_repository": self._native_rule("local_repository"),
            "new_local_repository": self._native_rule("new_local_repository"),
            "bind": self._bind,
            "existing_rule": self._existing_rule,
            "existing_rules": lambda: StarlarkDict({name: self._existing_rule(name) for name in self.workspace.declared}),
            **{
                name: self.unknown(name, "toolchain= chooses the compiler") for name in ("android_sdk_repository", "android_ndk_repository")
            },
            "register_toolchains": lambda *_, **__: None,
            "register_execution_platforms": lambda *_, **__: None,
        }

    def _workspace(self, *, name: str, **_: Any) -> None:
        if name != self.workspace.main:
            self.workspace.notes.append(f"WORKSPACE names the main repository {name!r}; the lock calls it {self.workspace.main!r}")

    def _bind(self, *, name: str, actual: Any = None, **_: Any) -> None:
        if actual is not None:
            self.workspace.bindings.setdefault(name, str(self.workspace.to_label(actual)))

    def _existing_rule(self, name: str) -> Any:
        found = self.workspace.declared.get(name)
        return None if found is None else StarlarkDict({**found.attrs, "name": name, "kind": found.kind})

    def _native_rule(self, kind: str) -> Callable[..., None]:
        def call(*, name: str, **values: Any) -> None:
            self.workspace.declare(name, kind, values, lambda: self._make_native(kind, name, values))

        return call

    def _make_native(self, kind: str, name: str, values: Mapping[str, Any]) -> Repository:
        if kind == "http_archive":
            return rules.http_archive(name, values, self.workspace.to_file)
        if kind == "http_file":
            return rules.http_file(name, values, self.workspace.to_file)
        if kind in ("git_repository", "new_git_repository"):
            return rules.git_repository(name, values, self.workspace.to_file, self._resolve)
        return rules.local_repository(name, values, self.workspace.to_file, self.workspace.made[self.workspace.main])

    def _resolve(self, remote: str, ref: str) -> str:
        return resolve(remote, ref, self.workspace.network)

    def bazel_tools(self) -> dict[Hashable, dict[str, Any] | str]:
        """Return the modules of @bazel_tools that declare repositories, made of our own rules."""
        folder = "tools/build_defs/repo"
        modules = {
            "http.bzl": ("http_archive", "http_file"),
            "git.bzl": ("git_repository", "new_git_repository"),
            "local.bzl": ("local_repository", "new_local_repository"),
        }
        helpers = "patch workspace_and_buildfile update_attrs get_auth read_netrc read_user_netrc use_netrc parse_netrc".split()
        unknown = {name: self.unknown(name, "repositories are made here without Bazel's own helpers") for name in helpers}
        made: dict[str, dict[str, Any]] = {
            file: {kind: Builtin(kind, self._native_rule(kind)) for kind in kinds} for file, kinds in modules.items()
        }
        made["http.bzl"]["http_jar"] = self.unknown("http_jar", "a host holds no Java")
        made["utils.bzl"] = {**unknown, "maybe": Builtin("maybe", self._maybe)}
        return {Label("bazel_tools", folder, file): symbols for file, symbols in made.items()}

    def _maybe(self, repo_rule: Any, name: str, **values: Any) -> None:
        """maybe(): declares as any declaration does, for the first one wins anyway."""
        repo_rule(name=name, **values)
