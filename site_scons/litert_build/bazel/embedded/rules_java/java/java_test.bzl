"""java_test by itself."""

java_test = native.java_test
