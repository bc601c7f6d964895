"""Owns compile_commands.json, which editors and clang tools read (Clang documentation, "JSON Compilation Database Format").

write_compiledb(analysis.actions.compiles(), toolchain, root=Path("build/linux-x64/sample"), file=Path("compile_commands.json"))
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from litert_build.actions import Compile
from litert_build.toolchains.base import Toolchain


def write_compiledb(compiles: Iterable[Compile], toolchain: Toolchain, *, root: Path, file: Path) -> int:
    """Write one entry a compile, with the execution root as directory; returns how many."""
    entries = [
        {"directory": str(root.absolute()), "file": action.source, "output": action.output, "arguments": toolchain.compile_argv(action)}
        for action in compiles
    ]
    file.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    return len(entries)
