"""Owns compiled Starlark files between runs: what compile_file() gives, kept by the content it was made from.

    compiler = CodeCache(Path("build/.cache/code"), identity=manifest_digest())
    compiler(text, "pkg/BUILD", "build", builtins)      # as compile_file(), from the second run on without parsing

An entry is named by all that decides it: the text, the file's name (it stands in messages), the names of the builtins, Python's
bytecode version and `identity`, the digest of whoever compiles. One that is damaged is made again.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Collection
from pathlib import Path
from typing import Any

from litert_build.starlark.entries import read_entry, write_entry
from litert_build.starlark.grammar import Kind, Load
from litert_build.starlark.syntax import Stage, compile_file


class CodeCache:
    """A folder of compiled files. It is only ever added to; any number of processes may share it."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        self.base = hashlib.blake2b(identity.encode() + importlib.util.MAGIC_NUMBER, digest_size=32)

    def __call__(self, text: str, file: str, kind: Kind, builtins: Collection[str]) -> list[Stage]:
        """Return the stages of a file. Raises BuildError as compile_file() does; a faulty file is never kept."""
        entry = self._entry(text, file, kind, builtins)
        known = read_entry(entry)
        if known is not None:
            return [_stage(*fields) for fields in known]
        stages = compile_file(text, file, kind, builtins)
        write_entry(entry, [_fields(stage) for stage in stages])
        return stages

    def _entry(self, text: str, file: str, kind: Kind, builtins: Collection[str]) -> Path:
        digest = self.base.copy()
        for part in (kind, file, "\n".join(builtins), text):
            coded = part.encode()
            digest.update(len(coded).to_bytes(8, "little"))
            digest.update(coded)
        name = digest.hexdigest()
        return self.folder / name[:2] / name[2:]


def _fields(stage: Stage) -> tuple[Any, ...]:
    loads = [(load.label, load.names, load.line) for load in stage.loads]
    return loads, sorted(stage.names), stage.code, stage.functions


def _stage(loads: list[tuple[str, Any, int]], names: list[str], code: Any, functions: dict[str, str]) -> Stage:
    return Stage([Load(*load) for load in loads], frozenset(names), code, functions)
