"""Owns the names that BUILD and .bzl files find: which rule, function or module each is.

build_globals()["cc_library"]
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from litert_build.bazel import packages
from litert_build.bazel.depset import make_depset
from litert_build.bazel.labels import Label
from litert_build.bazel.packages import PerModule, current_package
from litert_build.bazel.providers import (
    CC_INFO,
    DEFAULT_INFO,
    OUTPUT_GROUP_INFO,
    Provider,
    Struct,
    from_json,
    to_json,
)
from litert_build.bazel.rule_class import RuleClass
from litert_build.bazel.rules.cc import CC_RULES
from litert_build.bazel.rules.cc_common import cc_common_module
from litert_build.bazel.rules.general import GENERAL_RULES
from litert_build.bazel.rules.inert import INERT_RULES
from litert_build.bazel.rules.starlark_rule import BuildSetting, Namespace, attr_module, make_aspect, make_rule
from litert_build.bazel.select import make_select
from litert_build.starlark.builtins import UNIVERSAL
from litert_build.starlark.values import Builtin, EvalError, StarlarkDict

RULES: dict[str, RuleClass] = {**CC_RULES, **GENERAL_RULES, **INERT_RULES}


def embedded_repositories() -> dict[str, Path]:
    """Return the repositories that come with the build: the part of @platforms, @bazel_tools, @bazel_skylib, @rules_cc ... that
    closures of hosts use, written for it."""
    root = Path(__file__).parent.parent / "embedded"
    return {folder.name: folder for folder in sorted(root.iterdir()) if folder.is_dir()}


def _existing_rule(name: str) -> Any:
    package = current_package("existing_rule()")
    return StarlarkDict(packages.existing_rules_of(package, [name])[name]) if name in package.targets else None


def _existing_rules() -> Any:
    package = current_package("existing_rules()")
    found = packages.existing_rules_of(package, package.targets)
    return StarlarkDict({name: StarlarkDict(attrs) for name, attrs in found.items()})


def _licenses(license_types: Any) -> None:
    packages.string_list(license_types, "licenses")


def _functions() -> dict[str, Callable[..., Any]]:
    return {
        "glob": packages.glob,
        "subpackages": packages.subpackages,
        "package": packages.package_function,
        "package_group": packages.package_group,
        "exports_files": packages.exports_files,
        "licenses": _licenses,
        "distribs": _licenses,
        "package_name": lambda: current_package("package_name()").name,
        "repository_name": lambda: "@" + _shown_repository(),
        "repo_name": lambda: _shown_repository(),
        "package_relative_label": lambda text: current_package("package_relative_label()").to_label(text),
        "existing_rule": _existing_rule,
        "existing_rules": _existing_rules,
        "module_name": lambda: None,
        "module_version": lambda: None,
    }


def _shown_repository() -> str:
    package = current_package("repository_name()")
    return "" if package.repository == package.owner.main else package.repository


def _shared() -> dict[str, Any]:
    return {
        **UNIVERSAL,
        "print": Builtin("print", lambda *args, **named: None),
        "select": Builtin("select", make_select),
        "depset": Builtin("depset", make_depset),
        "struct": Builtin("struct", lambda **fields: Struct(fields)),
    }


def build_globals() -> dict[str, Any]:
    """Return the builtins of BUILD files."""
    functions = {name: Builtin(name, call) for name, call in _functions().items()}
    return {**_shared(), **functions, **RULES, "Label": Builtin("Label", lambda text: current_package("Label()").to_label(text))}


def native_module() -> Namespace:
    """Return `native`: what BUILD files have, for macros."""
    functions = {name: Builtin(f"native.{name}", call) for name, call in _functions().items()}
    return Namespace("native", {**functions, **RULES, "bazel_version": "7.7.1"})


def _provider(doc: str = "", *, fields: Any = None, init: Any = None) -> Any:
    made = Provider("", fields, init)
    return (made, Builtin("raw", made.make)) if init is not None else made


def _label_in(key: Label, owner: packages.Packages) -> Builtin:
    return Builtin("Label", lambda text: owner.label(text, key.repository, key.package, owner.mapping(key.repository)))


def _transition(**_: Any) -> Any:
    raise EvalError("transition() is not supported: there are two configurations, target and exec")


def _json_module() -> Namespace:
    def decode(text: str, default: Any = None) -> Any:
        try:
            return from_json(json.loads(text))
        except ValueError as error:
            raise EvalError(f"json.decode: {error}") from None

    def encode(value: Any) -> str:
        return json.dumps(to_json(value), separators=(",", ":"))

    def indent(text: str, *, prefix: str = "", indent: str = "\t") -> str:
        return json.dumps(json.loads(text), indent=indent).replace("\n", "\n" + prefix)

    members = {"encode": encode, "decode": decode, "indent": indent, "encode_indent": lambda value, **given: indent(encode(value), **given)}
    return Namespace("json", {name: Builtin(f"json.{name}", call) for name, call in members.items()})


def _build_setting(kind: str, **_: Any) -> BuildSetting:
    return BuildSetting(kind)


def _config_module() -> Namespace:
    kinds = {"string": "string", "bool": "bool", "int": "int", "string_list": "string_list", "string_set": "string_list"}
    made = {name: Builtin(f"config.{name}", functools.partial(_build_setting, kind)) for name, kind in kinds.items()}
    made["exec"] = Builtin("config.exec", lambda *_, **__: "exec")
    made["target"] = Builtin("config.target", lambda: "target")
    return Namespace("config", made)


def bzl_globals() -> dict[str, Any]:
    """Return the builtins of .bzl files."""
    return {
        **_shared(),
        "native": native_module(),
        "Label": PerModule(_label_in),
        "rule": Builtin("rule", make_rule),
        "attr": attr_module(),
        "provider": Builtin("provider", _provider),
        "aspect": Builtin("aspect", make_aspect),
        "transition": Builtin("transition", _transition),
        "visibility": Builtin("visibility", lambda *_: None),
        "json": _json_module(),
        "config": _config_module(),
        "cc_common": cc_common_module(),
        "CcInfo": CC_INFO,
        "DefaultInfo": DEFAULT_INFO,
        "OutputGroupInfo": OUTPUT_GROUP_INFO,
    }
