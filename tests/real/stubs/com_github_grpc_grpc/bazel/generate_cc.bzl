"""RPC services are no part of a TensorFlow Lite closure: the macro declares nothing."""

def generate_cc(**_attributes):
    pass
