"""cc_import by itself."""

cc_import = native.cc_import
