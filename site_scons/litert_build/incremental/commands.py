"""Owns the running of single actions in the execution root: the process, its whole buffered output, the response file, the depfile.

commands = Commands(root=Path("build/linux-x64/sample"))
commands.compile(action, argv, environment).code

No command goes through a shell (a genrule's own argv may be one). Outputs of an earlier run are removed first, so that a failed or killed
command leaves nothing that looks finished.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litert_build.actions import Compile, Copy, Link, Run, Write
from litert_build.incremental.depfile import read_depfile
from litert_build.incremental.outcome import Outcome

_RUN_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Commands:
    """Runs actions with `root` as the working directory; `launcher` stands before the compiler of every compile."""

    root: Path
    launcher: tuple[str, ...] = ()

    def compile(self, action: Compile, argv: Sequence[str], environment: Mapping[str, str]) -> Outcome:
        """Compile one unit; the outcome names what the compiler says it read."""
        self._clear((action.output, action.depfile))
        outcome = self._process([*self.launcher, *argv], environment)
        if outcome.code:
            return outcome
        depfile = self.root / action.depfile
        try:
            read = read_depfile(depfile.read_text(encoding="utf-8", errors="surrogateescape"))
        except FileNotFoundError:
            if action.language != "asm":
                return Outcome(1, f"{outcome.output}the compiler wrote no depfile {action.depfile}\n")
            read = []
        depfile.unlink(missing_ok=True)
        return self._checked(Outcome(0, outcome.output, tuple(read) or (action.source,)), (action.output,))

    def link(self, action: Link, argv: Sequence[str], response_file: str, lines: Iterable[str], environment: Mapping[str, str]) -> Outcome:
        """Link one binary through a response file: the arguments of a host may be longer than a command line."""
        self._clear(action.outputs)
        (self.root / response_file).write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
        return self._checked(self._process(argv, environment), action.outputs)

    def run(self, action: Run) -> Outcome:
        """Run one command with the fixed environment of an action; it must make all its outputs."""
        self._clear(action.outputs)
        environment = {"PATH": _RUN_PATH if os.name == "posix" else os.environ.get("PATH", ""), "LC_ALL": "C", **dict(action.env)}
        return self._checked(self._process(action.argv, environment), action.outputs)

    def write(self, action: Write) -> Outcome:
        """Write a file of known content."""
        self._clear(action.outputs)
        file = self.root / action.output
        file.write_bytes(action.content.encode("utf-8", "surrogateescape"))
        if action.executable:
            file.chmod(0o755)
        return Outcome(0)

    def copy(self, action: Copy) -> Outcome:
        """Copy a file with its permissions."""
        self._clear(action.outputs)
        source = self.root / action.source
        if not source.is_file():
            return Outcome(1, f"{action.source} does not exist\n")
        shutil.copy(source, self.root / action.output)
        return Outcome(0)

    def _clear(self, outputs: Iterable[str]) -> None:
        for output in outputs:
            file = self.root / output
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)

    def _process(self, argv: Sequence[str], environment: Mapping[str, str]) -> Outcome:
        try:
            process = subprocess.Popen(
                argv,
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                close_fds=False,  # what must not be inherited is not inheritable (PEP 446); the build's lock is meant to be
            )
        except OSError as error:
            return Outcome(127, f"{argv[0]}: {error.strerror}\n")
        with process:
            assert process.stdout is not None
            output = process.stdout.read()
        return Outcome(process.returncode, output.decode("utf-8", "replace"))

    def _checked(self, outcome: Outcome, outputs: Iterable[str]) -> Outcome:
        """A step that ends well but does not leave its outputs has failed."""
        if outcome.code:
            return outcome
        missing = [output for output in outputs if not (self.root / output).exists()]
        if not missing:
            return outcome
        return Outcome(1, outcome.output + "".join(f"it ended without making {output}\n" for output in missing))
