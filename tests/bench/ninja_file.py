"""Owns the Ninja file of a list of steps: the same commands in the same order, for Ninja to decide about.

environment = write_ninja(steps, root=folder, side=folder / "ninja")     # build.ninja and what it reads lie in `side`
ninja -C folder -f ninja/build.ninja

What Ninja's language cannot say (a line feed in a command, an environment of its own) becomes a script beside the file. Headers come from
depfiles; what must only exist before a compile is an order-only dependency (Ninja manual, "Types of dependencies").
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.incremental.commands import Command
from litert_build.incremental.steps import Step

HEAD = """\
rule run
  command = $argv
rule compile
  command = $argv
  depfile = $dep
  deps = gcc
rule respond
  command = $argv
  rspfile = $rsp
  rspfile_content = $lines
"""


def path_text(path: str) -> str:
    """Return a path as it stands in a build statement."""
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def value_text(value: str) -> str:
    """Return a variable's value. Raises BuildError for a line feed, which no value can hold."""
    if "\n" in value:
        raise BuildError("Ninja's language has no line feed in a value", where=value.splitlines()[0])
    return value.replace("$", "$$")


def ninja_text(steps: Sequence[Step], side: str) -> tuple[str, dict[str, str]]:
    """Return the Ninja file, and the files beside it by name; `side` is their folder as commands name it.

    Raises BuildError where two steps make the same file.
    """
    writer = _Writer(side, _environment(steps))
    for step in steps:
        writer.add(step)
    return HEAD + "\n".join(writer.lines) + "\n", writer.beside


def write_ninja(steps: Sequence[Step], root: Path, side: Path) -> dict[str, str]:
    """Write `side/build.ninja` for runs in `root`; returns the environment that Ninja has to run in."""
    side.mkdir(parents=True, exist_ok=True)
    text, beside = ninja_text(steps, str(side))
    (side / "build.ninja").write_text(text)
    for name, content in beside.items():
        (side / name).write_text(content, errors="surrogateescape")
    root.mkdir(parents=True, exist_ok=True)
    return dict(_environment(steps))


def _environment(steps: Sequence[Step]) -> tuple[tuple[str, str], ...]:
    """The environment of the first compile, which nearly all commands share."""
    return next((step.work.environment for step in steps if step.reports_inputs and isinstance(step.work, Command)), ())


class _Writer:
    def __init__(self, side: str, environment: tuple[tuple[str, str], ...]) -> None:
        self.side = side
        self.environment = environment
        self.lines: list[str] = []
        self.beside: dict[str, str] = {}
        self._made: set[str] = set()
        self._groups: dict[tuple[str, ...], str] = {}

    def add(self, step: Step) -> None:
        command = step.work
        if not isinstance(command, Command):
            raise BuildError("Ninja cannot run a function of this process", where=step.title)
        if twice := self._made.intersection(step.outputs):
            raise BuildError(f"two steps make {twice.pop()}", where=step.title)
        self._made.update(step.outputs)
        if step.reports_inputs:
            self._compile(step, command)
        elif command.response_file:
            words = {"argv": shlex.join(command.argv), "rsp": command.response_file, "lines": " ".join(command.lines)}
            self._build("respond", step, step.inputs, words)
        else:
            self._build("run", step, step.inputs, {"argv": self._shell(step, command)})

    def _compile(self, step: Step, command: Command) -> None:
        source, *before = step.inputs
        words = {"argv": self._shell(step, command), "dep": command.depfile}
        self._build("compile", step, (source,), words, self._group(tuple(before)))

    def _build(self, rule: str, step: Step, inputs: Sequence[str], words: dict[str, str], group: str = "") -> None:
        outputs, read = (" ".join(map(path_text, paths)) for paths in (step.outputs, inputs))
        self.lines.append(f"build {outputs}: {rule} {read}{f' || {group}' if group else ''}")
        self.lines += [f"  {name} = {value_text(value)}" for name, value in words.items()]

    def _group(self, before: tuple[str, ...]) -> str:
        """Return the one name for these files: hundreds of compiles wait for the same ones."""
        if before and before not in self._groups:
            self._groups[before] = f"before{len(self._groups)}"
            self.lines.append(f"build {self._groups[before]}: phony {' '.join(map(path_text, before))}")
        return self._groups.get(before, "")

    def _shell(self, step: Step, command: Command) -> str:
        """Return the command line, a script's where it takes more than one."""
        name = f"{len(self.beside)}"
        if command.kind == "write":
            self.beside[name] = command.argv[0]
            mode = f" && chmod 755 {shlex.quote(step.key)}" if command.executable else ""
            return f"cp -f {shlex.quote(f'{self.side}/{name}')} {shlex.quote(step.key)}{mode}"
        if command.kind == "copy":
            return f"cp -f {shlex.quote(command.argv[0])} {shlex.quote(step.key)}"
        if command.environment == self.environment and not any("\n" in word for word in command.argv):
            return shlex.join(command.argv)
        pairs = [f"{variable}={value}" for variable, value in command.environment]
        self.beside[name] = f"rm -f {shlex.join(step.outputs)}\nexec env -i {shlex.join((*pairs, *command.argv))}\n"
        return f"sh {shlex.quote(f'{self.side}/{name}')}"
