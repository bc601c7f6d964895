"""The copts and linkopts that every target of this repository passes."""

load("//base/copts:copts.bzl", "CLANG_FLAGS", "GCC_FLAGS")

BASE_DEFAULT_COPTS = select({
    "//base/config:clang_compiler": CLANG_FLAGS,
    "//conditions:default": GCC_FLAGS,
})

BASE_DEFAULT_LINKOPTS = select({
    "@platforms//os:windows": [],
    "//conditions:default": ["-lm"],
})
