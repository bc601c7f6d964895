"""Owns the C++ rules: their attributes, and what each gives to dependents and to links.

    CC_RULES["cc_library"]      # RuleClass

Rules: Bazel's C++ rules reference.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from typing import Any

from litert_build.actions import Archive, Link
from litert_build.bazel.attributes import COMMON, TEST, Attr, irrelevant
from litert_build.bazel.context import RuleContext
from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import CC_INFO, CcInfo, File, LinkerInput, default_info, merge_cc_infos, unique
from litert_build.bazel.rule_class import RuleClass
from litert_build.bazel.rules.cc_compile import Compilation, cc_infos, compilation_context, compile_target, include_dirs, virtual_includes

_TESTS_DEBUG = "affects tests and debugging of binaries only"
COMPILE_ATTRS: dict[str, Attr] = {
    "srcs": Attr("label_list"),
    "hdrs": Attr("label_list"),
    "textual_hdrs": Attr("label_list"),
    "deps": Attr("label_list"),
    "implementation_deps": Attr("label_list"),
    "copts": Attr("string_list"),
    "cxxopts": Attr("string_list"),
    "conlyopts": Attr("string_list"),
    "defines": Attr("string_list"),
    "local_defines": Attr("string_list"),
    "includes": Attr("string_list"),
    "include_prefix": Attr("string"),
    "strip_include_prefix": Attr("string"),
    "linkopts": Attr("string_list"),
    "alwayslink": Attr("bool"),
    "additional_linker_inputs": Attr("label_list"),
    "additional_compiler_inputs": Attr("label_list"),
    "data": irrelevant("label_list", "runfiles are not staged: a host has none"),
    "linkstatic": irrelevant("bool", "hosts and tools are linked statically from objects"),
    "nocopts": Attr("string", status="unsupported", reason="Bazel removed it: drop the flag with a select() or in an overlay"),
    "hdrs_check": irrelevant("string", "undeclared inclusion is checked from depfiles"),
    "win_def_file": irrelevant("label", "export lists are generated from the lock"),
    "linkstamp": Attr("label", status="unsupported", reason="version stamps are written by the bundle"),
    "interface_deps": Attr("label_list", status="unsupported", reason="removed from Bazel: use deps"),
    "module_interfaces": Attr("label_list", status="unsupported", reason="C++20 modules are not built"),
    "stamp": irrelevant("int", "version stamps are written by the bundle"),
    "reexport_deps": irrelevant("label_list", _TESTS_DEBUG),
    "nodist": irrelevant("bool", "has had no meaning since Bazel 0.x"),
}
BINARY_ATTRS: dict[str, Attr] = {
    **COMPILE_ATTRS,
    "linkshared": Attr("bool"),
    "malloc": Attr("label"),
    "dynamic_deps": Attr("label_list", status="unsupported", reason="a host needs no shared library of its own sources"),
    "link_extra_lib": Attr("label"),
    "args": irrelevant("string_list", "binaries are run by generators only, with their own arguments"),
    "env": irrelevant("string_dict", "binaries are run by generators only, with their own environment"),
    "output_licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
}


def linker_input(ctx: RuleContext, compilation: Compilation) -> LinkerInput:
    """Return what a cc target itself adds to a link."""
    additional = ctx.deps("additional_linker_inputs") if "additional_linker_inputs" in ctx.target.rule.attrs else []
    flags = ctx.words("linkopts", [*additional, *ctx.deps("deps")])
    objects = [*compilation.objects, *(f for f in compilation.sources.libraries if f.extension in ("o", "lo"))]
    libraries = tuple(f for f in compilation.sources.libraries if f.extension not in ("o", "lo"))
    scripts = tuple(dict.fromkeys([*(file for dep in additional for file in dep.files), *compilation.sources.scripts]))
    return LinkerInput(
        ctx.label,
        tuple(objects),
        libraries,
        tuple(flags),
        scripts,
        bool(ctx.value("alwayslink") if "alwayslink" in ctx.target.rule.attrs else False),
    )


def cc_library(ctx: RuleContext) -> dict[Any, Any]:
    """cc_library: compile, and offer objects, headers, defines and include paths to dependents."""
    compilation = compile_target(ctx)
    dependencies = [*cc_infos(ctx, "deps"), *cc_infos(ctx, "implementation_deps")]
    linking = Depset([linker_input(ctx, compilation)], [info.linking for info in dependencies], "topological")
    info = default_info(compilation.objects)
    return {info.provider: info, CC_INFO: CcInfo(compilation.context, linking)}


def cc_binary(ctx: RuleContext) -> dict[Any, Any]:
    """cc_binary: compile and link an executable, or a shared library with linkshared."""
    extra = [info for name in ("malloc", "link_extra_lib") if ctx.given(name) for info in cc_infos(ctx, name)]
    compilation = compile_target(ctx, extra)
    closure = merge_cc_infos([*cc_infos(ctx, "deps"), *cc_infos(ctx, "implementation_deps"), *extra])
    inputs = [linker_input(ctx, compilation), *closure.linking.to_list()]
    shared = bool(ctx.value("linkshared"))
    output = ctx.declare(binary_name(ctx, shared))
    register_link(ctx, output, inputs, {ctx.label}, shared=shared)
    info = default_info([output], None if shared else output)
    return {info.provider: info, CC_INFO: CcInfo(compilation.context, Depset(inputs, (), "topological"))}


def binary_name(ctx: RuleContext, shared: bool) -> str:
    windows = ctx.configuration.os == "windows"
    name = ctx.label.name
    if shared:
        return name if "." in posixpath.basename(name) else f"lib{name}.so" if not windows else f"{name}.dll"
    return f"{name}.exe" if windows and not name.endswith(".exe") else name


def split_objects(inputs: Sequence[LinkerInput], direct: Collection[Label]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the objects that are linked in any case (alwayslink, and the targets `direct`), and those that are linked if needed."""
    chosen = [item.alwayslink or item.owner in direct for item in inputs]
    objects = unique([[file.path for file in item.objects] for item, always in zip(inputs, chosen) if always])
    lazy = unique([[file.path for file in item.objects] for item, always in zip(inputs, chosen) if not always])
    return objects, tuple(path for path in lazy if path not in set(objects))


