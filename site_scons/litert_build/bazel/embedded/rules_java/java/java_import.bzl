"""java_import by itself."""

java_import = native.java_import
