"""A closure in the shape of upstream's //c:engine, written for this project: eleven small repositories and the constructs between them.

    Tree(tmp_path, SHAPE, repo_mapping=MAPPINGS, bindings=BINDINGS).analyze("//c:engine", target="ios-arm64")

What stands where: docs/upstream-constructs.md. Sources are empty, for nothing of it is compiled.
"""

from __future__ import annotations

import re

MAPPINGS = {"ml_drift": {"half": "FP16"}, "com_google_protobuf": {"abseil-cpp": "com_google_absl"}}
BINDINGS = {"zlib": "@zlib//:zlib"}
PUBLIC = 'package(default_visibility = ["//visibility:public"])\n'
DEFECT = 'config_setting(name = "emscripten", constraint_values = ["@platforms//cpu:wasm32"], visibility = ["//visibility:public"])\n'


def leaf(*names: str) -> str:
    """Return a BUILD file with libraries that need nothing."""
    return PUBLIC + "".join(f'cc_library(name = "{name}", srcs = ["{name}.cc"], hdrs = ["{name}.h"])\n' for name in names)


MAIN = {
    "BUILD": """
load("//tools/license:license.bzl", "license")
package(default_applicable_licenses = [":license"])
license(name = "license")
""",
    "c/BUILD": """
package(default_applicable_licenses = ["//:license"], default_hdrs_check = "strict", default_visibility = ["//visibility:public"])
licenses(["notice"])
DEPS = ["@com_google_absl//:absl", "//runtime/proto:engine_cc_proto", "//runtime/resources"]
cc_library(name = "engine", srcs = ["engine.cc"], hdrs = ["engine.h"], deps = DEPS + ["//runtime/core"], alwayslink = True)
cc_binary(name = "whole", srcs = ["engine.cc"], linkshared = 1, features = ["-legacy_whole_archive"], deps = DEPS + select({
    "//conditions:default": [],
}))
""",
    "runtime/core/BUILD": """
package(default_visibility = ["//:__subpackages__"])
cc_library(name = "core", deps = [
    "//runtime/executor:static_accelerator", "//runtime/constraints:provider_lib", "//runtime/template:template_cpp",
    "@litert//litert/c:litert_environment", "@litert//tflite:framework",
], alwayslink = 1)
""",
    "runtime/executor/BUILD": """
load("@bazel_skylib//lib:selects.bzl", "selects")
load("@bazel_skylib//rules:common_settings.bzl", "string_flag")
package(default_visibility = ["//visibility:public"])
string_flag(name = "accelerator", build_setting_default = "default", values = ["default", "metal", "webgpu"])
config_setting(name = "metal_flag", flag_values = {":accelerator": "metal"})
config_setting(name = "metal_define", define_values = {"ACCELERATOR": "metal"})
selects.config_setting_group(name = "metal_wanted", match_any = [":metal_flag", ":metal_define"])
selects.config_setting_group(name = "macos_metal", match_all = ["@platforms//os:macos", ":metal_wanted"])
cc_library(name = "static_accelerator", deps = select({
    "@litert//litert:mode_dynamic": [],
    ":macos_metal": [],
    "//conditions:default": ["@litert//litert/accelerators:webgpu"],
}))
""",
    "runtime/resources/BUILD": """
package(default_visibility = ["//visibility:public"])
config_setting(name = "no_tokenizer", define_values = {"NO_TOKENIZER": "1"})
config_setting(name = "android_webgpu", constraint_values = ["@platforms//os:android"], values = {"copt": "-DUSE_WEBGPU"})
cc_library(name = "resources", hdrs = ["resources.h"], copts = ["-D_WIN32_WINNT=_WIN32_WINNT_WIN10"], deps = ["//external:zlib"] + select({
    ":no_tokenizer": [],
    "//conditions:default": ["@tokenizers_cpp//:tokenizer"],
}) + select({":android_webgpu": [], "//conditions:default": ["@sentencepiece//:processor"]}),
    srcs = select({"@platforms//os:windows": ["file_windows.cc"], "//conditions:default": ["file_posix.cc"]}),
    linkopts = select({"@platforms//os:windows": ["ntdll.lib"], "//conditions:default": []}))
""",
    "build_config/BUILD": """
package(default_visibility = ["//:__subpackages__"])
config_setting(name = "android_arm64", constraint_values = ["@platforms//os:android", "@platforms//cpu:arm64"])
config_setting(name = "linux_x86_64", constraint_values = ["@platforms//os:linux", "@platforms//cpu:x86_64"])
config_setting(name = "ios_arm64", values = {"apple_platform_type": "ios", "cpu": "ios_arm64"})
config_setting(name = "ios_sim_arm64", values = {"apple_platform_type": "ios", "cpu": "ios_sim_arm64"})
""",
    "runtime/constraints/BUILD": """
package(default_visibility = ["//:__subpackages__"])
alias(name = "provider_lib", actual = ":provider_shared_lib")
cc_import(name = "provider_dll", interface_library = "//prebuilt/windows:provider.lib", shared_library = "//prebuilt/windows:provider.dll",
    target_compatible_with = ["@platforms//os:windows"])
cc_library(name = "provider_shared_lib", srcs = select({
    "//build_config:android_arm64": ["//prebuilt/android_arm64:provider.so"],
    "//build_config:linux_x86_64": ["//prebuilt/linux_x86_64:provider.so"],
    "//build_config:ios_arm64": ["//prebuilt/ios_arm64:provider.dylib"],
    "//build_config:ios_sim_arm64": ["//prebuilt/ios_sim_arm64:provider.dylib"],
    "@platforms//os:macos": ["//prebuilt/macos_arm64:provider.dylib"],
    "//conditions:default": [],
}), hdrs = ["provider.h"], linkstatic = 1, deps = select({"@platforms//os:windows": [":provider_dll"], "//conditions:default": []}))
""",
    "prebuilt/windows/BUILD": PUBLIC + 'exports_files(["provider.lib", "provider.dll"])\n',
    "prebuilt/windows/provider.lib": "",
    "prebuilt/windows/provider.dll": "",
    "runtime/template/BUILD": """
load("//:bridge.bzl", "bridge")
load("@rules_rust//rust:defs.bzl", "rust_library")
package(default_visibility = [":users"])
package_group(name = "users", packages = ["//runtime/..."])
rust_library(name = "template", srcs = ["template.rs"])
bridge(name = "template_cpp", src = "template.rs", deps = select({
    "@platforms//os:windows": ["//runtime/resources"],
    "//conditions:default": [],
}))
""",
    "bridge.bzl": """
load("@rules_cc//cc:defs.bzl", "cc_library")

def bridge(name, src, deps = [], visibility = None):
    header, source = "%s.h" % src, "%s.cc" % src
    write_bridge(name = "%s/generated" % name, srcs = [src], outs = [header, source],
        args = ["$(location %s)" % src, "-o", "$(location %s)" % header, "-o", "$(location %s)" % source])
    cc_library(name = "%s/include" % name, textual_hdrs = [header], visibility = ["//visibility:private"])
    given = {}
    if visibility != None:
        given["visibility"] = visibility
    cc_library(name = name, srcs = [source], hdrs = [header], deps = deps + ["%s/include" % name], **given)

def _impl(ctx):
    ctx.actions.run(outputs = ctx.outputs.outs, inputs = ctx.files.srcs, executable = ctx.executable._tool,
        arguments = [ctx.expand_location(arg) for arg in ctx.attr.args], mnemonic = "WriteBridge")
    return DefaultInfo(files = depset(ctx.outputs.outs), runfiles = ctx.runfiles(ctx.outputs.outs))

write_bridge = rule(implementation = _impl, attrs = {
    "srcs": attr.label_list(allow_files = True, mandatory = True),
    "outs": attr.output_list(mandatory = True),
    "args": attr.string_list(mandatory = True),
    "_tool": attr.label(default = Label("@bridge_tool//:bridge_tool"), allow_single_file = True, executable = True, cfg = "exec"),
})
""",
    "runtime/proto/BUILD": """
load("@org_tensorflow//tensorflow/core/platform:build_config.bzl", "tf_proto_library")
package(default_visibility = ["//visibility:public"])
tf_proto_library(name = "token", srcs = ["token.proto"])
tf_proto_library(name = "engine", srcs = ["engine.proto"], deps = [":token"])
alias(name = "engine_cc_proto", actual = ":engine_cc")
""",
}
for folder, suffix in (
    ("android_arm64", "so"),
    ("linux_x86_64", "so"),
    *((f"{name}_arm64", "dylib") for name in ("ios", "ios_sim", "macos")),
):
    MAIN[f"prebuilt/{folder}/BUILD"] = PUBLIC + f'exports_files(glob(["*.{suffix}"]))\n'
    MAIN[f"prebuilt/{folder}/provider.{suffix}"] = ""