def register_link(ctx: RuleContext, output: File, inputs: Sequence[LinkerInput], direct: Collection[Label], *, shared: bool) -> None:
    """Register the Link of `inputs` into `output`, and the Archive of the objects it takes only where something needs them."""
    objects, lazy = split_objects(inputs, direct)
    archive = f"{output.path}.libraries.a" if lazy else ""
    if lazy:
        ctx.register(Archive(str(ctx.label), archive, lazy, ctx.configuration.name, ctx.location))
    ctx.register(
        Link(
            label=str(ctx.label),
            output=output.path,
            kind="shared" if shared else "executable",
            configuration=ctx.configuration.name,
            objects=objects,
            libraries=unique([[file.path for file in item.libraries] for item in inputs]),
            flags=(*ctx.configuration.linkopts, *(flag for item in inputs for flag in item.flags)),
            scripts=unique([[file.path for file in item.scripts] for item in inputs]),
            location=ctx.location,
            archive=archive,
            members=lazy,
        )
    )


def cc_import(ctx: RuleContext) -> dict[Any, Any]:
    """cc_import: a prebuilt archive or shared library with its headers."""
    headers = ctx.files("hdrs")
    virtual, virtual_dir = virtual_includes(ctx, headers)
    context = compilation_context(ctx, cc_infos(ctx, "deps"), [*headers, *virtual], virtual_dir=virtual_dir, system=include_dirs(ctx))
    chosen = [name for name in ("pic_static_library", "static_library", "interface_library", "shared_library") if ctx.value(name)]
    if not chosen and ctx.value("system_provided"):
        raise ctx.fail(f"{ctx.label}: system_provided needs an interface_library")
    libraries = ctx.files(chosen[0]) if chosen else ()
    flags = tuple(ctx.words("linkopts"))
    own = LinkerInput(ctx.label, ctx.files("objects"), libraries, flags, (), bool(ctx.value("alwayslink")))
    linking = Depset([own], [info.linking for info in cc_infos(ctx, "deps")], "topological")
    info = default_info(libraries)
    return {info.provider: info, CC_INFO: CcInfo(context, linking)}


