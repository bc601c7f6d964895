"""cc_shared_library by itself."""

cc_shared_library = native.cc_shared_library
