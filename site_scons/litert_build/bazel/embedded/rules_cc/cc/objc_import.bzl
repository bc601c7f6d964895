"""objc_import by itself."""

objc_import = native.objc_import
