"""JavaScript libraries are no part of a C++ closure: the macro declares nothing."""

def js_library(**_attributes):
    pass
