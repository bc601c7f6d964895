"""Owns the regeneration of tests/unit/golden/bazel_names.json: the builtins that Bazel has and the attributes of its native rules.

    python tests/real/regenerate_names.py --bazel /usr/bin/bazel --rules /usr/share/bazel

Modules and values say themselves what they hold, by dir(); `bazel info build-language` names the rules. The names that stand alone in
BUILD and .bzl files cannot be listed: those of the golden file and of our own manifest are tried, and Bazel says which it does not know.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "site_scons")]

from litert_build.bazel.manifest import MODULES, manifest  # noqa: E402

from tests.real.regenerate_oracle import BAZEL_RULES  # noqa: E402

GOLDEN = CHECKOUT / "tests/unit/golden/bazel_names.json"
VALUES = {"ctx": "ctx", "ctx.actions": "ctx.actions", "Args": "ctx.actions.args()", "File": "made", "Label": "ctx.label",
          "depset": "depset()", "string": '""', "list": "[]", "dict": "{}", **{name: name for name in MODULES}}  # fmt: skip
STARTUP = ["--host_jvm_args=-Xmx1g", "--max_idle_secs=60"]
FLAGS = ["--noenable_bzlmod", "--enable_workspace"]


def bazel(binary: str, workspace: Path, *arguments: str) -> tuple[bytes, str]:
    """Return what a command prints and what it says; a fault is an answer too."""
    done = subprocess.run([binary, *STARTUP, *arguments], cwd=workspace, capture_output=True, check=False)
    return done.stdout, done.stderr.decode()


def lay_out(workspace: Path, rules: Path, candidates: list[str]) -> None:
    """Write a workspace whose //:shown prints the fields of values, and whose //names mentions every candidate."""
    lines = [f'local_repository(name = "{name}", path = "{rules / folder}")' for name, folder in BAZEL_RULES.items()]
    lines += ['load("@bazel_features//:deps.bzl", "bazel_features_deps")', "bazel_features_deps()"]
    (workspace / "WORKSPACE").write_text("\n".join(lines) + "\n")
    shown = "".join(f'    print("SHOWN {name} " + " ".join(dir({value})))\n' for name, value in VALUES.items())
    made = '    made = ctx.actions.declare_file("made")\n    ctx.actions.write(made, "")\n'
    (workspace / "shown.bzl").write_text(f"def _impl(ctx):\n{made}{shown}\nshown = rule(_impl)\n")
    (workspace / "BUILD").write_text('load(":shown.bzl", "shown")\nshown(name = "shown")\n')
    mentions = "".join(f"    {name},\n" for name in candidates)
    for package, file, text in (
        ("build", "BUILD", f"x = [\n{mentions}]\n"),
        ("bzl", "BUILD", 'load(":names.bzl", "f")\n'),
        ("bzl", "names.bzl", f"def f():\n    return [\n{mentions}    ]\n"),
    ):
        (workspace / package).mkdir(exist_ok=True)
        (workspace / package / file).write_text(text)


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the length-delimited fields of a protocol buffer message (encoding reference, "Message structure")."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        if key & 7 == 0:
            _, at = _varint(message, at)
            continue
        size = {1: 8, 5: 4}.get(key & 7)
        if size is None:
            size, at = _varint(message, at)
            yield key >> 3, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def native_rules(build_language: bytes) -> dict[str, list[str]]:
    """Return the public attributes of each rule of a BuildLanguage message."""
    found: dict[str, list[str]] = {}
    for _, rule in fields(build_language):
        parts = list(fields(rule))
        names = [dict(fields(part)).get(1, b"").decode() for number, part in parts if number != 1]
        found[dict(parts)[1].decode()] = sorted(name for name in names if name[:1].isalpha())
    return found


def ask(binary: str, rules: Path, workspace: Path) -> dict[str, object]:
    """Return the golden file's content as Bazel says it now."""
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))["names"]
    ours = manifest()["names"]
    candidates = sorted({*known["BUILD"], *known["bzl"], *ours["BUILD"], *ours["bzl"]})
    lay_out(workspace, rules, candidates)
    _, said = bazel(binary, workspace, "build", "--nobuild", *FLAGS, "//:shown")
    names = {name: sorted(listed.split()) for name, listed in re.findall(r"SHOWN (\S+) (.*)", said)}
    for phase, package in (("BUILD", "build"), ("bzl", "bzl")):
        _, said = bazel(binary, workspace, "query", *FLAGS, f"//{package}:all")
        unknown = set(re.findall(r"name '(\w+)' is not defined", said))
        names[phase] = [name for name in candidates if name not in unknown]
    language, _ = bazel(binary, workspace, "info", "build-language")
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    bazel(binary, workspace, "shutdown")
    return {"bazel": version.split()[1], "names": names, "rules": native_rules(language)}


def main() -> int:
    """Ask Bazel and write the golden file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bazel", required=True, help="a Bazel 7.7.1")
    parser.add_argument("--rules", required=True, type=Path, help="the folder of Debian's bazel-* packages, /usr/share/bazel")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = ask(given.bazel, given.rules, Path(folder))
    text = json.dumps(found, separators=(",", ":"), sort_keys=True).replace('],"', '],\n"')
    GOLDEN.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
