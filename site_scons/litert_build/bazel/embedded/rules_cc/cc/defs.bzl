"""The C++ rules by name."""

cc_library = native.cc_library
cc_binary = native.cc_binary
cc_test = native.cc_test
cc_import = native.cc_import
cc_shared_library = native.cc_shared_library
objc_library = native.objc_library
objc_import = native.objc_import
cc_toolchain = native.cc_toolchain
fdo_profile = native.fdo_profile
