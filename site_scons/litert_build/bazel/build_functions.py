"""Owns the functions of BUILD files that are no rules: glob(), subpackages(), package(), package_group(), exports_files(), and what
native.existing_rules() shows.

    Builtin("glob", glob)      # speaks of the package whose BUILD file is being evaluated

Rules: Bazel's BUILD functions reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from litert_build.bazel.glob import PackageFiles
from litert_build.bazel.labels import Label, check_name
from litert_build.bazel.packages import Package, PackageGroup, current_package, named
from litert_build.bazel.rule_class import RuleTarget
from litert_build.errors import nearest
from litert_build.starlark.values import EvalError, StarlarkList, to_repr, type_name


def string_list(value: Any, what: str) -> list[str]:
    """Return `value` as a list of strings. Raises EvalError naming `what` otherwise."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise EvalError(f"{what} takes a list of strings, not {to_repr(value)} ({type_name(value)})")
    return list(value)


def glob(include: Any = (), exclude: Any = (), exclude_directories: int = 1, allow_empty: Any = True, **unknown: Any) -> StarlarkList:
    """The glob() builtin."""
    if unknown:
        raise EvalError(f"glob() got unexpected keyword argument '{next(iter(unknown))}'")
    package = current_package("glob()")
    include, exclude = string_list(include, "glob include"), string_list(exclude, "glob exclude")
    found = package.files.glob(include, exclude, folders=not exclude_directories)
    if not found and not allow_empty:
        raise EvalError(f"glob pattern {to_repr(include)} didn't match anything, but allow_empty is set to False")
    return StarlarkList(found)


def subpackages(include: Any = (), exclude: Any = (), allow_empty: bool = False) -> StarlarkList:
    """The subpackages() builtin."""
    package = current_package("subpackages()")
    files = PackageFiles.__new__(PackageFiles)
    files.files, files.folders = sorted(package.files.subpackages), []
    found = files.glob(string_list(include, "subpackages include"), string_list(exclude, "subpackages exclude"))
    if not found and not allow_empty:
        raise EvalError("subpackages pattern didn't match anything, but allow_empty is set to False")
    return StarlarkList(found)


def exports_files(srcs: Any, visibility: Any = None, licenses: Any = None) -> None:
    """The exports_files() builtin."""
    package = current_package("exports_files()")
    seen = None if visibility is None else tuple(package.to_label(label) for label in visibility)
    for name in string_list(srcs, "exports_files"):
        check_name(name)
        if name not in package.exported:
            package.check_free(name, f"exports_files() of '{name}'")
            if name in package.outputs:
                raise EvalError(f"exports_files() of '{name}' conflicts with a generated file of {named(package.outputs[name])}")
        package.exported[name] = seen


def package_function(**given: Any) -> None:
    """The package() builtin."""
    package = current_package("package()")
    known = ("default_visibility", "default_testonly", "features", "default_deprecation", "default_hdrs_check", "default_copts",
             "default_compatible_with", "default_restricted_to", "default_applicable_licenses", "default_package_metadata",
             "licenses", "distribs")  # fmt: skip
    for name in given:
        if name not in known:
            raise EvalError(f"package() has no argument '{name}'; {nearest(name, known)}".rstrip("; "))
    if package.declared_package:
        raise EvalError("package() is called twice in one BUILD file")
    package.declared_package = True
    package.default_visibility = tuple(package.to_label(label) for label in given.get("default_visibility", ()))
    package.default_testonly = bool(given.get("default_testonly", False))
    package.features = tuple(string_list(given.get("features", ()), "package features"))
    if given.get("default_copts"):
        raise EvalError("package(default_copts) is not supported")


def package_group(name: str, packages: Any = (), includes: Any = (), **unknown: Any) -> None:
    """The package_group() builtin."""
    package = current_package("package_group()")
    if unknown:
        raise EvalError(f"package_group() has no argument '{next(iter(unknown))}'")
    label = package.to_label(f":{name}")
    package.check_free(label.name, f"package_group '{name}'")
    specs = tuple(string_list(packages, "package_group packages"))
    for spec in specs:
        if not spec.removeprefix("-").startswith(("//", "@")) and spec not in ("public", "private"):
            raise EvalError(f"package_group '{name}': {to_repr(spec)} is no package: it starts with //, or is public or private")
    package.groups[name] = PackageGroup(label, specs, tuple(package.to_label(i) for i in includes))


def existing_rules_of(package: Package, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what native.existing_rules() shows of the targets `names`: every attribute with its default, name and kind."""
    return {name: _existing(package.targets[name]) for name in names}


def _existing(target: RuleTarget) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for name, spec in target.rule.attrs.items():
        if not name.startswith("_"):
            shown[name] = _as_written(target.attrs.get(name, spec.empty()), target)
    shown.update(name=target.label.name, kind=target.rule.name)
    return shown


def _as_written(value: Any, target: RuleTarget) -> Any:
    if isinstance(value, Label):
        if (value.repository, value.package) == (target.label.repository, target.label.package):
            return f":{value.name}"
        inner = f"//{value.package}:{value.name}"
        return inner if value.repository == target.label.repository else f"@@{value.repository}{inner}"
    if isinstance(value, list | tuple):
        return tuple(_as_written(item, target) for item in value)
    if isinstance(value, dict):
        return {_as_written(key, target): _as_written(item, target) for key, item in value.items()}
    return value
