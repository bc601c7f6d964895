"""Owns commands: what a step runs, as plain data, and the running of it in the execution root.

commands = Commands(root=Path("build/linux-x64/sample"))
commands.run(Command("process", ("gcc", "-c", "a.c", "-o", "a.o"), outputs=("a.o",), depfile="a.o.d")).code

No command goes through a shell (a genrule's own argv may be one). Outputs of an earlier run are removed first, so that a failed or killed
command leaves nothing that looks finished. What a process prints is kept whole.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from litert_build.errors import BuildError, nearest
from litert_build.incremental.depfile import read_depfile
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.printed import nothing, printed, taken
from litert_build.options import Options

_LAUNCHER_VARIABLES = ("CCACHE_", "SCCACHE_", "DISTCC_", "ICECC_")


class Command(NamedTuple):
    """What one step runs. `kind` "process" starts `argv`, "write" makes a file of the text in `argv[0]`, "copy" copies the file `argv[0]`.

    A `response_file` is written with `lines` before the process starts. A `depfile` is written by the process and says what it read;
    it may be absent where `depfile_optional` (assembly that is not preprocessed).
    """

    kind: str
    argv: tuple[str, ...]
    outputs: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    depfile: str = ""
    depfile_optional: bool = False
    response_file: str = ""
    lines: tuple[str, ...] = ()
    executable: bool = False


@dataclass(frozen=True)
class Commands:
    """Runs commands with `root` as the working directory; `launcher` stands before the compiler of every compile."""

    root: Path
    launcher: tuple[str, ...] = ()
    _folders: set[str] = field(default_factory=set, compare=False)  # those of outputs that are known to exist

    def run(self, command: Command, ended: Callable[[], None] = lambda: None) -> Outcome:
        """Run `command`; it fails where it does not leave all its outputs. `ended` is called when its process is over, before what that
        left is read."""
        self._clear(command)
        if command.kind == "write":
            return self._write(command)
        if command.kind == "copy":
            return self._copy(command)
        if command.response_file:
            text = "\n".join(command.lines) + "\n"
            (self.root / command.response_file).write_text(text, encoding="utf-8", errors="surrogateescape")
        argv = (*self.launcher, *command.argv) if command.depfile else command.argv
        environment = dict(command.environment)
        launched = bool(self.launcher and command.depfile)
        if launched:
            environment |= self._launcher_environment()
        outcome = self._process(argv, environment, holds_lock=not launched)
        ended()
        if outcome.code:
            return outcome
        missing = [output for output in command.outputs if not os.path.exists(self._place(output))]  # noqa: PTH110 (the hot path of a build)
        if missing:
            return Outcome(1, outcome.output + "".join(f"it ended without making {output}\n" for output in missing))
        return self._with_depfile(command, outcome) if command.depfile else outcome

    def _launcher_environment(self) -> dict[str, str]:
        """What the known launchers read; the execution root is named so that ccache takes another checkout's paths for the same."""
        own = {name: value for name, value in os.environ.items() if name == "HOME" or name.startswith(_LAUNCHER_VARIABLES)}
        return {"CCACHE_BASEDIR": str(self.root), **own}

    def _with_depfile(self, command: Command, outcome: Outcome) -> Outcome:
        depfile = self._place(command.depfile)
        try:
            with open(depfile, encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123 (the hot path of a build)
                read = read_depfile(stream.read())
        except FileNotFoundError:
            if command.depfile_optional:
                return outcome
            return Outcome(1, f"{outcome.output}the compiler wrote no depfile {command.depfile}\n")
        os.unlink(depfile)  # noqa: PTH108
        return Outcome(0, outcome.output, tuple(read))

    @cached_property
    def _prefix(self) -> str:
        return f"{self.root}{os.sep}"

    def _place(self, path: str) -> str:
        return path if os.path.isabs(path) else self._prefix + path  # noqa: PTH117 (a Path costs ten times as much)

    def _clear(self, command: Command) -> None:
        for output in (*command.outputs, *((command.depfile,) if command.depfile else ())):
            file = self._place(output)
            with suppress(FileNotFoundError):
                os.unlink(file)  # noqa: PTH108
            folder = file.rpartition("/")[0]
            if folder not in self._folders:
                os.makedirs(folder, exist_ok=True)  # noqa: PTH103
                self._folders.add(folder)

    def _write(self, command: Command) -> Outcome:
        file = self.root / command.outputs[0]
        file.write_bytes(command.argv[0].encode("utf-8", "surrogateescape"))
        if command.executable:
            file.chmod(0o755)
        return Outcome(0)

    def _copy(self, command: Command) -> Outcome:
        source = self.root / command.argv[0]
        if not source.is_file():
            return Outcome(1, f"{command.argv[0]} does not exist\n")
        shutil.copy(source, self.root / command.outputs[0])
        return Outcome(0)

    def _process(self, argv: Sequence[str], environment: dict[str, str], *, holds_lock: bool) -> Outcome:
        """Run a process. It holds the folder's lock until it ends, but for a launcher, which may leave a server behind for hours."""
        file = printed()
        try:
            process = subprocess.Popen(
                argv,
                cwd=self.root,
                env=environment,
                stdin=nothing(),
                stdout=file,
                stderr=subprocess.STDOUT,
                close_fds=not holds_lock,  # all else that must not be inherited is not inheritable (PEP 446)
            )
        except OSError as error:
            return Outcome(127, f"{argv[0]}: {error.strerror}\n")
        with process:
            code = process.wait()
        return Outcome(code, taken(file).decode("utf-8", "replace"))


def launcher_of(options: Options) -> tuple[str, ...]:
    """Return the words of `launcher=`, the program by its path: a command's own PATH may hold another.

    Raises BuildError where the program is not installed."""
    where = f"launcher={options['launcher']}"
    try:
        words = tuple(shlex.split(options["launcher"]))
    except ValueError as error:
        raise BuildError(f"the command cannot be split into words: {error}", where=where, mend="close the quotation") from None
    if not words:
        return ()
    program = shutil.which(words[0])
    if program is None:
        known = ("ccache", "sccache", "distcc", "icecc")
        mend = nearest(words[0], known) if words[0] not in known else f"apt-get install {words[0]}"
        raise BuildError(f"no launcher {words[0]!r}", where=where, mend=mend or "name a program, as in launcher=ccache")
    return (program, *words[1:])
