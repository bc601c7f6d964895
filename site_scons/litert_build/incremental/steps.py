"""Owns steps: what a build runs, each with a signature that changes when its command, environment or tools do.

steps = steps_of(actions, toolchain)
steps[0].key, steps[0].title          # 'bazel-out/k8-opt/bin/c/_objs/engine/engine.pic.o', 'Compile c/engine.cc'

A step is an action of the action list rendered by a toolchain, or work of our own (a bundle).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from litert_build.actions import Action, Archive, Compile, Link, Run, Write
from litert_build.incremental.commands import Command
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.signing import sign
from litert_build.toolchains.base import Toolchain

RUN_ENVIRONMENT = (("LC_ALL", "C"), ("PATH", "/usr/local/bin:/usr/bin:/bin" if os.name == "posix" else os.environ.get("PATH", "")))
_NOT_SIGNED = frozenset({"TMPDIR", "TEMP", "TMP", "SYSTEMROOT"})  # where a tool puts its scratch files changes no output


@dataclass(frozen=True)
class Step:
    """One thing to run. `key` is its first output; `inputs` are what must exist before, and, where `reports_inputs` is false, all it reads.

    Where `reports_inputs` is true (a compile), the outcome names what was read and `inputs` only order it. `work` is a command, or a
    function of this process. What is `withdrawn` (a bundle) is removed when the build fails, or ends before it: it must not be taken for
    the product of that build.
    """

    title: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    signature: bytes
    work: Command | Callable[[], Outcome]
    label: str = ""
    location: str = ""
    reports_inputs: bool = False
    withdrawn: bool = False

    @property
    def key(self) -> str:
        return self.outputs[0]


def plain(strings: Iterable[str]) -> tuple[str, ...]:
    """Return strings without their provenance: what is stored on disk is str itself."""
    return tuple(map(str, strings))


def steps_of(actions: Iterable[Action], toolchain: Toolchain, exec_toolchain: Toolchain | None = None) -> list[Step]:
    """Return the step of each action, in order; those of the exec configuration use `exec_toolchain`."""
    target, tools = _Renderer(toolchain), _Renderer(exec_toolchain or toolchain)
    return [(tools if action.configuration.endswith("-exec") else target).step(action) for action in actions]


class _Renderer:
    def __init__(self, toolchain: Toolchain) -> None:
        self.toolchain = toolchain
        self.environment = tuple(sorted(toolchain.environment.items()))
        self.identity = (toolchain.identity, *(f"{name}={value}" for name, value in self.environment if name not in _NOT_SIGNED))

    def step(self, action: Action) -> Step:
        if isinstance(action, Compile):
            return self._compile(action)
        if isinstance(action, Archive):
            return self._archive(action)
        if isinstance(action, Link):
            return self._link(action)
        if isinstance(action, Run):
            environment = tuple(sorted((str(name), str(value)) for name, value in {**dict(RUN_ENVIRONMENT), **dict(action.env)}.items()))
            signature = sign(("run",), action.argv, (f"{n}={v}" for n, v in environment), action.inputs, action.tools, action.outputs)
            command = Command("process", plain(action.argv), plain(action.outputs), environment)
            inputs = tuple(dict.fromkeys((*action.inputs, *action.tools)))
            return _step(f"{action.mnemonic} {action.label}", action, signature, command, inputs)
        if isinstance(action, Write):
            command = Command("write", (str(action.content),), plain(action.outputs), executable=action.executable)
            return _file_step(f"Write {action.output}", action, command)
        return _file_step(f"Copy {action.output}", action, Command("copy", (str(action.source),), plain(action.outputs)))

    def _compile(self, action: Compile) -> Step:
        argv = plain(self.toolchain.compile_argv(action))
        signature = sign(("compile",), argv, action.generated, self.identity)
        optional = action.language == "asm"
        command = Command("process", argv, plain(action.outputs), self.environment, str(action.depfile), optional)
        return _step(f"Compile {action.source}", action, signature, command, action.inputs, reports_inputs=True)

    def _archive(self, action: Archive) -> Step:
        response_file = f"{action.output}.args"
        argv, lines = plain(self.toolchain.archive_argv(action, response_file)), plain(self.toolchain.archive_lines(action))
        signature = sign(("archive",), argv, lines, action.outputs, self.identity)
        command = Command("process", argv, plain(action.outputs), self.environment, response_file=response_file, lines=lines)
        return _step(f"Archive {action.output}", action, signature, command, action.inputs)

    def _link(self, action: Link) -> Step:
        response_file = f"{action.output}.args"
        argv, lines = plain(self.toolchain.link_argv(action, response_file)), plain(self.toolchain.response_lines(action))
        signature = sign(("link",), argv, lines, action.inputs, action.outputs, self.identity)
        command = Command("process", argv, plain(action.outputs), self.environment, response_file=response_file, lines=lines)
        return _step(f"Link {action.output}", action, signature, command, action.inputs)


def needed(steps: Sequence[Step], outputs: Iterable[str]) -> list[Step]:
    """Return the steps, in order, that `outputs` are made of, by whatever number of steps."""
    wanted = set(outputs)
    found = []
    for step in reversed(steps):
        if not wanted.isdisjoint(step.outputs):
            wanted.update(step.inputs)
            found.append(step)
    return found[::-1]


def _file_step(title: str, action: Action, command: Command) -> Step:
    signature = sign((command.kind, str(command.executable)), command.argv, action.outputs)
    return _step(title, action, signature, command, action.inputs)


def _step(title: str, action: Action, signature: bytes, command: Command, inputs: Iterable[str], *, reports_inputs: bool = False) -> Step:
    return Step(title, plain(inputs), plain(action.outputs), signature, command, str(action.label), str(action.location), reports_inputs)
