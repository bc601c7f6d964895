"""A machine without ROCm: every choice falls on the other branch."""

def if_rocm(_if_true, if_false = []):
    return if_false

def if_rocm_is_configured(_if_true):
    return []

def rocm_copts(opts = []):
    return opts

def rocm_library(copts = [], **attributes):
    native.cc_library(copts = copts, **attributes)

def if_rocm_hipblaslt(_if_true):
    return []

def rocm_gpu_architectures():
    return []
