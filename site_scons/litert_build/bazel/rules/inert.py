"""Owns the rules that are declared and never built, each with the reason; the closure of a host that needs one stops there.

INERT_RULES["android_library"].missing
"""

from __future__ import annotations

from litert_build.bazel.attributes import COMMON, Attr
from litert_build.bazel.rule_class import RuleClass

_REASONS: dict[str, str] = {
    **dict.fromkeys(
        ("java_library", "java_binary", "java_test", "java_import", "java_plugin", "java_proto_library", "java_lite_proto_library",
         "java_toolchain", "java_runtime", "java_package_configuration", "java_plugins_flag_alias"),
        "a host holds no Java",
    ),
    **dict.fromkeys(
        ("android_library", "android_binary", "android_local_test", "android_instrumentation_test", "android_device",
         "android_device_script_fixture", "android_host_service_fixture", "android_sdk", "android_tools_defaults_jar", "aar_import"),
        "Android packages are built by their consumers",
    ),
    **dict.fromkeys(
        ("objc_import", "j2objc_library", "xcode_config", "xcode_config_alias", "xcode_version", "available_xcodes",
         "apple_cc_toolchain"),
        "Objective-C and Swift need Xcode",
    ),
    **dict.fromkeys(
        ("cc_toolchain", "cc_toolchain_suite", "cc_toolchain_alias", "cc_libc_top_alias", "fdo_profile", "fdo_prefetch_hints",
         "propeller_optimize", "memprof_profile"),
        "toolchain= chooses the compiler",
    ),
    **dict.fromkeys(("py_test", "sh_test"), "tests are declared, not built"),
    "py_runtime": "tools run with the machine's python3",
    "cc_static_library": "hosts link objects, no archive is made",
    **dict.fromkeys(("action_listener", "extra_action", "genquery", "starlark_doc_extract"), "it looks at Bazel's own graph"),
    **dict.fromkeys(("config_feature_flag", "environment", "environment_group"), "environments are not used outside Google"),
}  # fmt: skip

# What a rule that is never built is given is not looked at, but for its outputs: `toolchains` of a cc_toolchain_suite is a dict.
_ATTRS = {**COMMON, "outs": Attr("output_list"), "toolchains": Attr("any")}

INERT_RULES: dict[str, RuleClass] = {
    name: RuleClass(name, _ATTRS, None, missing=reason, any_attr=True, test=name.endswith("_test")) for name, reason in _REASONS.items()
}