LITERT = {
    "litert/BUILD": """
package(default_visibility = ["//litert:__subpackages__"])
package_group(name = "internal_users", packages = ["//litert/...", "//elsewhere/that/is/not/here/..."])
package_group(name = "users", includes = [":internal_users"], packages = ["//..."])
exports_files(glob(["*.list"]))
[config_setting(name = "mode_" + mode, flag_values = {"//litert/build_common:mode": mode}, visibility = ["//visibility:public"])
 for mode in ["dynamic", "none"]]
config_setting(name = "android_no_jni", constraint_values = ["@platforms//os:android"], values = {"define": "no_jni=true"})
""",
    "litert/build_common/BUILD": """
load("@bazel_skylib//:bzl_library.bzl", "bzl_library")
load("@bazel_skylib//rules:common_settings.bzl", "bool_flag", "string_flag")
package(default_visibility = ["//litert:__subpackages__"])
bool_flag(name = "system_libraries", build_setting_default = True)
string_flag(name = "mode", build_setting_default = "default", values = ["default", "dynamic", "none"], visibility = ["//visibility:public"])
string_flag(name = "parts", build_setting_default = "gpu,npu", values = ["gpu", "gpu,npu", "cpu_only"])
config_setting(name = "with_system_libraries", flag_values = {":system_libraries": "true"})
config_setting(name = "cpu_only", flag_values = {":parts": "cpu_only"})
genrule(name = "config_header", srcs = select({":cpu_only": ["config/cpu.h"], "//conditions:default": ["config/all.h"]}),
    outs = ["config.h"], cmd = "cp $< $@")
cc_library(name = "config", hdrs = [":config_header"], include_prefix = "third_party/odml/build_common", strip_include_prefix = "")
bzl_library(name = "defs_bzl", srcs = ["defs.bzl"], deps = ["//no/such/package:lib"])
""",
    "litert/build_common/defs.bzl": """
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_shared_library.bzl", "cc_shared_library")
SCRIPT = "//litert/build_common:exported.lds"

def metal_opts():
    return select({"@platforms//os:ios": ["-ObjC++"], "@platforms//os:macos": ["-ObjC++"], "//conditions:default": []})

def metal_deps():
    apple = ["//litert/runtime:metal_info"]
    return select({"@platforms//os:ios": apple, "@platforms//os:macos": apple, "//conditions:default": []})

def android_linkopts():
    return select({"//litert:android_no_jni": ["-lnativewindow"], "@org_tensorflow//tensorflow:android": ["-landroid"],
        "//conditions:default": []})

def api_library(name, hdrs, srcs = [], needs = [], behind = [], of_header = {}, **of_code):
    # NAME_header declares, NAME_impl defines and is always linked, NAME is one of them by link mode.
    declares, defines = name + "_header", name + "_impl"
    cc_library(name = declares, hdrs = hdrs, deps = needs, tags = ["headers"], visibility = ["//litert:internal_users"], **of_header)
    cc_library(name = defines, srcs = srcs, deps = [":" + declares] + behind, alwayslink = 1, **dict(of_code, hdrs = hdrs))
    elsewhere = {"//litert:mode_" + mode: ":" + declares for mode in ["dynamic", "none"]}
    native.alias(name = name, actual = select(dict(elsewhere, **{"//conditions:default": ":" + defines})))

def accelerator_library(name, plugin = "", **kwargs):
    # NAME registers itself in the host, NAME_plugin_so is a library of its own that a cc_library offers to dependents.
    for suffix, more in [("", dict(alwayslink = 1, defines = ["STATIC_ACCELERATOR"])), ("_plugin", {})]:
        cc_library(name = name + suffix, **dict(kwargs, **more))
    if plugin:
        cc_shared_library(name = name + "_plugin_so", shared_lib_name = plugin, deps = [name + "_plugin"],
            additional_linker_inputs = [SCRIPT],
            user_link_flags = android_linkopts() + ["-Wl,--version-script=$(location {})".format(SCRIPT)])
        cc_library(name = name + "_plugin_lib", linkstatic = 1, srcs = [name + "_plugin_so"])
""",
    "litert/c/BUILD": """
load("@build_bazel_rules_apple//apple:macos.bzl", "macos_dylib")
load("@bazel_skylib//rules:copy_file.bzl", "copy_file")
load("//litert/build_common:defs.bzl", "android_linkopts", "api_library", "metal_opts")
package(default_visibility = ["//visibility:public"])
cc_library(name = "litert_common", hdrs = ["litert_common.h"], compatible_with = [], deps = ["//litert/build_common:config"])
api_library(name = "litert_environment", srcs = ["litert_environment.cc"], hdrs = ["litert_environment.h"], copts = metal_opts(),
    of_header = {"compatible_with": []}, linkopts = android_linkopts(),
    behind = ["//litert/runtime:tensor_buffer"], needs = [":litert_common"])
exports_files(srcs = glob(["litert_*.h"]))
macos_dylib(name = "build_dylib", minimum_os_version = "14.0", deps = [":litert_environment_impl"])
copy_file(name = "dylib", src = ":build_dylib", out = "libLiteRt.dylib")
cc_binary(name = "dll", linkshared = 1, win_def_file = ":exports.def", deps = [":litert_environment_impl"])
filegroup(name = "dll_interface", srcs = [":dll"], output_group = "interface_library")
cc_import(name = "dll_import", interface_library = ":dll_interface", shared_library = ":dll")
""",
    "litert/runtime/BUILD": """
load("@rules_cc//cc:objc_library.bzl", "objc_library")
load("//litert/build_common:defs.bzl", "metal_deps")
package(default_visibility = ["//litert:internal_users"])
DEPS = ["//litert/c:litert_common"] + select({
    "@org_tensorflow//tensorflow:android": [":gl"],
    "//conditions:default": [],
}) + []
cc_library(name = "tensor_buffer", srcs = [":tensor_buffer.cc"], hdrs = ["//litert/c:litert_environment.h"], deps = DEPS + metal_deps())
cc_library(name = "gl", srcs = ["gl.cc"])
objc_library(name = "metal_info", srcs = ["metal_info.mm"], hdrs = ["metal_info.h"], sdk_frameworks = ["Metal"])
""",
    "litert/accelerators/BUILD": """
load("//litert/build_common:defs.bzl", "accelerator_library")
package(default_visibility = ["//visibility:public"])
accelerator_library(name = "webgpu", srcs = ["webgpu.cc"], plugin = "libWebGpu.so", deps = [
    "@ml_drift//cl:context", "@dawn//:webgpu_dawn"] + select({"//tools/cc_target_os:emscripten": [], "//conditions:default": []}))
""",
    "tools/cc_target_os/BUILD": DEFECT,
    "tflite/BUILD": """
load("@flatbuffers//:build_defs.bzl", "flatbuffer_cc_library")
load("@org_tensorflow//tensorflow:tensorflow.bzl", "if_oss")
load("//tflite:build_def.bzl", "copts", "library_with_tflite", "self_contained_suite")
package_group(name = "runtime", packages = ["//tflite/..."])
package(default_visibility = ["//visibility:public"], licenses = ["notice"])
config_setting(name = "keep_symbols", define_values = {"keep_symbols": "true"})
config_setting(name = "fuchsia", constraint_values = if_oss([], ["@platforms//os:fuchsia"]), values = if_oss({"cpu": "fuchsia"}, {}))
HEADERS = ["model.h", "//tflite/core:macros.h"]
exports_files([header for header in HEADERS if header[0] != "/"])
library_with_tflite(name = "framework", srcs = [], hdrs = HEADERS, copts = copts(), twin = True, tflite_deps = [":api"],
    deps_selects = [{":keep_symbols": [], "//conditions:default": [":logger"]}], deps = [":schema"], alwayslink = 1)
library_with_tflite(name = "api", srcs = ["api.cc"], twin = True)
cc_library(name = "logger", srcs = ["logger.cc"])
flatbuffer_cc_library(name = "schema", srcs = ["schema.fbs"], flatc_args = ["--gen-mutable"])
self_contained_suite(name = "suite")
""",
    "tflite/build_def.bzl": """
load("@bazel_skylib//rules:build_test.bzl", "build_test")
load("@build_bazel_rules_android//android:rules.bzl", "android_library")
load("@org_tensorflow//tensorflow:tensorflow.bzl", "clean_dep")

def copts():
    return ["-DNO_CXX_STRING"] + select({
        clean_dep("//tensorflow:android_arm"): ["-mfpu=neon"],
        clean_dep("//tensorflow:linux_x86_64"): ["-msse4.2"],
        clean_dep("//tensorflow:windows"): ["/wd4018"],
        "//conditions:default": ["-Wno-sign-compare"],
    }) + select({clean_dep("//tensorflow:optimized"): ["-O3"], "//conditions:default": []})

def jni_binary(name, copts = copts(), stamp = -1, exec_properties = {}, **kwargs):
    native.cc_binary(name = name, copts = copts, stamp = stamp, exec_properties = exec_properties, **kwargs)

def library_with_tflite(name, deps = [], tflite_deps = [], deps_selects = [], twin = False, **kwargs):
    chosen = []
    for one in [select(map) for map in deps_selects]:
        chosen = chosen + one
    native.cc_library(name = name, deps = deps + tflite_deps + chosen, **kwargs)
    if twin:
        native.cc_library(name = name + "_opaque", deps = deps + [dep + "_opaque" for dep in tflite_deps], **kwargs)

def self_contained_suite(name):
    for rule in native.existing_rules().values():
        if rule["kind"] == "cc_library" and "allow_undefined_symbols" not in rule["tags"]:
            native.cc_binary(name = rule["name"] + "_test_shared_lib", testonly = True, linkshared = 1, deps = [":%s" % rule["name"]])
            build_test(name = rule["name"] + "_build_test", targets = [rule["name"] + "_test_shared_lib"])
    native.test_suite(name = name)
""",
    "tflite/core/BUILD": 'exports_files(srcs = ["macros.h"], visibility = ["//tflite:__subpackages__"])\n',
}

