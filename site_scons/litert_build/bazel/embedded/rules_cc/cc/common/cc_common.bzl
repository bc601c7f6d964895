"""cc_common by itself."""

load("//cc:native.bzl", "native_cc_common")

cc_common = native_cc_common
