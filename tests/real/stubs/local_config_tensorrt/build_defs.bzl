"""A machine without TensorRT: every choice falls on the other branch."""

def if_tensorrt(_if_true, if_false = []):
    return if_false

def if_tensorrt_exec(_if_true, if_false = []):
    return if_false
