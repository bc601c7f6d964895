"""A host library's C API, walked in a clean folder: by a C program of the target's compiler, and by ctypes.

print(smoke_bundle(request).text)       # litert_build.smoke.run
"""
