"""cc_toolchain by itself."""

cc_toolchain = native.cc_toolchain
