"""py_test by itself."""

py_test = native.py_test
