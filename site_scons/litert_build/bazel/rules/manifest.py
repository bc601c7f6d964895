"""Owns the list of names that Bazel has and this build only knows: each with the reason why it does nothing.

    INERT["JavaInfo"]      # 'a host holds no Java'

They may be mentioned and passed on; a closure that needs what they would give stops there.
"""

from __future__ import annotations

from typing import Any

from litert_build.starlark.opaque import Opaque

_JAVA = "a host holds no Java"
_APPLE = "Objective-C and Swift need Xcode"
_ANDROID = "Android packages are built by their consumers"
_TESTS = "tests are declared, not built"
_TOOLCHAIN = "toolchain= chooses the compiler"

INERT: dict[str, str] = {
    **dict.fromkeys(("java_common", "JavaInfo", "JavaPluginInfo", "java_proto_aspect", "java_lite_proto_aspect", "ProguardSpecProvider",
                     "JavaToolchainInfo", "JavaRuntimeInfo", "BootClassPathInfo"), _JAVA),
    **dict.fromkeys(("apple_common", "AppleDynamicFrameworkInfo", "ObjcInfo", "SwiftInfo"), _APPLE),
    **dict.fromkeys(("android_common", "AndroidNeverlinkLibrariesProvider", "AndroidSdkInfo", "ApkInfo", "AndroidInstrumentationInfo",
                     "AndroidResourcesInfo", "AndroidNativeLibsInfo", "AndroidIdeInfo", "AndroidAssetsInfo", "AndroidLibraryAarInfo",
                     "AndroidManifestInfo", "AndroidPreDexJarInfo", "AndroidCcLinkParamsInfo", "DataBindingV2Info"), _ANDROID),
    **dict.fromkeys(("testing", "AnalysisTestResultInfo", "analysis_test_transition", "RunEnvironmentInfo", "analysis_test"), _TESTS),
    **dict.fromkeys(("PyInfo", "PyRuntimeInfo", "PyCcLinkParamsProvider", "PyWrapCcInfo", "PyCcLinkParamsInfo"),
                    "tools run with the machine's python3"),
    **dict.fromkeys(("CcToolchainConfigInfo", "CcToolchainInfo", "CcNativeLibraryInfo", "configuration_field", "register_toolchains",
                     "register_execution_platforms"), _TOOLCHAIN),
    **dict.fromkeys(("exec_group", "exec_transition", "subrule", "PackageSpecificationInfo", "DebugPackageInfo"),
                    "there are two configurations and one machine"),
    **dict.fromkeys(("repository_rule", "module_extension", "tag_class", "use_extension", "bazel_dep"),
                    "repositories come from the lock"),
    **dict.fromkeys(("proto_common_do_not_use", "proto_common"), "protoc is called once a file by cc_proto_library"),
    "macro": "symbolic macros are newer than any supported ref",
    "transition": "there are two configurations, target and exec",
}  # fmt: skip


def inert_globals() -> dict[str, Any]:
    """Return the values that stand for the names of INERT in .bzl files."""
    return {name: Opaque(name, "", why) for name, why in INERT.items()}
