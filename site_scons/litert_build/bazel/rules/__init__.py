"""Owns the names that BUILD and .bzl files find: which rule, function or module each is.

build_globals()["cc_library"]
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from litert_build.bazel import build_functions
from litert_build.bazel.depset import make_depset
from litert_build.bazel.labels import Label
from litert_build.bazel.packages import Packages, PerModule, current_package
from litert_build.bazel.providers import (
    CC_INFO,
    DEFAULT_INFO,
    FEATURE_FLAG_INFO,
    INSTRUMENTED_FILES_INFO,
    OUTPUT_GROUP_INFO,
    TEMPLATE_VARIABLE_INFO,
    TOOLCHAIN_INFO,
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
from litert_build.bazel.rules.manifest import PROTOC_ONCE, inert_globals
from litert_build.bazel.rules.objc import OBJC_RULES
from litert_build.bazel.rules.proto import PROTO_INFO, PROTO_RULES
from litert_build.bazel.rules.starlark_rule import BuildSetting, Namespace, attr_module, make_aspect, make_rule
from litert_build.bazel.select import make_select
from litert_build.starlark.builtins import UNIVERSAL
from litert_build.starlark.opaque import Inert
from litert_build.starlark.values import Builtin, EvalError, StarlarkDict

RULES: dict[str, RuleClass] = {**CC_RULES, **OBJC_RULES, **GENERAL_RULES, **PROTO_RULES, **INERT_RULES}


def embedded_repositories() -> dict[str, Path]:
    """Return the repositories that come with the build: the part of @platforms, @bazel_tools, @bazel_skylib, @rules_cc ... that
    closures of hosts use, written for it."""
    root = Path(__file__).parent.parent / "embedded"
    return {folder.name: folder for folder in sorted(root.iterdir()) if folder.is_dir()}


def _existing_rule(name: str) -> Any:
    package = current_package("existing_rule()")
    return StarlarkDict(build_functions.existing_rules_of(package, [name])[name]) if name in package.targets else None


def _existing_rules() -> Any:
    package = current_package("existing_rules()")
    found = build_functions.existing_rules_of(package, package.targets)
    return StarlarkDict({name: StarlarkDict(attrs) for name, attrs in found.items()})


def _licenses(license_types: Any) -> None:
    build_functions.string_list(license_types, "licenses")


def _functions() -> dict[str, Callable[..., Any]]:
    return {
        "glob": build_functions.glob,
        "subpackages": build_functions.subpackages,
        "package": build_functions.package_function,
        "package_group": build_functions.package_group,
        "exports_files": build_functions.exports_files,
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
    return current_package("repository_name()").repository


def _shared() -> dict[str, Any]:
    return {
        **UNIVERSAL,
        "print": Builtin("print", lambda *args, **named: None),
        "select": Builtin("select", make_select),
        "depset": Builtin("depset", make_depset),
    }


def build_globals() -> dict[str, Any]:
    """Return the builtins of BUILD files."""
    functions = {name: Builtin(name, call) for name, call in _functions().items()}
    return {**_shared(), **functions, **RULES, "json": _json_module(), "proto": inert_globals()["proto"]}


def native_module() -> Namespace:
    """Return `native`: what BUILD files have, for macros."""
    functions = {name: Builtin(f"native.{name}", call) for name, call in _functions().items()}
    return Namespace("native", {**functions, **RULES, "bazel_version": "7.7.1"})


def _provider(doc: str = "", *, fields: Any = None, init: Any = None) -> Any:
    made = Provider("", fields, init)
    return (made, Builtin("raw", made.make)) if init is not None else made


def _label_in(key: Label, owner: Packages) -> Builtin:
    return Builtin("Label", lambda text: owner.label(text, key.repository, key.package, owner.mapping(key.repository)))


def _json_module() -> Namespace:
    def decode(text: str, default: Any = None) -> Any:
        try:
            return from_json(json.loads(text))
        except ValueError as error:
            raise EvalError(f"json.decode: {error}") from None

    def encode(value: Any) -> str:
        return json.dumps(to_json(value), separators=(",", ":"), sort_keys=True, ensure_ascii=False)

    def indent(text: str, *, prefix: str = "", indent: str = "\t") -> str:
        return json.dumps(json.loads(text), indent=indent, ensure_ascii=False).replace("\n", "\n" + prefix)

    members: dict[str, Callable[..., Any]] = {
        "encode": encode,
        "decode": decode,
        "indent": indent,
        "encode_indent": lambda value, **given: indent(encode(value), **given),
    }
    return Namespace("json", {name: Builtin(f"json.{name}", call) for name, call in members.items()})


def _build_setting(kind: str, **_: Any) -> BuildSetting:
    return BuildSetting(kind)


def _config_module() -> Namespace:
    kinds = {"string": "string", "bool": "bool", "int": "int", "string_list": "string_list", "string_set": "string_list"}
    made = {name: Builtin(f"config.{name}", functools.partial(_build_setting, kind)) for name, kind in kinds.items()}
    made["exec"] = Builtin("config.exec", lambda *_, **__: "exec")
    made["target"] = Builtin("config.target", lambda: "target")
    return Namespace("config", made)


def _coverage_common() -> Namespace:
    def make(*_: Any, **__: Any) -> Struct:
        return Struct({}, INSTRUMENTED_FILES_INFO)

    return Namespace("coverage_common", {"instrumented_files_info": Builtin("instrumented_files_info", make)})


def _platform_common() -> Namespace:
    members = {"TemplateVariableInfo": TEMPLATE_VARIABLE_INFO, "ToolchainInfo": TOOLCHAIN_INFO}
    others = ("ConstraintSettingInfo", "ConstraintValueInfo", "PlatformInfo")
    return Namespace("platform_common", {**members, **{name: Provider(name) for name in others}})


def _config_common() -> Namespace:
    members = {
        "FeatureFlagInfo": FEATURE_FLAG_INFO,
        "toolchain_type": Builtin("toolchain_type", lambda name, **_: name),
    }
    return Namespace("config_common", members)


def _proto_common() -> Namespace:
    """What protobuf's own .bzl files decide by while they load; its rules then give way to the native ones of Bazel 7."""
    calls = ("check_collocated", "compile", "declare_generated_files", "experimental_filter_sources", "experimental_should_generate_code",
             "get_import_path")  # fmt: skip
    members: dict[str, Any] = {name: Inert(f"proto_common.{name}", "", PROTOC_ONCE) for name in calls}
    members["ProtoLangToolchainInfo"] = Provider("ProtoLangToolchainInfo")
    settings = {"INCOMPATIBLE_ENABLE_PROTO_TOOLCHAIN_RESOLUTION": False, "INCOMPATIBLE_PASS_TOOLCHAIN_TYPE": True}
    return Namespace("proto_common", {**members, **settings})


def bzl_globals() -> dict[str, Any]:
    """Return the builtins of .bzl files."""
    return {
        **_shared(),
        **inert_globals(),
        "native": native_module(),
        "struct": Builtin("struct", lambda **fields: Struct(fields)),
        "Label": PerModule(_label_in),
        "rule": Builtin("rule", make_rule),
        "attr": attr_module(),
        "provider": Builtin("provider", _provider),
        "aspect": Builtin("aspect", make_aspect),
        "visibility": Builtin("visibility", lambda *_: None),
        "json": _json_module(),
        "config": _config_module(),
        "cc_common": cc_common_module(),
        "CcInfo": CC_INFO,
        "DefaultInfo": DEFAULT_INFO,
        "OutputGroupInfo": OUTPUT_GROUP_INFO,
        "InstrumentedFilesInfo": INSTRUMENTED_FILES_INFO,
        "ProtoInfo": PROTO_INFO,
        "proto_common_do_not_use": _proto_common(),
        "coverage_common": _coverage_common(),
        "platform_common": _platform_common(),
        "config_common": _config_common(),
    }
