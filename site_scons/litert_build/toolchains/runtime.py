"""Owns the rule that a host has one C++ runtime, as far as it can be held before the link.

refuse_prebuilt_cxx(["external/x/libx.a"], Path("build/linux-x64/v0.19.1"), where="third_party/refs/v0.19.1.json")

A prebuilt static archive was compiled against a standard library that nothing here can see; the gate reads the finished file too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from litert_build.errors import BuildError

# What C++ objects refer to: the std namespace, operator new and delete, the exception personality (Itanium C++ ABI, "Mangling"), and
# MSVC's spelling of the same. Rust and C archives have none of it.
_CXX = re.compile(rb"_ZNK?St\w+|_ZSt\w+|_Zn[wa][mj]\w*|_ZdlPv\w*|__gxx_personality_v0|__cxa_throw|\?\?[23]@YA\w+@Z|\?\w+@\w+@std@@\w*")


def refuse_prebuilt_cxx(libraries: Iterable[str], root: Path, *, where: str) -> None:
    """Raise BuildError for the first static archive among `libraries` (exec paths under `root`) that holds C++ and was not built here.

    What this build makes stands under bazel-out and is let through; import libraries and C or Rust archives hold no C++.
    """
    for library in libraries:
        if library.startswith("bazel-out/") or not library.endswith((".a", ".lib", ".lo")):
            continue
        found = _evidence(root / library)
        if found:
            raise BuildError(
                f"{library} is a prebuilt static archive that holds C++: a second C++ runtime in the host",
                where=where,
                notes=[f"it refers to {found}"],
                mend="build it from source, or ship it as a shared library with a C API",
            )


def _evidence(archive: Path) -> str:
    try:
        content = archive.read_bytes()
    except OSError as error:
        raise BuildError(
            f"cannot read the library {archive}: {error.strerror}", mend="see that the tree that holds it is complete"
        ) from error
    found = _CXX.search(content)
    return found.group().decode("ascii", "replace") if found else ""
