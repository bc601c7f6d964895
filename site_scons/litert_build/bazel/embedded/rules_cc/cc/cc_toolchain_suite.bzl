"""cc_toolchain_suite by itself."""

cc_toolchain_suite = native.cc_toolchain_suite
