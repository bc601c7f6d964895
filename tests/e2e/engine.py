"""Owns a tiny project described by a hand-written action list, built by the real adapters and a real compiler.

engine = Engine(tmp_path)
engine.write("a.cc", "int a() { return 1; }")
engine.compile("a.cc")
assert engine.scons().ran == {"bazel-out/a.o"}
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SCONSTRUCT = """
import json
from pathlib import Path
from SCons.Script import ARGUMENTS, DefaultEnvironment, Environment
from litert_build import actions as kinds
from litert_build.incremental.steps import steps_of
from litert_build.options import read_options
from litert_build.policy.targets import find_target
from litert_build.toolchains import find_toolchain

DefaultEnvironment(tools=[])
env = Environment(tools=["command_line", "build_folder", "action_list"], ENV={})
with env.Refusals():
    options = read_options(ARGUMENTS, [])
    folder = env.BuildFolder(options, "engine")
    toolchain = find_toolchain("", find_target(options["target"]))
    rows = json.loads(Path("actions.json").read_text())
    tuples = lambda value: tuple(tuples(v) for v in value) if isinstance(value, list) else value
    actions = [getattr(kinds, row.pop("class"))(**{name: tuples(value) for name, value in row.items()}) for row in rows]
    steps = steps_of(actions, toolchain)
    read = ["SConstruct", "actions.json"]
    goals = {"all": [output for step in steps for output in step.outputs]}
    env.DefineGoals(options, folder, steps, goals, read=lambda: [str(Path(name).absolute()) for name in read])
"""


@dataclass(frozen=True)
class Result:
    """One run of scons: its exit code and all it printed."""

    code: int
    text: str

    @property
    def ran(self) -> set[str]:
        """The first outputs of the steps that ran."""
        return set(re.findall(r"^ran (.+?): ", self.text, re.MULTILINE))

    @property
    def skipped(self) -> int:
        found = re.search(r"(\\d+) skipped", self.text)
        assert found, self.text
        return int(found.group(1))


@dataclass
class Engine:
    """A project folder: sources at its top, which is the main repository's tree and, through links, the execution root's."""

    folder: Path
    actions: list[dict[str, object]] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.folder / "build" / "linux-x64" / "engine"

    def write(self, name: str, text: str) -> Path:
        file = self.folder / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def compile(self, source: str, output: str = "", *, generated: tuple[str, ...] = (), **fields: object) -> str:
        output = output or f"bazel-out/{Path(source).stem}.o"
        self.actions.append(
            {
                "class": "Compile", "label": f"//:{Path(source).stem}", "source": source, "output": output, "depfile": f"{output}.d",
                "configuration": "k8-opt", "language": "c++", "defines": [], "includes": [["-iquote", "."], ["-iquote", "bazel-out"]],
                "flags": ["-fPIC"], "generated": list(generated), "location": "BUILD:1", **fields,
            }
        )  # fmt: skip
        return output

    def run(self, command: str, inputs: list[str], outputs: list[str]) -> None:
        self.actions.append(
            {
                "class": "Run",
                "label": "//:gen",
                "mnemonic": "Genrule",
                "argv": ["bash", "-c", command],
                "inputs": inputs,
                "outputs": outputs,
            }
        )

    def link(self, objects: list[str], output: str = "bazel-out/liball.so") -> str:
        self.actions.append(
            {"class": "Link", "label": "//:all", "output": output, "kind": "shared", "configuration": "k8-opt", "objects": objects}
        )
        return output

    def arguments(self, *extra: str) -> list[str]:
        return [sys.executable, "-m", "SCons", "-Q", f"--site-dir={REPOSITORY / 'site_scons'}", *extra]

    def prepare(self) -> None:
        """Write the SConstruct and the actions, and link the sources into the execution root."""
        (self.folder / "SConstruct").write_text(SCONSTRUCT)
        (self.folder / "actions.json").write_text(json.dumps(self.actions))
        self.root.mkdir(parents=True, exist_ok=True)
        (self.folder / "tree").mkdir(exist_ok=True)
        for entry in (self.folder / "tree").iterdir():
            link = self.root / entry.name
            if not link.is_symlink():
                link.symlink_to(entry)

    def scons(self, *extra: str) -> Result:
        """Run scons to its end, every step that runs named."""
        self.prepare()
        arguments = self.arguments("verbose=yes", *extra)
        process = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        return Result(process.returncode, process.stdout + process.stderr)

    def start(self, *extra: str) -> subprocess.Popen[str]:
        """Start scons in a process group of its own."""
        self.prepare()
        return subprocess.Popen(
            self.arguments("verbose=yes", *extra),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
