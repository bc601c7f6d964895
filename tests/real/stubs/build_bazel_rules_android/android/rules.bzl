"""Android libraries are no part of a Linux closure: the macros declare nothing."""

def android_library(**_attributes):
    pass

def android_binary(**_attributes):
    pass