def cc_shared_library(ctx: RuleContext) -> dict[Any, Any]:
    """cc_shared_library: one shared library of all that `deps` (formerly `roots`) reach, outside the host itself."""
    roots = [*cc_infos(ctx, "deps"), *cc_infos(ctx, "roots")]
    inputs = merge_cc_infos(roots).linking.to_list()
    direct = {item.owner for info in roots for item in info.linking.to_list()[:1]}
    name = ctx.value("shared_lib_name") or f"lib{ctx.label.name}.so"
    output = ctx.declare(name)
    additional = ctx.deps("additional_linker_inputs")
    scripts = tuple(file for dep in additional for file in dep.files)
    own = LinkerInput(ctx.label, (), (), tuple(ctx.words("user_link_flags", additional)), scripts)
    register_link(ctx, output, [*inputs, own], direct, shared=True)
    info = default_info([output])
    return {info.provider: info}


def declared_test(ctx: RuleContext) -> dict[Any, Any]:
    """cc_test: declared and never built."""
    raise ctx.fail(f"the closure needs {ctx.label}, a test: tests are declared, not built", "remove the dependency on it")


_TEST_ATTRS = {**COMMON, **BINARY_ATTRS, **TEST}
CC_RULES: dict[str, RuleClass] = {
    "cc_library": RuleClass("cc_library", {**COMMON, **COMPILE_ATTRS}, cc_library),
    "cc_binary": RuleClass("cc_binary", {**COMMON, **BINARY_ATTRS}, cc_binary, executable=True),
    "cc_test": RuleClass("cc_test", _TEST_ATTRS, declared_test, test=True),
    "cc_import": RuleClass(
        "cc_import",
        {
            **COMMON,
            "hdrs": Attr("label_list"),
            "deps": Attr("label_list"),
            "objects": Attr("label_list"),
            "pic_objects": Attr("label_list", status="unsupported", reason="list them in objects"),
            "static_library": Attr("label"),
            "pic_static_library": Attr("label"),
            "shared_library": Attr("label"),
            "interface_library": Attr("label"),
            "system_provided": Attr("bool"),
            "alwayslink": Attr("bool"),
            "linkopts": Attr("string_list"),
            "includes": Attr("string_list"),
            "include_prefix": Attr("string"),
            "strip_include_prefix": Attr("string"),
            "data": irrelevant("label_list", "runfiles are not staged: a host has none"),
        },
        cc_import,
    ),
    "cc_shared_library": RuleClass(
        "cc_shared_library",
        {
            **COMMON,
            "deps": Attr("label_list"),
            "roots": Attr("label_list"),
            "dynamic_deps": Attr("label_list", status="unsupported", reason="a host needs no shared library of its own sources"),
            "exports_filter": irrelevant("string_list", "all that the roots reach is linked"),
            "static_deps": irrelevant("string_list", "all that the roots reach is linked"),
            "shared_lib_name": Attr("string"),
            "user_link_flags": Attr("string_list"),
            "additional_linker_inputs": Attr("label_list"),
            "win_def_file": irrelevant("label", "export lists are generated from the lock"),
            "experimental_disable_topo_sort_do_not_use_remove_before_7_0": irrelevant("bool", "objects are linked in topological order"),
        },
        cc_shared_library,
    ),
}
