"""Owns the lists of names that Bazel 7 has and this build only knows, or does not know: each with the reason.

    INERT["JavaInfo"]      # 'a host holds no Java'
    MISSING["ctx"]["fragments"]

Inert names may be mentioned and passed on; a closure that needs what they would give stops there. A missing name is an error
wherever it is written. bazel/manifest.py puts all of it together.
"""

from __future__ import annotations

from typing import Any

from litert_build.starlark.opaque import Inert

_JAVA = "a host holds no Java"
_APPLE = "Objective-C and Swift need Xcode"
_ANDROID = "Android packages are built by their consumers"
_TESTS = "tests are declared, not built"
_TOOLCHAIN = "toolchain= chooses the compiler"
_SHARED = "a host needs no shared library of its own sources"
_PYTHON = "tools run with the machine's python3"
PROTOC_ONCE = "protoc is called once a file by cc_proto_library"
_CONFIGURATIONS = "there are two configurations, target and exec, and one machine"

INERT: dict[str, str] = {
    **dict.fromkeys(("java_common", "JavaInfo", "JavaPluginInfo", "ProguardSpecProvider",
                     "experimental_java_library_export_do_not_use"), _JAVA),
    "apple_common": _APPLE,
    **dict.fromkeys(("android_common", "AndroidApplicationResourceInfo", "AndroidAssetsInfo", "AndroidBinaryData",
                     "AndroidBinaryNativeLibsInfo", "AndroidCcLinkParamsInfo", "AndroidDeviceBrokerInfo", "AndroidDexInfo",
                     "AndroidFeatureFlagSet", "AndroidIdeInfo", "AndroidIdlInfo", "AndroidInstrumentationInfo", "AndroidLibraryAarInfo",
                     "AndroidLibraryResourceClassJarProvider", "AndroidManifestInfo", "AndroidNativeLibsInfo",
                     "AndroidNeverLinkLibrariesProvider", "AndroidOptimizationInfo", "AndroidOptimizedJarInfo", "AndroidPreDexJarInfo",
                     "AndroidProguardInfo", "AndroidResourcesInfo", "AndroidSdkInfo", "ApkInfo", "BaselineProfileProvider",
                     "DataBindingV2Info"), _ANDROID),
    **dict.fromkeys(("testing", "AnalysisTestResultInfo", "analysis_test_transition", "RunEnvironmentInfo"), _TESTS),
    **dict.fromkeys(("PyInfo", "PyRuntimeInfo", "PyCcLinkParamsProvider", "PyWrapCcInfo", "py_internal"), _PYTHON),
    **dict.fromkeys(("CcToolchainConfigInfo", "configuration_field"), _TOOLCHAIN),
    **dict.fromkeys(("CcSharedLibraryInfo", "CcSharedLibraryHintInfo"), _SHARED),
    **dict.fromkeys(("exec_group", "transition", "subrule", "PackageSpecificationInfo", "DebugPackageInfo"), _CONFIGURATIONS),
    **dict.fromkeys(("repository_rule", "module_extension", "tag_class"), "repositories come from the lock"),
    **dict.fromkeys(("proto_common", "cc_proto_aspect"), PROTOC_ONCE),
    "proto": "no generator of a host writes text protos at analysis",
    "macro": "symbolic macros are newer than any supported ref",
}  # fmt: skip

# Names this build has and Bazel 7 has not.
BEYOND: dict[str, dict[str, str]] = {
    "bzl": {"set": "Bazel 8 has it", "macro": "Bazel 8 has it; it is inert"},
    "BUILD": {"set": "Bazel 8 has it"},
    "native": {
        "bazel_version": "skylib's versions.bzl reads it",
        **dict.fromkeys(("distribs", "licenses", "environment_group"), "BUILD files have it, and so has every macro"),
        "compiler_flag": "@bazel_tools//tools/cpp:compiler is one",
    },
    "config": {"string_set": "Bazel 8 has it", "target": "Bazel 8 has it"},
}
BEYOND["BUILD"]["compiler_flag"] = BEYOND["native"]["compiler_flag"]

_COMPILES = "cc rules compile and link: a rule that calls the compiler itself needs a native counterpart"
_TEXT = "structs are written with json.encode"
_INTERNAL = "Bazel's own rules alone use it"
MISSING: dict[str, dict[str, str]] = {
    "native": {**dict.fromkeys(("to_json", "to_proto"), _TEXT), "legacy_globals": _INTERNAL},
    "config_common": {"config_feature_flag_transition": _CONFIGURATIONS},
    "cc_common": {
        **dict.fromkeys(("action_is_enabled", "compile", "configure_features", "create_cc_toolchain_config_info",
                         "create_compilation_outputs", "create_compile_action", "create_compile_variables", "create_debug_context",
                         "create_library_to_link", "create_link_variables", "create_linking_context_from_compilation_outputs",
                         "create_lto_backend_artifacts", "create_module_map", "empty_variables", "get_environment_variables",
                         "get_execution_requirements",
                         "get_memory_inefficient_command_line", "get_tool_for_action", "get_tool_requirement_for_action", "is_enabled",
                         "ld_tool_path", "link", "merge_compilation_contexts", "merge_compilation_outputs", "merge_debug_context",
                         "merge_linking_contexts", "objcopy", "objcopy_tool_path", "CcToolchainInfo"), _COMPILES),
        **dict.fromkeys(("cc_target_os_do_not_use", "check_experimental_cc_shared_library", "check_experimental_cc_static_library",
                         "create_cc_launcher_info", "create_extra_link_time_library", "get_build_info",
                         "implementation_deps_allowed_by_allowlist", "incompatible_disable_objc_library_transition",
                         "is_cc_toolchain_resolution_enabled_do_not_use", "launcher_provider", "legacy_cc_flags_make_variable_do_not_use",
                         "register_linkstamp_compile_action"), _INTERNAL),
        "CcSharedLibraryHintInfo": _SHARED,
        **dict.fromkeys(("to_json", "to_proto"), _TEXT),
    },
    "ctx": {
        "exec_groups": _CONFIGURATIONS,
        "fragments": "the target's row and the lock set the flags",
        "toolchains": _TOOLCHAIN,
        **dict.fromkeys(("info_file", "version_file"), "version stamps are written by the bundle"),
        **dict.fromkeys(("resolve_command", "resolve_tools"), "tools are named by executable attributes"),
        "split_attr": _CONFIGURATIONS,
        "super": "rules are not extended before Bazel 8",
        **dict.fromkeys(("aspect_ids", "check_placeholders", "created_actions"), _INTERNAL),
    },
    "File": {"tree_relative_path": "the files of a build are known at analysis"},
    "ctx.actions": {
        "declare_directory": "the files of a build are known at analysis",
        "template_dict": "templates are expanded at analysis",
        **dict.fromkeys(("transform_info_file", "transform_version_file"), "version stamps are written by the bundle"),
        "declare_shareable_artifact": _INTERNAL,
    },
}  # fmt: skip


def inert_globals() -> dict[str, Any]:
    """Return the values that stand for the names of INERT in .bzl files."""
    return {name: Inert(name, "", why) for name, why in INERT.items()}
