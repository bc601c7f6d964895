"""Owns the analyzed graph on disk: the steps of the last evaluation, so that a build whose BUILD files did not move evaluates nothing.

save_graph(file, key, steps, link)
load_graph(file, key)                 # (steps, link), or None where it is another graph or damaged

`key` covers everything that the evaluation and the rendering of commands read: lock, BUILD files, options, toolchain, our own code.
"""

from __future__ import annotations

import marshal
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litert_build.actions import LinkInputs
from litert_build.incremental.commands import Command
from litert_build.incremental.steps import Step, plain

_MAGIC = b"litert-build graph 2\n"
_MARSHAL = 4


def save_graph(file: Path, key: bytes, steps: Sequence[Step], link: LinkInputs) -> None:
    """Write the graph, whole or not at all. Equal strings are written once."""
    share: dict[Any, Any] = {}

    def shared(value: Any) -> Any:
        if isinstance(value, tuple):
            value = tuple(shared(part) for part in value)
        return share.setdefault(value, value)

    rows = [
        shared((step.title, step.inputs, step.outputs, step.signature, tuple(step.work), step.label, step.location, step.reports_inputs))
        for step in steps
        if isinstance(step.work, Command)
    ]
    if len(rows) != len(steps):
        raise ValueError("a step that runs a function cannot be stored")
    contribution = tuple(plain(part) for part in (link.objects, link.libraries, link.flags, link.scripts, link.lazy))
    body = marshal.dumps((rows, contribution), _MARSHAL)
    temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    temporary.write_bytes(_MAGIC + key + zlib.crc32(body).to_bytes(4, "little") + body)
    temporary.replace(file)


def load_graph(file: Path, key: bytes) -> tuple[list[Step], LinkInputs] | None:
    """Return the steps and link inputs stored under `key`, None where there are none."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + len(key)
    body = memoryview(content)[start + 4 :]
    if content[:start] != _MAGIC + key or zlib.crc32(body) != int.from_bytes(content[start : start + 4], "little"):
        return None
    rows, link = marshal.loads(body)
    steps = [
        Step(title, inputs, outputs, signature, Command(*work), label, location, reports)
        for title, inputs, outputs, signature, work, label, location, reports in rows
    ]
    return steps, LinkInputs(*link)
