"""Flags of the interpreter, and the library macro that carries them."""

load("@bazel_skylib//lib:selects.bzl", "selects")

def tflite_copts():
    """Compile flags for kernels and whatever includes their headers."""
    copts = select({
        str(Label("//litert:linux_x86_64")): ["-msse4.2"],
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
        str(Label("//litert:debug")): [],
        "//conditions:default": ["-O3"],
    })
    return copts + selects.with_or({
        ("@platforms//os:linux", "@platforms//os:android", "@platforms//os:macos"): ["-fno-exceptions"],
        "//conditions:default": [],
    })

def tflite_cc_library(name, deps = [], tflite_deps = [], copts = [], **kwargs):
    """A cc_library whose tflite_deps are targets of //tflite/kernels by their short name."""
    for dep in tflite_deps:
        if ":" in dep or "/" in dep:
            fail("tflite_deps takes short names, not", dep)
    native.cc_library(
        name = name,
        copts = tflite_copts() + copts,
        deps = deps + ["//tflite/kernels:" + dep for dep in tflite_deps],
        **kwargs
    )
