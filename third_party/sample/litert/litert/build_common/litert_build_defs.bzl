"""Macros of the runtime: C API targets that follow the link mode, accelerators that register themselves, shared libraries."""

load("@bazel_skylib//lib:selects.bzl", "selects")
load("@rules_cc//cc:cc_library.bzl", "cc_library")

_LIBRARY_PREFIX = "libLiteRt"
_EXPORT_SCRIPT = "//litert/build_common:export_litert_only_linux.lds"

def make_linkopt(option):
    return "-Wl,{}".format(option)

def absolute_label(label, package = None):
    """The label with its package spelled out, as seen from `package` (the calling one by default)."""
    if label.startswith("//") or label.startswith("@"):
        return label
    if package == None:
        package = native.package_name()
    return "//%s:%s" % (package, label.removeprefix(":"))

def append_kwargs(kwargs, **more):
    """Adds lists or select()s to the attributes of a rule to be."""
    for key, value in more.items():
        longer = kwargs.pop(key, [])
        longer += value
        kwargs[key] = longer

def litert_lib(rule = cc_library, **kwargs):
    """A target of `rule` that knows whether the systems it runs on share their C library's version."""
    append_kwargs(kwargs, local_defines = selects.with_or({
        ("//conditions:default", "//litert:linux_aarch64"): [],
        "//litert:linux_x86_64": ["LITERT_ONE_LIBC=1"],
    }))
    rule(**kwargs)

def library_with_testonly_twin(name, vis, testonly_vis = "//visibility:public", rule = litert_lib, **kwargs):
    """name for the users `vis`, name_testonly for tests of anyone: one group or a list of them."""
    if "append" not in dir(vis):
        vis = [vis]
    if "append" not in dir(testonly_vis):
        testonly_vis = [testonly_vis]
    rule(name = name, visibility = vis, **kwargs)
    rule(name = name + "_testonly", testonly = True, visibility = testonly_vis, **kwargs)

def by_link_mode(linked_in, header_only):
    """`linked_in` where the core is part of the binary, `header_only` where it comes from elsewhere."""
    return select({
        Label("//litert:litert_runtime_link_mode_dynamic"): header_only,
        Label("//litert:litert_runtime_link_mode_none"): header_only,
        "//conditions:default": linked_in,
    })

def litert_c_api_library(name, srcs, hdrs, deps = [], header_deps = [], impl_deps = [], header_kwargs = {}, **kwargs):
    """name_header declares, name_impl defines, name is one of the two by link mode."""
    if not name.startswith("litert_"):
        fail("litert_c_api_library: %r is not named litert_*" % name)
    if native.existing_rule(name + "_header"):
        fail("litert_c_api_library: %s_header exists already in //%s" % (name, native.package_name()))

    native.cc_library(
        name = name + "_header",
        hdrs = hdrs,
        deps = [absolute_label(dep) + "_header" for dep in deps] + header_deps,
        tags = kwargs.get("tags", []) + ["avoid_dep"],
        **dict(kwargs, **header_kwargs)
    )
    native.cc_library(
        name = name + "_impl",
        srcs = srcs,
        deps = [":" + name + "_header"] + impl_deps,
        alwayslink = True,
        **kwargs
    )
    native.alias(
        name = name,
        actual = by_link_mode(":" + name + "_impl", ":" + name + "_header"),
        visibility = kwargs.get("visibility"),
    )

def litert_accelerator_library(name, srcs, deps = [], defines = [], exports = _EXPORT_SCRIPT, **kwargs):
    """An accelerator in two shapes: `name` registers itself in the binary that links it, `name_runtimecapi` is found by name.

    `name_so` is the plug-in made of the latter.
    """
    shapes = [
        struct(suffix = "", defines = ["LITERT_USE_STATIC_LINKED_GPU_ACCELERATOR"], alwayslink = True),
        struct(suffix = "_runtimecapi", defines = [], alwayslink = False),
    ]
    for shape in shapes:
        native.cc_library(
            name = name + shape.suffix,
            srcs = srcs,
            deps = deps,
            local_defines = defines + shape.defines,
            alwayslink = shape.alwayslink,
            **kwargs
        )
    native.cc_binary(
        name = name + "_so",
        additional_linker_inputs = [exports],
        linkopts = select({
            "@platforms//os:linux": [make_linkopt("--version-script=$(location %s)" % exports)],
            "//conditions:default": [],
        }),
        linkshared = True,
        tags = ["manual"],
        deps = [":" + name + "_runtimecapi"],
    )

def litert_dynamic_lib(name, so_name, deps, linkopts = [], visibility = None):
    """A cc_library of `deps` and the shared library `so_name` made of it."""
    if not (so_name.startswith(_LIBRARY_PREFIX) and so_name.endswith(".so")):
        fail("so_name must be {}*.so, not {}".format(_LIBRARY_PREFIX, so_name))
    native.cc_library(
        name = name,
        visibility = visibility,
        deps = deps,
    )
    native.cc_binary(
        name = so_name,
        additional_linker_inputs = [_EXPORT_SCRIPT],
        linkopts = linkopts + select({
            "@platforms//os:linux": [
                make_linkopt("--version-script=$(location %s)" % _EXPORT_SCRIPT),
                make_linkopt("-soname=" + so_name),
            ],
            "//conditions:default": [],
        }),
        linkshared = True,
        tags = ["manual"],
        visibility = visibility,
        deps = [":" + name],
    )

def copy_file(name, src, target, visibility = None):
    native.genrule(
        name = name,
        srcs = [src],
        outs = [target],
        cmd = "cp $(location %s) $(@D)/%s" % (src, target),
        visibility = visibility,
    )
