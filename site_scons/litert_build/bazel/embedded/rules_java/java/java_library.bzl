"""java_library by itself."""

java_library = native.java_library
