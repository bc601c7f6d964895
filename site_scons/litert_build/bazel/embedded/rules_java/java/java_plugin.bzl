"""java_plugin by itself."""

java_plugin = native.java_plugin
