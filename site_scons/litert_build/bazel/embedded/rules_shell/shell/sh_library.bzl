"""sh_library by itself."""

sh_library = native.sh_library
