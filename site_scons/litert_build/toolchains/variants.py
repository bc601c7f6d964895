"""Owns what the command line adds to a toolchain: link-time optimization and debug information. Exec tools never get either.

with_lto(find_toolchain("clang", target)).compile_flags        # ('-flto=thin',)
"""

from __future__ import annotations

from dataclasses import replace

from litert_build.errors import BuildError
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.cl import ClToolchain
from litert_build.toolchains.gnu import GnuToolchain
from litert_build.toolchains.limits import default_link_jobs


def with_lto(toolchain: Toolchain) -> Toolchain:
    """Return `toolchain` with link-time optimization on; its link takes as many threads as memory allows.

    Raises BuildError for a toolchain whose linker here cannot do it.
    """
    jobs = default_link_jobs()
    if isinstance(toolchain, ClToolchain):
        if toolchain.dialect == "clang-cl":
            return replace(toolchain, driver=(*toolchain.driver, "-flto=thin"))
        return replace(toolchain, driver=(*toolchain.driver, "/GL"), link_flags=(*toolchain.link_flags, "/LTCG"))
    if not isinstance(toolchain, GnuToolchain) or (toolchain.name == "clang" and not toolchain.lld):
        raise BuildError(
            f"{toolchain.name} cannot optimize at link time here", where="lto=", mend="apt-get install lld-19, or leave lto out"
        )
    compiled, linked = ("-flto", f"-flto={jobs}") if toolchain.dialect in ("gcc", "mingw") else ("-flto=thin", "-flto=thin")
    threads = (f"-Wl,--thinlto-jobs={jobs}",) if toolchain.name in ("clang", "ndk") else ()
    return replace(
        toolchain,
        compile_flags=(*toolchain.compile_flags, compiled),
        link_flags=(linked, "-O2", *threads, *toolchain.link_flags),
    )


def with_debug(toolchain: Toolchain) -> Toolchain:
    """Return `toolchain` with debug information in every object, over the flag table's -g0."""
    if isinstance(toolchain, ClToolchain):
        return replace(toolchain, driver=(*toolchain.driver, "/Z7"))
    if not isinstance(toolchain, GnuToolchain):
        raise BuildError(f"{toolchain.name} cannot write debug information here", where="debug_symbols=", mend="leave debug_symbols out")
    return replace(toolchain, last_flags=(*toolchain.last_flags, "-g"))
