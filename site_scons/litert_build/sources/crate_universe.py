"""Owns what WORKSPACE says about crates: the patches that crates_repository() of rules_rust annotates them with.

    universe = CrateUniverse(declare, to_file)
    universe.module()               # the symbols of @rules_rust//crate_universe:defs.bzl
    universe.patches                # {"llguidance": (Patch(...), ...)} after WORKSPACE ran

The crates themselves are built by cargo (sources/rust) from upstream's Cargo.lock; of an annotation only what changes their sources
counts. Rules: the reference of rules_rust, crate_universe for WORKSPACE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litert_build.sources.lock import FileRef, Patch
from litert_build.sources.repository_rules import patch_strip
from litert_build.starlark.values import Builtin, EvalError, Value, to_repr, type_name

Declare = Callable[[str, dict[str, Any]], None]
# What an annotation may hold that does not change the sources of a crate: how Bazel builds it, or who may see it.
_HOW_BAZEL_BUILDS = frozenset(
    "additive_build_file additive_build_file_content alias_rule build_script_data build_script_data_glob build_script_deps "
    "build_script_env build_script_proc_macro_deps build_script_rundir build_script_rustc_env build_script_toolchains "
    "build_script_tools compile_data compile_data_glob compile_data_glob_excludes crate_features data data_glob deps "
    "disable_pipelining extra_aliased_targets gen_all_binaries gen_binaries gen_build_script override_target_bin "
    "override_target_build_script override_target_lib override_target_proc_macro proc_macro_deps rustc_env rustc_env_files "
    "rustc_flags shallow_since version".split()
)


class Annotation(Value):
    """What crate.annotation() returns: the patches of one crate."""

    type_name = "crate.annotation"

    def __init__(self, patches: tuple[Patch, ...]) -> None:
        self.patches = patches


class _Crate(Value):
    """`crate`: of its functions only annotation() counts; what the others return says how Bazel builds crates."""

    type_name = "crate"

    def __init__(self, functions: dict[str, Builtin]) -> None:
        self.functions = functions

    def starlark_attr(self, name: str) -> Any:
        if name not in self.functions:
            raise EvalError(f"crate has no function '{name}'")
        return self.functions[name]

    def starlark_dir(self) -> list[str]:
        return sorted(self.functions)


class CrateUniverse:
    """The crates of one WORKSPACE. `declare(name, arguments)` declares the repository that crates_repository() makes in Bazel."""

    def __init__(self, declare: Declare, to_file: Callable[[Any], FileRef]) -> None:
        self.declare, self.to_file = declare, to_file
        self.patches: dict[str, tuple[Patch, ...]] = {}

    def module(self) -> dict[str, Any]:
        """Return the symbols that WORKSPACE loads."""
        aside = {name: Builtin(f"crate.{name}", lambda *_, **__: None) for name in ("spec", "select", "workspace_member")}
        return {
            "crate": _Crate({"annotation": Builtin("crate.annotation", self._annotation), **aside}),
            "crates_repository": Builtin("crates_repository", self._crates_repository),
        }

    def _annotation(self, *, patches: Any = (), patch_args: Any = (), patch_tool: Any = None, **more: Any) -> Annotation:
        unknown = sorted(set(more) - _HOW_BAZEL_BUILDS)
        if patch_tool or unknown:
            what = "patch_tool" if patch_tool else unknown[0]
            raise EvalError(f"crate.annotation() with {what} is not supported: crates are built by cargo, patched exactly")
        if not isinstance(patches or (), list | tuple):
            raise EvalError(f"crate.annotation.patches takes a list of labels, not {to_repr(patches)} ({type_name(patches)})")
        strip = patch_strip(patch_args or ())
        return Annotation(tuple(Patch(self.to_file(file), strip) for file in patches or ()))

    def _crates_repository(self, *, name: str, annotations: Any = None, **more: Any) -> None:
        for crate, found in (annotations or {}).items():
            for annotation in found if isinstance(found, list | tuple) else [found]:
                if not isinstance(annotation, Annotation):
                    raise EvalError(f"annotations of crate '{crate}' are made by crate.annotation(), not {to_repr(annotation)}")
                self.patches[crate] = (*self.patches.get(crate, ()), *annotation.patches)
        self.declare(name, more)
