"""Owns the check for undeclared inclusions: a compile may read only headers that its target or a dependency declares.

    declared = DeclaredHeaders.from_depsets(analysis.headers)
    declared.undeclared("//c:engine", "k8-opt", ("c/engine.cc", "runtime/util/logging.h"))      # ['runtime/util/logging.h']

The compiler's depfile says what was read. Files outside the execution root (the compiler's own headers) are not asked about.
Rule: Bazel's C++ rules reference, "Header inclusion checking".
"""

from __future__ import annotations

import marshal
import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from litert_build.bazel.depset import Depset
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.steps import Step

_VERSION = 1
Group = tuple[tuple[str, ...], tuple[int, ...]]


class _Normalized(dict[str, str]):
    """Paths as BUILD files spell them, empty for one outside the execution root; each is normalized once, and read by thousands."""

    def __missing__(self, path: str) -> str:
        result = self[path] = "" if posixpath.isabs(path) else posixpath.normpath(path)
        return result


class DeclaredHeaders:
    """What each target may include, as a graph: a node holds the paths it declares itself and the nodes of its dependencies."""

    def __init__(self, groups: list[Group], of: dict[tuple[str, str], int]) -> None:
        self.groups = groups
        self.of = of
        self.large: dict[int, frozenset[str]] = {}
        self._normalized = _Normalized()

    @staticmethod
    def from_depsets(headers: Mapping[tuple[str, str], Depset]) -> DeclaredHeaders:
        """Return the graph of `headers`: (label, configuration) to a depset of Files. Shared depsets stay shared."""
        groups: list[Group] = []
        index: dict[int, int] = {}

        def add(depset: Depset) -> int:
            number = index.get(id(depset))
            if number is None:
                children = tuple(add(child) for child in depset.transitive)
                number = index[id(depset)] = len(groups)
                groups.append((tuple(str(file.path) for file in depset.direct), children))
            return number

        return DeclaredHeaders(groups, {key: add(depset) for key, depset in headers.items()})

    def undeclared(self, label: str, configuration: str, read: Iterable[str]) -> list[str]:
        """Return which of the files that a compile of `label` read are declared by neither it nor its dependencies."""
        node = self.of.get((label, configuration))
        if node is None:
            return []
        left = dict.fromkeys(map(self._normalized.__getitem__, read))
        left.pop("", None)
        seen: set[int] = set()
        pending = [node]
        while pending and left:
            number = pending.pop()
            if number not in seen:
                seen.add(number)
                self._strike(left, number)
                pending.extend(self.groups[number][1])
        return list(left)

    def hidden(self, label: str, configuration: str, path: str) -> str:
        """Return the declared generated header that the source file `path` stands in front of, empty where there is none: sources are
        looked through first, and this build has no sandbox that would leave out the one that is not declared."""
        generated = f"bazel-out/{configuration}/bin/{path}"
        declared = (label, configuration) in self.of and not self.undeclared(label, configuration, [generated])
        return generated if declared else ""

    def _strike(self, left: dict[str, None], number: int) -> None:
        """Remove from `left` what the group `number` declares itself, by a walk over the smaller of the two."""
        own = self.groups[number][0]
        if len(own) <= len(left):
            for path in own:
                left.pop(path, None)
            return
        if number not in self.large:
            self.large[number] = frozenset(own)
        for path in [path for path in left if path in self.large[number]]:
            del left[path]

    def save(self, file: Path) -> None:
        """Write the graph, whole or not at all."""
        temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
        rows = [(label, configuration, node) for (label, configuration), node in self.of.items()]
        temporary.write_bytes(marshal.dumps((_VERSION, self.groups, rows), 4))
        temporary.replace(file)

    @staticmethod
    def load(file: Path) -> DeclaredHeaders | None:
        """Return the saved graph, None where there is none or it is damaged."""
        try:
            version, groups, rows = marshal.loads(file.read_bytes())
        except (OSError, ValueError, EOFError, TypeError):
            return None
        if version != _VERSION:
            return None
        return DeclaredHeaders(groups, {(label, configuration): node for label, configuration, node in rows})


class Inspector:
    """Looks at the inclusions of compiles that ran: `inspector(step, outcome)` adds a complaint to the outcome; `strict` fails it too."""

    def __init__(self, file: Path, *, strict: bool) -> None:
        self.file = file
        self.strict = strict

    @cached_property
    def declared(self) -> DeclaredHeaders | None:
        return DeclaredHeaders.load(self.file)

    def __call__(self, step: Step, outcome: Outcome) -> Outcome:
        if outcome.code or not step.reports_inputs or self.declared is None:
            return outcome
        configuration = step.key.split("/", 2)[1]
        undeclared = self.declared.undeclared(step.label, configuration, outcome.read)
        if not undeclared:
            return outcome
        hidden = {path: self.declared.hidden(step.label, configuration, path) for path in undeclared}
        text = complaint(step.label, step.location, step.title.removeprefix("Compile "), hidden)
        return replace(outcome, code=int(self.strict), output=outcome.output + text)


def complaint(label: str, location: str, source: str, undeclared: Mapping[str, str]) -> str:
    """Return the text about one compile's undeclared inclusions; each may stand in front of a generated header (else empty)."""
    lines = [f"{location}: undeclared inclusion in {label}: {source} reads what no hdrs, srcs or textual_hdrs of its dependencies names"]
    lines += [f"    {path}" + (f", which hides the generated {generated}" if generated else "") for path, generated in undeclared.items()]
    if any(undeclared.values()):
        lines += ["  -> let the lock's patch_cmds remove what hides a generated header"]
    if not all(undeclared.values()):
        lines += ["  -> add the library that declares it to deps, declare it in an overlay, or say headers=off"]
    return "\n".join(lines) + "\n"
