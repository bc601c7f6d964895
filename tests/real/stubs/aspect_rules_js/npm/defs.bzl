"""Node packages are no part of a C++ closure: the macro declares nothing."""

def npm_link_package(**_attributes):
    pass
