"""CcInfo by itself."""

load("//cc:native.bzl", "NativeCcInfo")

CcInfo = NativeCcInfo
