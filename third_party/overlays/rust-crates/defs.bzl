"""Rust rules for closures whose crates are in one library that cargo built: a target of theirs has nothing to add."""

def rust_library(name, visibility = None, **_attributes):
    native.cc_library(name = name, visibility = visibility)

rust_static_library = rust_library
rust_shared_library = rust_library
rust_proc_macro = rust_library

def rust_test(name, **_attributes):
    """Declares nothing: a host runs no tests."""

rust_binary = rust_test
