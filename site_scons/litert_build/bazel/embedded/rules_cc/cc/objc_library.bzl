"""objc_library by itself."""

objc_library = native.objc_library
