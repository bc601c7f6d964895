"""The Python rules by name: binaries are host tools."""

py_library = native.py_library
py_binary = native.py_binary
py_test = native.py_test
py_runtime = native.py_runtime
