"""cc_binary by itself."""

cc_binary = native.cc_binary
