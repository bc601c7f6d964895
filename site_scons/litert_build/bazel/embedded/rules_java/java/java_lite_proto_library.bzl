"""java_lite_proto_library by itself."""

java_lite_proto_library = native.java_lite_proto_library
