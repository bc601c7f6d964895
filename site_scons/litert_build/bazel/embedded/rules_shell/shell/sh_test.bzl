"""sh_test by itself."""

sh_test = native.sh_test
