"""Flags of the interpreter, and the library macro that carries them."""

load("@bazel_skylib//lib:selects.bzl", "selects")
load("@bazel_skylib//rules:build_test.bzl", "build_test")

def tflite_copts():
    """Compile flags for kernels and whatever includes their headers."""
    copts = select({
        clean_dep("//litert:linux_x86_64"): ["-msse4.2"],
        "//conditions:default": [],
    }) + select({
        "@platforms//os:windows": [
            "/DTFL_COMPILE_LIBRARY",
            "/wd4018",
        ],
        "//conditions:default": [
            "-DTFL_COMPILE_LIBRARY",
            "-Wno-sign-compare",
        ],
    }) + select({
        clean_dep("//litert:debug"): [],
        "//conditions:default": ["-O3"],
    })
    return copts + selects.with_or({
        ("@platforms//os:linux", "@platforms//os:android", "@platforms//os:macos"): ["-fno-exceptions"],
        "//conditions:default": [],
    })

def clean_dep(label):
    """A label of this repository, for macros that others call."""
    return str(Label(label))

def _concat(lists):
    result = []
    for one in lists:
        result = result + one
    return result

def _with_suffix(label, suffix):
    if ":" not in label and label.startswith("//"):
        _, _, target = label.rpartition("/")
        return "%s:%s%s" % (label, target, suffix)
    return label + suffix

def tflite_cc_library(name, deps = [], tflite_deps = [], copts = [], deps_selects = [], opaque_twin = False, **kwargs):
    """A cc_library whose tflite_deps are targets of //tflite/kernels by their short name.

    `deps_selects` are the dictionaries of select()s; with opaque_twin they are also those of name_opaque, whose choices have the suffix.
    """
    for dep in tflite_deps:
        if ":" in dep or "/" in dep:
            fail("tflite_deps takes short names, not", dep)
    native.cc_library(
        name = name,
        copts = tflite_copts() + copts,
        deps = deps + ["//tflite/kernels:" + dep for dep in tflite_deps] + _concat([select(choices) for choices in deps_selects]),
        **kwargs
    )
    if opaque_twin:
        renamed = [{key: [_with_suffix(dep, "_opaque") for dep in value] for (key, value) in choices.items()} for choices in deps_selects]
        native.cc_library(
            name = name + "_opaque",
            copts = tflite_copts() + copts,
            deps = deps + _concat([select(choices) for choices in renamed]),
            tags = ["manual"],
            **kwargs
        )

def self_contained_headers_test_suite(name):
    """For each header of the cc_library targets above: a test that it compiles by itself."""
    tests = []
    for rule in native.existing_rules().values():
        if rule["kind"] != "cc_library" or "not_self_contained" in rule["tags"] or type(rule["hdrs"]) not in (type(()), type([])):
            continue
        for header in rule["hdrs"]:
            label = native.package_relative_label(header)
            if not label.name.endswith(".h"):
                continue
            stem = "%s__alone__%s" % (rule["name"], label.name.replace("/", "_"))
            native.genrule(
                name = stem + "_gen",
                testonly = True,
                outs = [stem + ".c"],
                cmd = "echo '#include \"%s/%s\"' > $@" % (label.package, label.name),
                visibility = ["//visibility:private"],
            )
            native.cc_library(
                name = stem,
                testonly = True,
                srcs = [stem + ".c"],
                tags = ["not_self_contained"],
                visibility = ["//visibility:private"],
                deps = [":" + rule["name"]],
            )
            build_test(name = stem + "_test", targets = [":" + stem], visibility = ["//visibility:private"])
            tests.append(stem + "_test")
    native.test_suite(name = name, tests = tests)

def _run_generator_impl(ctx):
    ctx.actions.run(
        outputs = ctx.outputs.outs,
        inputs = ctx.files.srcs,
        executable = ctx.executable._generator,
        arguments = [ctx.expand_location(arg) for arg in ctx.attr.arguments],
        mnemonic = "RunGenerator",
        progress_message = "Generating %{label}",
    )
    return DefaultInfo(
        files = depset(ctx.outputs.outs),
        runfiles = ctx.runfiles(ctx.outputs.outs),
    )

run_generator = rule(
    implementation = _run_generator_impl,
    attrs = {
        "srcs": attr.label_list(doc = "Read by the generator.", allow_files = True, mandatory = True),
        "outs": attr.output_list(doc = "Written by it.", mandatory = True),
        "arguments": attr.string_list(doc = "With $(location) of both.", mandatory = True),
        "_generator": attr.label(default = Label("//litert/tools:table_gen"), executable = True, cfg = "exec"),
    },
)
