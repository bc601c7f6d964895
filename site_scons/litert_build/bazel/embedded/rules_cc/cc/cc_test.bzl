"""cc_test by itself."""

cc_test = native.cc_test
