"""Owns the pass over the bytes of a binary: traces of C++ standard libraries and names of shared libraries.

find_evidence(window, facts).families      # {'libc++': ('inline namespace std::__u, 312 names',)}

The traces are those that told the runtimes apart on real and synthetic libraries (docs/gate.md, rule cxx-runtime). Words that
both kinds of file hold (`__gnu_cxx`, `.?AVbad_alloc@std@@`, libunwind, api-ms-win-crt-*) are no evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from litert_build.binaries.facts import BinaryFacts, Evidence
from litert_build.binaries.window import Window

# Texts of the library's own objects: who holds one has the library linked in, even stripped of every name. libc++abi's demangler stays
# where lld drops the objects that print `libc++abi: `.
_PROVIDERS = {
    b"libc++abi: ": "libc++",
    b"12_GLOBAL__N_116itanium_demangle": "libc++",
    b"terminate called after throwing an instance of '": "libstdc++",
}
_ITANIUM = re.compile(rb"St(3__1|3__u|6__ndk1|4__Cr)")
_CXX11 = re.compile(rb"St7__cxx11")
_MICROSOFT_LIBCXX = re.compile(rb"@__(1|u|Cr)@std@@")
# Not `.?AV_Ref_count_base@std@@`: libc++ on the MSVC ABI takes exception_ptr from libcpmt, whose object holds it (0.11.0's DLL does).
_MSVC_STL = re.compile(rb"\.\?AV_Generic_error_category@std@@|\.\?AV\?\$_Ref_count")
_NAME = re.compile(r"[\w+.-]{1,100}$", re.ASCII)
_SUFFIXES = {
    "elf": re.compile(rb"\.so(?![\w-])"),
    "pe": re.compile(rb"\.(?:[dD][lL][lL](?![\w-])|\0[dD]\0[lL]\0[lL]\0)"),
    "macho": re.compile(rb"\.dylib(?![\w-])|\.so(?![\w-])"),
}


def find_evidence(window: Window, facts: BinaryFacts) -> Evidence:
    """Return what the bytes, the needed libraries and the version needs of `facts` say."""
    patterns = _patterns(facts.format)
    counts: dict[str, Counter[str]] = {name: Counter() for name in patterns}
    providers: dict[str, str] = {}
    libraries: set[str] = set()
    for chunk in window.chunks():
        for name, pattern in patterns.items():
            for match in pattern.finditer(chunk):
                counts[name][match.group().decode("latin-1")] += 1
        for text, name in _PROVIDERS.items():
            if text in chunk:
                providers.setdefault(name, f"the text {text.decode()!r}, which only the library itself holds")
        _collect_libraries(chunk, facts.format, libraries)
    families: dict[str, list[str]] = {}
    for name, found in counts.items():
        if found:
            families.setdefault(name, []).append(", ".join(f"{text} in {number} names" for text, number in found.most_common(3)))
    for name, reason in _from_tables(facts):
        families.setdefault(name, []).append(reason)
    for name, proof in providers.items():
        families.setdefault(name, []).append(proof)
    return Evidence({name: tuple(families[name]) for name in sorted(families)}, providers, tuple(sorted(libraries)))


def _patterns(format: str) -> dict[str, re.Pattern[bytes]]:
    if format == "pe":
        return {"libc++": re.compile(_MICROSOFT_LIBCXX.pattern + rb"|St3__1"), "msvc": _MSVC_STL, "libstdc++": _CXX11}
    return {"libc++": _ITANIUM, "libstdc++": _CXX11}


def _from_tables(facts: BinaryFacts) -> list[tuple[str, str]]:
    """Return (family, reason) for each needed library or version need that names a C++ runtime."""
    runtimes: list[tuple[str, Callable[[str], bool]]] = [
        ("libc++", lambda name: bool(re.match(r"libc\+\+(_shared)?\.|libc\+\+(\.\d+)?\.dylib", name))),
        ("libstdc++", lambda name: name.startswith("libstdc++")),
        ("msvc", lambda name: bool(re.match(r"msvcp\d+", name, re.IGNORECASE))),
    ]
    found = []
    for needed in (*facts.needed, *facts.delay_needed):
        base = needed.rsplit("/", 1)[-1]
        found += [(family, f"needs {needed}") for family, matches in runtimes if matches(base)]
    for library, versions in facts.version_needs.items():
        if any(version.startswith("GLIBCXX_") for version in versions):
            found.append(("libstdc++", f"version needs GLIBCXX_* of {library}"))
    return found


def _collect_libraries(chunk: bytes, format: str, libraries: set[str]) -> None:
    """Add the names that end in the format's suffix: of the text before it, 8 or (Windows) 16 bits a letter, what a file name may hold."""
    for match in _SUFFIXES[format].finditer(chunk):
        before, wide = chunk[max(0, match.start() - 200) : match.start()], match.group().endswith(b"\0")
        text = before[len(before) % 2 :].decode("utf-16-le", "replace") if wide else before.decode("latin-1")
        if name := _NAME.search(text):
            libraries.add(name.group() + match.group().replace(b"\0", b"").decode())
