"""Owns the typed action list: everything a build runs, in one vocabulary that SCons nodes, compile_commands.json, the
oracle, `explain` and tests all read.

Paths are exec paths (Bazel output directory layout): relative to the execution root, which holds the main repository's
top-level entries, `external/<repository>` for every other repository, and `bazel-out/<configuration>/bin` for outputs.

    Compile(label="//absl/base:base", source="absl/base/log_severity.cc", output="bazel-out/k8-opt/bin/absl/base/_objs/...", ...)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Union

from litert_build.errors import BuildError

Language = Literal["c", "c++", "asm", "objc", "objc++"]


@dataclass(frozen=True)
class Origin:
    """Where a flag, define or include was declared: the attribute or table row, the label and place that hold it, and the
    select() branch that was taken."""

    attribute: str
    label: str = ""
    location: str = ""
    branch: str = ""


class Traced(str):
    """A string that remembers its Origin; equal to and hashed as the plain string."""

    origin: Origin | None

    def __new__(cls, text: str, origin: Origin | None = None) -> Traced:
        traced = super().__new__(cls, text)
        traced.origin = origin
        return traced


@dataclass(frozen=True)
class Compile:
    """One translation unit. `flags` are in gcc spelling and complete but for defines and includes; a toolchain renders them.

    `includes` are (kind, path) pairs in order, kind one of -I, -iquote, -isystem. `generated` names the generated files that must
    exist before the compile; the compiler's depfile says which of all headers were really read.
    """

    label: str
    source: str
    output: str
    depfile: str
    configuration: str
    language: Language
    defines: tuple[str, ...]
    includes: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]
    generated: tuple[str, ...] = ()
    location: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.source, *self.generated)

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.output,)


@dataclass(frozen=True)
class Archive:
    """One static archive of `objects`, in order, from which a link takes what it needs: the libraries without alwayslink."""

    label: str
    output: str
    objects: tuple[str, ...]
    configuration: str = ""
    location: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.objects

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.output,)


@dataclass(frozen=True)
class Link:
    """One linked binary. `objects` are linked directly, in order, so that alwayslink registrations survive; `archive` holds the others,
    linked where something needs them (its members are `members`: a thin archive does not change when they do); `libraries` are
    prebuilt archives and shared libraries; `flags` the user link flags; `scripts` further files the linker reads; `platform_flags`
    what the target's toolchain adds, in its linker's own spelling; `side_outputs` what the linker writes beside the output: a link
    map, an import library."""

    label: str
    output: str
    kind: Literal["executable", "shared"]
    configuration: str
    objects: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    platform_flags: tuple[str, ...] = ()
    side_outputs: tuple[str, ...] = ()
    location: str = ""
    archive: str = ""
    members: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        archive = (self.archive,) if self.archive else ()
        return (*self.objects, *archive, *self.members, *self.libraries, *self.scripts)

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.output, *self.side_outputs)


@dataclass(frozen=True)
class Run:
    """One command: a genrule, a protoc or flatc call, ctx.actions.run. `tools` are the executables among the inputs."""

    label: str
    mnemonic: str
    argv: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tools: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    configuration: str = ""
    location: str = ""


@dataclass(frozen=True)
class Write:
    """One file whose content is known at analysis time."""

    label: str
    output: str
    content: str
    executable: bool = False
    configuration: str = ""
    location: str = ""
    inputs: tuple[str, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.output,)


@dataclass(frozen=True)
class Copy:
    """One file placed at another exec path: virtual include trees, ctx.actions.symlink, copy_file."""

    label: str
    source: str
    output: str
    configuration: str = ""
    location: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.output,)


Action = Union[Compile, Archive, Link, Run, Write, Copy]


@dataclass(frozen=True)
class LinkInputs:
    """What a closure contributes to a final link, in link order: objects, prebuilt libraries, user link flags, linker scripts, and the
    objects that are linked only where something needs them."""

    objects: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    lazy: tuple[str, ...] = ()


@dataclass
class ActionList:
    """The ordered actions of one build: a producer stands before its consumers."""

    actions: list[Action] = field(default_factory=list)
    by_output: dict[str, Action] = field(default_factory=dict)

    def add(self, action: Action) -> None:
        """Append an action. Raises BuildError if another action already makes one of its outputs; the same action twice is one."""
        for output in action.outputs:
            other = self.by_output.get(output)
            if other == action:
                return
            if other is not None:
                raise BuildError(
                    f"two actions make {output}",
                    where=action.location,
                    notes=[f"{other.label} at {other.location}", f"{action.label} at {action.location}"],
                    mend="rename one of the outputs",
                )
        for output in action.outputs:
            self.by_output[output] = action
        self.actions.append(action)

    def compiles(self) -> Sequence[Compile]:
        return [action for action in self.actions if isinstance(action, Compile)]

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)
