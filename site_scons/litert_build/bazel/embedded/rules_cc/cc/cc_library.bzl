"""cc_library by itself."""

cc_library = native.cc_library
