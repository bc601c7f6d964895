"""sh_binary by itself."""

sh_binary = native.sh_binary
