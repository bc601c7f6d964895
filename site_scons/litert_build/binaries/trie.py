"""Owns the export trie of Mach-O (<mach-o/loader.h>, EXPORT_SYMBOL_FLAGS_*).

list(read_trie(file, data, library_of))[0].name      # '_litert_lm_engine_create'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from litert_build.binaries.facts import Symbol
from litert_build.binaries.window import MAX_NAME, malformed

_KIND = {0: "notype", 1: "tls", 2: "absolute"}
_WEAK, _REEXPORT = 0x04, 0x08


def read_trie(file: Path, data: bytes, library_of: Callable[[int], str]) -> Iterator[Symbol]:
    """Yield each exported symbol. Raises BuildError where the nodes form a loop or leave the trie."""
    pending = [(0, b"")]
    seen: set[int] = set()
    budget = 8 * len(data) + MAX_NAME
    while pending:
        node, prefix = pending.pop()
        if node in seen or node >= len(data):
            raise malformed(file, f"the export trie reaches node {node:#x} {'twice' if node in seen else 'outside itself'}")
        seen.add(node)
        budget -= len(prefix)
        if budget < 0:
            raise malformed(file, "the names of the export trie overlap beyond any real one")
        size, at = _uleb(file, data, node)
        if size:
            yield _terminal(file, data, at, prefix.decode("utf-8", "backslashreplace"), library_of)
        at += size
        children = data[at] if at < len(data) else 0
        at += 1
        for _ in range(children):
            end = data.find(b"\0", at)
            if end < 0:
                raise malformed(file, "an edge of the export trie has no end")
            child, following = _uleb(file, data, end + 1)
            pending.append((child, prefix + data[at:end]))
            at = following


def _terminal(file: Path, data: bytes, at: int, name: str, library_of: Callable[[int], str]) -> Symbol:
    flags, at = _uleb(file, data, at)
    binding = "weak" if flags & _WEAK else "global"
    if not flags & _REEXPORT:
        return Symbol(name, _KIND.get(flags & 3, "notype"), binding)
    ordinal, at = _uleb(file, data, at)
    original = data[at : max(at, data.find(b"\0", at))].decode("utf-8", "backslashreplace")
    return Symbol(name, "reexport", binding, original, library_of(ordinal))


def _uleb(file: Path, data: bytes, at: int) -> tuple[int, int]:
    """Return (value, offset behind it) of an unsigned LEB128 number of at most 64 bits."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            return value, at
    raise malformed(file, f"a number of the export trie at {at:#x} has no end")
