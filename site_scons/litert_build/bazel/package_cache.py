"""Owns evaluated packages between runs: what executing a BUILD file gave, used again while all that decided it is as it was.

    packages.cache = PackageCache(packages, Path("build/.cache/packages"), evaluator=manifest_digest())
    packages.load("", "c")                 # from the second run on without executing c/BUILD

An entry says what decided its package: the text of the BUILD file, the text (or the lack) of every .bzl file that it loads, directly or
not, and, where it globs, the names of its files. All of it is read anew and compared: no time stamp is trusted, only the execution is
saved. A BUILD file can see nothing else: flags, target and toolchain decide later, where a select() is resolved. Whoever evaluates, and
how the repositories are mapped, is the owner of the entry.

There is one entry a package, replaced where it no longer holds. A package whose evaluation fails is never kept.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

from litert_build.bazel.packages import Package, Packages
from litert_build.bazel.stored import Unstorable, fill, label_of, plain_label, plain_package
from litert_build.starlark.entries import read_entry, write_entry
from litert_build.starlark.values import EvalError

Module = tuple[str, str, str]


class PackageCache:
    """A folder of evaluated packages. Any number of processes may share it, for other locks and targets too."""

    def __init__(self, packages: Packages, folder: Path, evaluator: str) -> None:
        self._packages = packages
        self._folder = folder
        mappings = {name: sorted(mapping.items()) for name, mapping in sorted(packages.mappings.items()) if mapping}
        owner = repr((evaluator, importlib.util.MAGIC_NUMBER, packages.main, mappings, sorted(packages.bindings.items())))
        self._owner = hashlib.blake2b(owner.encode(), digest_size=32).digest()
        self._modules: dict[Module, bytes] = {}

    def restore(self, package: Package, text: str) -> bool:
        """Make `package`, whose BUILD file holds `text`, what its entry says. Returns False, and leaves it empty, where none holds."""
        entry = read_entry(self._file(package), self._owner)
        if entry is None:
            return False
        decided_by, content = entry
        try:
            if not self._holds(package, text, *decided_by):
                return False
        except EvalError:  # a folder that cannot be listed now: the evaluation says so, with the line that globs
            return False
        fill(package, content)
        return True

    def _holds(self, package: Package, text: str, own: bytes, modules: list[tuple[Module, bytes]], listing: bytes) -> bool:
        """Compare in the order of loading, so that nothing is read that an evaluation would not read."""
        return (
            own == _digest(package.display, text)
            and all(self._module(module) == digest for module, digest in modules)
            and (not listing or package.files.digest() == listing)
        )

    def keep(self, package: Package, text: str) -> None:
        """Write the entry of a package that was just evaluated from `text`."""
        try:
            content = plain_package(package)
        except Unstorable:
            return
        modules = [(module, self._module(module)) for module in map(plain_label, self._packages.modules.reached(package.importer))]
        listing = package.files.digest() if package.globs else b""
        write_entry(self._file(package), ((_digest(package.display, text), modules, listing), content), self._owner)

    def _module(self, module: Module) -> bytes:
        known = self._modules.get(module)
        if known is None:
            found = self._packages.text_of(label_of(module))
            known = self._modules[module] = _digest(found) if isinstance(found, str) else _digest(*found)
        return known

    def _file(self, package: Package) -> Path:
        name = _digest(str(package.root), package.name).hex()
        return self._folder / name[:2] / name[2:]


def _digest(*parts: Any) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).digest()
