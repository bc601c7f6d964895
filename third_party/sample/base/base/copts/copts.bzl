"""Warning flags of each compiler family; configure_copts.bzl picks one."""

GCC_FLAGS = [
    "-Wall",
    "-Wextra",
    "-Wcast-qual",
    "-Wno-sign-compare",
]

CLANG_FLAGS = GCC_FLAGS + [
    "-Wno-unknown-warning-option",
]
