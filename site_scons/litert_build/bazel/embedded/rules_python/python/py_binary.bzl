"""py_binary by itself."""

py_binary = native.py_binary
