"""java_binary by itself."""

java_binary = native.java_binary
