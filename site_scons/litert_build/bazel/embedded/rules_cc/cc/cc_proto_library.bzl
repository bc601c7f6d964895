"""cc_proto_library by itself."""

cc_proto_library = native.cc_proto_library
