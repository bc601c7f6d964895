"""py_runtime by itself."""

py_runtime = native.py_runtime
