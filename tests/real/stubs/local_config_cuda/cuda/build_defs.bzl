"""A machine without CUDA: every choice falls on the other branch."""

def if_cuda(_if_true, if_false = []):
    return if_false

def if_cuda_exec(_if_true, if_false = []):
    return if_false

def if_cuda_is_configured(_if_true, no_cuda = []):
    return no_cuda

def cuda_library(copts = [], **attributes):
    native.cc_library(copts = copts, **attributes)

def cuda_default_copts():
    return []

def cuda_gpu_architectures():
    return []
