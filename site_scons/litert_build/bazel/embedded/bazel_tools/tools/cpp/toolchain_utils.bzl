"""The C++ toolchain of a rule, under its older name."""

load("@rules_cc//cc:find_cc_toolchain.bzl", _find = "find_cc_toolchain", _use = "use_cc_toolchain")

find_cpp_toolchain = _find
use_cpp_toolchain = _use
