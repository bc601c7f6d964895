"""Owns steps: what a build runs, each with a signature that changes when its command, environment or tools do.

steps = steps_of(actions, toolchain, commands)
steps[0].key, steps[0].title          # 'bazel-out/k8-opt/bin/c/_objs/engine/engine.pic.o', 'Compile c/engine.cc'

A step is an action of the action list rendered by a toolchain, or work of our own (a bundle).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from litert_build.actions import Action, Compile, Link, Run, Write
from litert_build.incremental.commands import Commands
from litert_build.incremental.outcome import Outcome
from litert_build.toolchains.base import Toolchain


@dataclass(frozen=True)
class Step:
    """One thing to run. `key` is its first output; `inputs` are what must exist before, and, where `reports_inputs` is false, all it reads.

    Where `reports_inputs` is true (a compile), the outcome names what was read and `inputs` only order it. What is `withdrawn` (a bundle)
    is removed when the build fails: it must not be taken for the product of the failed one.
    """

    key: str
    title: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    signature: bytes
    run: Callable[[], Outcome] = field(compare=False)
    label: str = ""
    location: str = ""
    reports_inputs: bool = False
    withdrawn: bool = False


def sign(*parts: Iterable[str]) -> bytes:
    """Return the digest of several lists of strings; neither the strings nor the lists can run into each other."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        hasher.update("\0".join(part).encode("utf-8", "surrogateescape"))
        hasher.update(b"\0\0\1")
    return hasher.digest()


def steps_of(actions: Iterable[Action], toolchain: Toolchain, commands: Commands) -> list[Step]:
    """Return the step of each action, in order."""
    tools = (toolchain.identity, *(f"{name}={value}" for name, value in sorted(toolchain.environment.items())))
    return [_step(action, toolchain, commands, tools) for action in actions]


def _step(action: Action, toolchain: Toolchain, commands: Commands, tools: tuple[str, ...]) -> Step:
    if isinstance(action, Compile):
        argv = toolchain.compile_argv(action)
        run: Callable[[], Outcome] = partial(commands.compile, action, argv, toolchain.environment)
        return _made(action, f"Compile {action.source}", sign(("compile",), argv, tools), run, reports_inputs=True)
    if isinstance(action, Link):
        response_file = f"{action.output}.args"
        argv, lines = toolchain.link_argv(action, response_file), toolchain.response_lines(action)
        run = partial(commands.link, action, argv, response_file, lines, toolchain.environment)
        return _made(action, f"Link {action.output}", sign(("link",), argv, lines, action.inputs, action.outputs, tools), run)
    if isinstance(action, Run):
        environment = tuple(f"{name}={value}" for name, value in action.env)
        signature = sign(("run",), action.argv, environment, action.inputs, action.tools, action.outputs)
        return _made(action, f"{action.mnemonic} {action.label}", signature, partial(commands.run, action))
    if isinstance(action, Write):
        signature = sign(("write",), (action.content, str(action.executable)), action.outputs)
        return _made(action, f"Write {action.output}", signature, partial(commands.write, action))
    return _made(action, f"Copy {action.output}", sign(("copy",), action.inputs, action.outputs), partial(commands.copy, action))


def _made(action: Action, title: str, signature: bytes, run: Callable[[], Outcome], *, reports_inputs: bool = False) -> Step:
    tools = action.tools if isinstance(action, Run) else ()
    inputs = tuple(dict.fromkeys((*action.inputs, *tools)))
    return Step(action.outputs[0], title, inputs, action.outputs, signature, run, action.label, action.location, reports_inputs)
