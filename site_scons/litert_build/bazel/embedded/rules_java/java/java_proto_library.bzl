"""java_proto_library by itself."""

java_proto_library = native.java_proto_library
