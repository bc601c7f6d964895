"""The C++ rules by name."""

load(":native.bzl", "NativeCcInfo", "native_cc_common")

cc_library = native.cc_library
cc_binary = native.cc_binary
cc_test = native.cc_test
cc_import = native.cc_import
cc_shared_library = native.cc_shared_library
cc_proto_library = native.cc_proto_library
objc_library = native.objc_library
objc_import = native.objc_import
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_profile = native.fdo_profile
CcInfo = NativeCcInfo
cc_common = native_cc_common
