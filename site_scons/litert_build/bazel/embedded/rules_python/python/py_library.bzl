"""py_library by itself."""

py_library = native.py_library