OTHERS = {
    "org_tensorflow/tensorflow/BUILD": PUBLIC
    + """
config_setting(name = "android", values = {"crosstool_top": "//external:android/crosstool"})
config_setting(name = "android_arm", values = {"crosstool_top": "//external:android/crosstool", "cpu": "armeabi-v7a"})
config_setting(name = "linux_x86_64", constraint_values = ["@platforms//os:linux", "@platforms//cpu:x86_64"])
config_setting(name = "windows", values = {"cpu": "x64_windows"})
config_setting(name = "optimized", values = {"compilation_mode": "opt"})
""",
    "org_tensorflow/tensorflow/tensorflow.bzl": """
load("@local_config_cuda//cuda:build_defs.bzl", "if_cuda")

def clean_dep(label):
    return str(Label(label))

def if_oss(here, elsewhere = []):
    return here
""",
    "org_tensorflow/tensorflow/core/platform/BUILD": "",
    "org_tensorflow/tensorflow/core/platform/build_config.bzl": """
load("@com_github_grpc_grpc//bazel:cc_grpc_library.bzl", "cc_grpc_library")
load("@com_google_protobuf//bazel:proto_library.bzl", "proto_library")
load("@com_google_protobuf//bazel:cc_proto_library.bzl", "cc_proto_library")
load("@com_google_protobuf//bazel:py_proto_library.bzl", "py_proto_library")

visibility("public")

def tf_proto_library(name, srcs = [], deps = [], visibility = None, **_unused):
    native.filegroup(name = name + "_proto_srcs", srcs = srcs + deps, visibility = visibility)
    proto_library(name = name, srcs = srcs, deps = deps + ["@com_google_protobuf//:any_proto"], visibility = visibility)
    cc_proto_library(name = name + "_cc", deps = [":{}".format(name)], visibility = visibility)
    native.alias(name = name + "_cc_impl", actual = name + "_cc", visibility = visibility)
    py_proto_library(name = name + "_py_proto", deps = [name], visibility = visibility)
""",
    "com_google_protobuf/BUILD.bazel": """
load("//bazel:proto_library.bzl", "proto_library")
load("//bazel:toolchain.bzl", "proto_lang_toolchain")
package(default_visibility = ["//visibility:public"])
cc_library(name = "protobuf", srcs = ["message.cc"], deps = ["@abseil-cpp//:absl"])
cc_binary(name = "protoc", srcs = ["main.cc"], deps = [":protobuf"])
proto_library(name = "any_proto", srcs = ["any.proto"])
proto_lang_toolchain(name = "cc_toolchain", blacklisted_protos = [":any_proto"], command_line = "--cpp_out=$(OUT)", runtime = ":protobuf")
config_setting(name = "msvc", flag_values = {"@rules_cc//cc/private/toolchain:compiler": "msvc-cl"})
""",
    "com_google_protobuf/bazel/BUILD.bazel": "",
    "com_google_protobuf/bazel/helpers.bzl": """
resolution = getattr(proto_common_do_not_use, "INCOMPATIBLE_ENABLE_PROTO_TOOLCHAIN_RESOLUTION", False)
LangInfo = getattr(proto_common_do_not_use, "ProtoLangToolchainInfo", None) or provider(fields = dict(runtime = "r"))

def legacy(attrs):
    return {} if resolution else attrs
""",
    "com_google_protobuf/bazel/proto_library.bzl": """
load("@proto_bazel_features//:features.bzl", "bazel_features")
load("//bazel:helpers.bzl", "LangInfo", "legacy", "resolution")
_found = [bazel_features.globals.PackageSpecificationInfo] if bazel_features.globals.PackageSpecificationInfo else []

def _impl(ctx):
    fail("gives way to the native rule")

_rule = rule(_impl, attrs = {"allow": attr.label(cfg = "exec", providers = _found)} | legacy({
    "_protoc": attr.label(cfg = "exec", executable = True, allow_files = True, default = configuration_field("proto", "proto_compiler")),
}), provides = [LangInfo], fragments = ["proto"], toolchains = ["//:type"] if resolution else [])

def proto_library(**attrs):
    if not bazel_features.proto.starlark_proto_info:
        fail("too old")
    if hasattr(native, "proto_library"):
        native.proto_library(**attrs)
    else:
        _rule(**attrs)
""",
    "com_google_protobuf/bazel/cc_proto_library.bzl": """
load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//bazel:helpers.bzl", "legacy")

def _impl(target, ctx):
    return []

_aspect = aspect(implementation = _impl, attr_aspects = ["deps"], required_providers = [ProtoInfo], provides = [CcInfo],
    attrs = legacy({"_tool": attr.label(default = configuration_field(fragment = "proto", name = "proto_toolchain_for_cc"))}),
    toolchains = use_cc_toolchain())

def cc_proto_library(**attrs):
    native.cc_proto_library(**attrs)
""",
    "com_google_protobuf/bazel/py_proto_library.bzl": """
load("@rules_python//python:py_info.bzl", "PyInfo")

def _impl(ctx):
    return []

py_proto_library = rule(_impl, attrs = {"deps": attr.label_list(providers = [ProtoInfo])}, provides = [PyInfo])
""",
    "com_google_protobuf/bazel/toolchain.bzl": """
def proto_lang_toolchain(*, name, toolchain_type = None, **attrs):
    if getattr(proto_common_do_not_use, "INCOMPATIBLE_PASS_TOOLCHAIN_TYPE", False):
        attrs["toolchain_type"] = toolchain_type
    attrs.pop("toolchain_type", None)
    native.proto_lang_toolchain(name = name, **attrs)
""",
    "flatbuffers/BUILD.bazel": """
package(default_visibility = ["//visibility:public"])
filegroup(name = "headers", srcs = glob(["include/flatbuffers/*.h"]))
cc_library(name = "runtime_cc", hdrs = [":headers"], linkstatic = 1, strip_include_prefix = "/include")
cc_binary(name = "flatc", srcs = ["flatc.cpp"], deps = [":runtime_cc"])
""",
    "flatbuffers/include/flatbuffers/base.h": "",
    "flatbuffers/build_defs.bzl": """
load("@build_bazel_rules_android//android:rules.bzl", "android_library")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_java//java:defs.bzl", "java_library")
FLATC = "@flatbuffers//:flatc"
SchemaInfo = provider("schemas of the closure", fields = {"srcs": "files"})

def _collect(target, ctx):
    return [SchemaInfo(srcs = depset())]

_schemas = aspect(attr_aspects = ["deps"], implementation = _collect)

def _impl(ctx):
    return [DefaultInfo(files = depset([ctx.actions.declare_directory("{}_all".format(ctx.attr.name))]))]

_directory = rule(_impl, attrs = {"deps": attr.label_list(default = [], aspects = [_schemas])})

def flatbuffer_cc_library(name, srcs, flatc_args = [], include_paths = [], includes = [], compatible_with = [], visibility = None):
    outs = ["%s_generated.h" % src.replace(".fbs", "").split("/")[-1].split(":")[-1] for src in srcs]
    native.genrule(name = name + "_srcs", srcs = srcs, outs = outs, output_to_bindir = False, compatible_with = compatible_with,
        tools = includes + [FLATC], message = "Generating %s:" % name, cmd = " ".join(
            ["for f in $(SRCS); do $(location %s)" % FLATC] + flatc_args + ["-I %s" % path for path in include_paths] +
            ["-c -o $(@D) $$f; done"]),
        cmd_bat = "for %f in ($(SRCS)) do (\\"$(location " + FLATC + ")\\" %f)")
    cc_library(name = name, hdrs = outs, srcs = outs, features = ["-parse_headers"], deps = ["@flatbuffers//:runtime_cc"], includes = ["."],
        linkstatic = 1, visibility = visibility, compatible_with = compatible_with)
    native.filegroup(name = name + "_includes", srcs = srcs, visibility = visibility)
""",
    "ml_drift/BUILD": """
config_setting(name = "macos", constraint_values = ["@platforms//os:macos"])
config_setting(name = "ios", constraint_values = ["@platforms//os:ios"])
alias(name = "apple", actual = select({":macos": ":macos", ":ios": ":ios", "//conditions:default": ":ios"}))
platform(name = "sim_platform", constraint_values = ["@platforms//os:ios", "@build_bazel_apple_support//constraints:simulator"])
""",
    "ml_drift/cl/BUILD": """
load("@flatbuffers//:build_defs.bzl", "flatbuffer_cc_library")
package(default_visibility = ["//visibility:public"], licenses = ["notice"])
cc_library(name = "context", srcs = ["context.cc"], local_defines = select({"//:apple": ["APPLE"], "//conditions:default": []}),
    deps = [":cache", "@half"])
flatbuffer_cc_library(name = "base", srcs = ["base.fbs"])
flatbuffer_cc_library(name = "cache", srcs = ["cache.fbs"], flatc_args = ["--scoped-enums", "-I ."], include_paths = ["cl"],
    includes = [":base_includes"])
""",
    "dawn/BUILD.bazel": """
load("@xla//third_party/rules_python/python:defs.bzl", "py_binary")
package(default_visibility = ["//visibility:public"])
py_binary(name = "generator", srcs = ["generator/generator.py", "generator/lib.py"], imports = ["generator"], deps = ["@jinja2"])
genrule(name = "headers", srcs = glob(["generator/templates/**/*"]) + ["src/dawn.json"], outs = ["include/dawn/webgpu.h"],
    cmd = "$(location :generator) --json $(location src/dawn.json) --templates $$(dirname $(location generator/templates/api.h)) " +
          "--output $(RULEDIR)", tools = [":generator"])
cc_library(name = "webgpu_dawn", hdrs = [":headers"] + glob(["include/**/*.h"]), includes = ["include"])
""",
    "dawn/generator/templates/api.h": "",
    "dawn/generator/templates/deep/er.h": "",
    "dawn/include/webgpu/plain.h": "",
    "jinja2/BUILD.bazel": 'load("@rules_python//python:defs.bzl", "py_library")\n'
    + PUBLIC
    + 'py_library(name = "jinja2", srcs = glob(["src/**/*.py"]), imports = ["src"])\n',
    "jinja2/src/jinja2/__init__.py": "",
    "xla/third_party/rules_python/python/BUILD": "",
    "xla/third_party/rules_python/python/defs.bzl": 'load("@rules_python//python:defs.bzl", _binary = "py_binary")\npy_binary = _binary\n',
    "sentencepiece/BUILD.bazel": """
package(default_visibility = ["//visibility:public"])
proto_library(name = "model_proto", srcs = ["model.proto"])
cc_proto_library(name = "model_cc_proto", deps = [":model_proto"])
cc_library(name = "processor", srcs = ["util.cc"], copts = ["-DENABLE_NFKC_COMPILE"], deps = [":model_cc_proto"])
""",
    "tokenizers_cpp/BUILD.bazel": leaf("tokenizer"),
    "bridge_tool/BUILD.bazel": PUBLIC + 'cc_binary(name = "bridge_tool", srcs = ["main.cc"])\n',
    "com_google_absl/BUILD.bazel": leaf("absl"),
    "zlib/BUILD.bazel": leaf("zlib"),
    "FP16/BUILD.bazel": leaf("FP16"),
}
_FILE = re.compile(r'"(?:@(?P<repo>\w+))?(?:(?P<package>//[\w/]+):|:)?(?P<file>[\w/]+\.(?:cc|cpp|h|mm|fbs|proto|rs|py|json|lds))"')


def _sources(build_file: str, text: str) -> dict[str, str]:
    """Return an empty file for each that a BUILD file names as its own or as another package's of the repository."""
    folder, _, _ = build_file.rpartition("/")
    root = "/".join(folder.split("/")[:2]) if folder.startswith("external/") else ""
    made: dict[str, str] = {}
    for match in _FILE.finditer(text):
        package = match["package"]
        base = folder if package is None else f"{root}/{package[2:]}".strip("/")
        made["/".join(part for part in (base, match["file"]) if part)] = ""
    return made


def _shape() -> dict[str, str]:
    files = dict(MAIN)
    files.update({f"external/litert/{path}": text for path, text in LITERT.items()})
    files.update({f"external/{path}": text for path, text in OTHERS.items()})
    generated = ("schema_generated.h", "cache_generated.h", "base_generated.h", "include/dawn/webgpu.h", "build_common/config.h")
    sources: dict[str, str] = {}
    for path, text in files.items():
        if path.rsplit("/", 1)[-1] in ("BUILD", "BUILD.bazel"):
            sources.update(_sources(path, text))
    return {**{path: text for path, text in sources.items() if not path.endswith(generated)}, **files}


SHAPE = _shape()
