"""Constructs on the path of upstream's //c:engine, each in a few lines: docs/upstream-constructs.md names the test of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from litert_build.actions import Compile
from litert_build.bazel.analysis import Analysis

from tests.unit.bazel_samples import Tree


def compiles(analysis: Analysis) -> list[Compile]:
    return [action for action in analysis.actions if isinstance(action, Compile)]


# bind() and //external


def bound(tmp_path: Path, deps: str, **bindings: str) -> Tree:
    files = {
        "BUILD": f"cc_library(name = 'x', deps = [{deps}])",
        "a/BUILD": "cc_library(name = 'a', srcs = ['a.cc'], visibility = ['//visibility:public'])",
        "a/a.cc": "",
        "external/other/BUILD": "cc_library(name = 'o', deps = ['//external:one'], visibility = ['//visibility:public'])",
    }
    return Tree(tmp_path, files, bindings=bindings)


@pytest.mark.parametrize("dep", ["'//external:one'", "'@//external:one'", "'@@//external:two'", "'@other//:o'"])
def test_external_names_stand_for_what_bind_gave_them_in_every_repository(tmp_path: Path, dep: str) -> None:
    tree = bound(tmp_path, dep, one="//a:a", two="//external:one")
    assert [action.source for action in compiles(tree.analyze("//:x"))] == ["a/a.cc"]


def test_an_unbound_external_name_is_an_error_where_it_is_needed(tmp_path: Path) -> None:
    error = bound(tmp_path, "'//external:onne'", one="//a:a").failure("//:x")
    assert error.what == "no such target '//external:onne': no bind() of the WORKSPACE gives it a target"
    assert (error.where.endswith("BUILD:1"), error.mend) == (True, "did you mean one?")


def test_bindings_in_a_circle_are_refused(tmp_path: Path) -> None:
    error = bound(tmp_path, "'//external:one'", one="//external:two", two="//external:one").failure("//:x")
    assert error.what == "no such target '//external:one': no bind() of the WORKSPACE gives it a target"


# Labels as text


def test_labels_are_written_as_without_modules(tmp_path: Path) -> None:
    macro = "def f():\n    r = native.existing_rule('x')\n    fail(str(Label('//a:b')), '%s' % Label('@r//c:d'), r['deps'])\n"
    build = "load(':m.bzl', 'f')\ncc_library(name = 'x', deps = ['//a', '@r//c:d', ':y', '//external:e'])\nf()"
    error = Tree(tmp_path, {"BUILD": build, "m.bzl": macro}).load_failure()
    assert error.what == '@//a:b @r//c:d ("//a:a", "@@r//c:d", ":y", "//external:e")'


def test_a_macro_tells_by_the_text_of_a_label_that_modules_are_off(tmp_path: Path) -> None:
    text = "modules = str(Label('@//:BUILD.bazel')).startswith('@@')\nload('@bazel_features//:features.bzl', 'bazel_features')\n"
    text += "same = modules == bazel_features.external_deps.is_bzlmod_enabled\n"
    build = "load(':m.bzl', 'modules', 'same')\nfail(modules, same)"
    assert Tree(tmp_path, {"BUILD": build, "m.bzl": text}).load_failure().what == "False True"


# protobuf's own .bzl files


PROTO_MACRO = """\
    load("@proto_bazel_features//:features.bzl", "bazel_features")

    _resolution = getattr(proto_common_do_not_use, "INCOMPATIBLE_ENABLE_PROTO_TOOLCHAIN_RESOLUTION", False)
    Toolchain = getattr(getattr(native, "proto_common", None), "ProtoLangToolchainInfo", None) or provider(fields = dict(plugin = "p"))
    Info, _ = provider(doc = "made by init", fields = {"srcs": "files"}, init = lambda *, srcs, deps = []: dict(srcs = srcs))
    _found = [bazel_features.globals.PackageSpecificationInfo] if bazel_features.globals.PackageSpecificationInfo else []
    _info = getattr(bazel_features.globals, "ProtoInfo", None) or Info

    def _impl(ctx):
        fail("the rule of Starlark gives way to Bazel's own")

    _rule = rule(
        _impl,
        attrs = {
            "srcs": attr.label_list(allow_files = [".proto"], flags = ["DIRECT_COMPILE_TIME_INPUT"]),
            "licenses": attr.license() if hasattr(attr, "license") else attr.string_list(),
            "allow": attr.label(cfg = "exec", providers = _found),
        } | ({} if _resolution else {"_protoc": attr.label(cfg = "exec", default = configuration_field("proto", "proto_compiler"))}),
        fragments = ["proto"],
        provides = [_info],
        toolchains = [config_common.toolchain_type(str(Label("//:t")), mandatory = False)] if _resolution else [],
    )

    def my_proto_library(**attrs):
        if not bazel_features.proto.starlark_proto_info:
            fail("too old")
        if not hasattr(native, "proto_library"):
            _rule(**attrs)
        else:
            native.proto_library(**attrs)
    """


def test_protobufs_macros_load_and_give_way_to_the_native_rules(tmp_path: Path) -> None:
    build = "load(':m.bzl', 'my_proto_library')\nmy_proto_library(name = 'p', srcs = ['a.proto'])"
    tree = Tree(tmp_path, {"BUILD": build, "m.bzl": PROTO_MACRO, "a.proto": ""})
    assert tree.target("p").rule.name == "proto_library"
    tree.analyze("//:p")


def test_what_protobufs_helpers_would_do_is_named_where_it_is_used(tmp_path: Path) -> None:
    text = "x = 1 if proto_common_do_not_use.compile().field else 2\n"
    error = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'x')", "m.bzl": text}).load_failure()
    assert error.what == "'proto_common.compile().field' decides something, but protoc is called once a file by cc_proto_library"


def test_the_compiler_is_told_through_rules_cc_too(tmp_path: Path) -> None:
    build = """\
        config_setting(name = "gnu", flag_values = {"@rules_cc//cc/private/toolchain:compiler": "gcc"})
        cc_library(name = "x", srcs = ["a.cc"], copts = select({":gnu": ["-DGNU"], "//conditions:default": []}))
        """
    assert "GNU" in compiles(Tree(tmp_path, {"BUILD": build, "a.cc": ""}).analyze("//:x"))[0].defines


# Conditions of systems


@pytest.mark.parametrize(
    ("target", "expected"),
    [("android-arm64", "android"), ("ios-arm64", "ios"), ("ios-arm64-sim", "ios_sim"), ("macos-arm64", "none"), ("linux-x64", "none")],
)
def test_systems_are_known_by_the_options_that_upstream_sets_for_them(tmp_path: Path, target: str, expected: str) -> None:
    build = """\
        config_setting(name = "android", values = {"crosstool_top": "//external:android/crosstool"})
        config_setting(name = "ios", values = {"apple_platform_type": "ios", "cpu": "ios_arm64"})
        config_setting(name = "ios_sim", values = {"apple_platform_type": "ios", "cpu": "ios_sim_arm64"})
        cc_library(name = "x", srcs = ["a.cc"], local_defines = select({
            ":android": ["android"], ":ios": ["ios"], ":ios_sim": ["ios_sim"], "//conditions:default": ["none"],
        }))
        """
    (action,) = compiles(Tree(tmp_path, {"BUILD": build, "a.cc": ""}).analyze("//:x", target=target))
    assert [define for define in action.defines if define in ("android", "ios", "ios_sim", "none")] == [expected]


# Objective-C


def objc(tmp_path: Path, more: str = "", name: str = "metal") -> Tree:
    build = f"""\
        load("@rules_cc//cc:objc_library.bzl", "objc_library")
        objc_library(name = "metal", srcs = ["a.mm", "b.m", "c.cc"], hdrs = ["a.h"], copts = ["-ObjC++"], sdk_frameworks = ["Metal"],
            weak_sdk_frameworks = ["Vision"], sdk_dylibs = ["libz"], includes = ["inc"]{more})
        cc_library(name = "x", srcs = ["x.cc"], deps = [":{name}"])
        """
    return Tree(tmp_path, {"BUILD": build, **dict.fromkeys(("a.mm", "b.m", "c.cc", "a.h", "x.cc"), "")})


@pytest.mark.parametrize("target", ["macos-arm64", "ios-arm64", "ios-arm64-sim"])
def test_objective_c_is_compiled_with_reference_counting_and_brings_its_frameworks(tmp_path: Path, target: str) -> None:
    analysis = objc(tmp_path).analyze("//:x", target=target)
    made = {action.source: action for action in compiles(analysis)}
    assert {source: action.language for source, action in made.items()} == {"a.mm": "objc++", "b.m": "objc", "c.cc": "c++", "x.cc": "c++"}
    assert [source for source, action in made.items() if "-fobjc-arc" in action.flags] == ["a.mm", "b.m"]
    assert ("-isystem", "inc") in made["x.cc"].includes
    assert analysis.link.flags == ("-framework", "Foundation", "-framework", "Metal", "-weak_framework", "Vision", "-lz")


def test_objective_c_for_another_system_is_refused_with_the_path_to_it(tmp_path: Path) -> None:
    error = objc(tmp_path).failure("//:x")
    assert error.what == "the closure needs //:metal, an objc_library, for k8-opt: Objective-C is compiled for Apple alone"
    assert error.where.endswith("BUILD:2")


def test_sources_without_reference_counting_go_into_a_library_of_their_own(tmp_path: Path) -> None:
    error = objc(tmp_path, ", non_arc_srcs = ['b.m']").failure("//:x", target="macos-arm64")
    assert "non_arc_srcs" in error.what
    assert "-fno-objc-arc" in f"{error.what} {error.mend} {error.notes}"


# Macros over rules


MACROS = """\
    load("@bazel_skylib//lib:selects.bzl", "selects")
    load("@rules_cc//cc:cc_library.bzl", "cc_library")

    def append(kwargs, **more):
        for key, value in more.items():
            first = kwargs.pop(key, [])
            first += value
            kwargs[key] = first

    def base(rule, wide = False, **kwargs):
        if wide:
            append(kwargs, linkopts = selects.with_or({
                ("//conditions:default", ":never"): ["-Wl,--default"],
                ":posix": ["-Wl,--wide"],
            }))
        else:
            append(kwargs, linkopts = ["-Wl,--narrow"])
        rule(**kwargs)

    def twice(name, vis = "//visibility:public", rule = cc_library, **kwargs):
        if "append" not in dir(vis):
            vis = [vis]
        rule(name = name, visibility = vis, **kwargs)
        rule(name = name + "_testonly", testonly = True, visibility = vis, **kwargs)

    def concat(lists):
        result = []
        for one in lists:
            result = result + one
        return result
    """


def test_rules_are_passed_as_values_and_lists_grow_by_selects(tmp_path: Path) -> None:
    build = """\
        load("@rules_cc//cc:cc_library.bzl", "cc_library")
        load(":m.bzl", "append", "base", "concat", "twice")
        config_setting(name = "posix", constraint_values = ["@platforms//os:linux"])
        config_setting(name = "never", define_values = {"never": "1"})
        base(cc_library, wide = True, name = "x", linkopts = ["-lm"], deps = [":y"] + concat([select(map) for map in [{":posix": [":z"]}]]))
        base(cc_library, name = "y", linkopts = ["-ly"])
        twice(name = "z", linkopts = ["-lz"])
        """
    tree = Tree(tmp_path, {"BUILD": build, "m.bzl": MACROS})
    assert tree.analyze("//:x").link.flags == ("-lm", "-Wl,--wide", "-ly", "-Wl,--narrow", "-lz")
    assert tree.target("z_testonly").attrs["testonly"]


CALLS: list[tuple[str, Any]] = [
    ("hdrs[:2] == '//'", False),
    ("[h for h in ['a.h', '//b:c.h'] if h[0] != '/']", ["a.h"]),
    ("'@a//b/c'.rpartition('/')", ("@a//b", "/", "c")),
    ("'//a:b/c.fbs'.replace('.fbs', '').split('/')[-1].split(':')[-1]", "c"),
    ("{k: [d + '_x' for d in v] for (k, v) in {'a': ['b']}.items()}", {"a": ["b_x"]}),
    ("any([v in ['a'] for v in ('a', 'b')])", True),
    ("type(('a',)) != type([])", True),
    ("'{}_all'.format('x') + '%s:%s%s' % ('a', 'b', 'c')", "x_alla:bc"),
]


@pytest.mark.parametrize(("text", "value"), CALLS)
def test_expressions_of_the_macros(tmp_path: Path, text: str, value: Any) -> None:
    macro = f"def f(hdrs = 'a.h'):\n    fail(json.encode({text}))\n"
    error = Tree(tmp_path, {"BUILD": "load(':m.bzl', 'f')\nf()", "m.bzl": macro}).load_failure()
    assert json.loads(error.what) == (list(value) if isinstance(value, tuple) else value)
