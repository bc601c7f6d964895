"""Owns the regeneration of the oracle's snapshots, on a machine that has Bazel 7.7.1 and the rule sets of Debian sid's bazel-* packages.

    python tests/real/regenerate_oracle.py --bazel /usr/bin/bazel --rules /usr/share/bazel [CASE...]

Bazel only analyses: no repository is fetched and nothing is compiled. Each case gets a scratch workspace of local repositories.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "site_scons")]

from litert_build.errors import BuildError  # noqa: E402
from litert_build.reports.oracle import Snapshot, canonical_label, commands_from_aquery, dump_snapshot, records_from_aquery  # noqa: E402
from litert_build.sources.lock import Lock  # noqa: E402
from litert_build.sources.trees import materialize  # noqa: E402

from tests.real.cases import CASES, Case  # noqa: E402
from tests.real.trees import TreeMissing, find_tree  # noqa: E402

BAZEL_RULES = {
    "bazel_features": "tools/features",
    "bazel_skylib": "tools/skylib",
    "platforms": "tools/platforms",
    "rules_cc": "rules/cc",
    "rules_java": "rules/java",
    "rules_license": "rules/license",
    "rules_pkg": "rules/pkg",
    "rules_proto": "rules/proto",
    "rules_python": "rules/python",
    "rules_shell": "rules/shell",
}
# Newer trees select on a compiler that Debian's rules_cc 0.0.11 does not name yet.
EMSCRIPTEN = """
config_setting(
    name = "emscripten",
    flag_values = {"@rules_cc//cc/private/toolchain:compiler": "emscripten"},
)
"""
STARTUP = ["--host_jvm_args=-Xmx3g", "--max_idle_secs=60"]
FLAGS = ["--noenable_bzlmod", "--enable_workspace", "--compilation_mode=opt", "--force_pic", "--jobs=2"]
TARGET, EXEC = "k8-opt", "k8-opt-exec"


class Bazel:
    """One binary in one workspace."""

    def __init__(self, binary: str, workspace: Path) -> None:
        self.binary = binary
        self.workspace = workspace

    def run(self, command: str, *arguments: str) -> str:
        """Return what a command prints. Raises BuildError with Bazel's last lines."""
        done = subprocess.run([self.binary, *STARTUP, command, *arguments], cwd=self.workspace, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"bazel {command} failed", where=str(self.workspace), notes=done.stderr.strip().splitlines()[-12:])
        return done.stdout


def lay_out(case: Case, rules: Path, workspace: Path) -> None:
    """Make `workspace` the main repository of a case: a copy of its tree with a WORKSPACE of local repositories."""
    folders = materialize(case.lock(), store=workspace.with_name("store"), overlays_dir=workspace.with_name("overlays"), offline=True)
    shutil.copytree(
        folders.pop(case.main), workspace, symlinks=True, ignore=shutil.ignore_patterns("WORKSPACE*", "MODULE.bazel", ".bazelrc")
    )
    subprocess.run(["chmod", "-R", "u+w", str(workspace)], check=True)
    repositories = {**folders, **{name: rules / folder for name, folder in BAZEL_RULES.items()}}
    repositories["rules_cc"] = _rules_cc(repositories["rules_cc"], workspace.with_name("rules_cc"))
    lines = [f'workspace(name = "{case.main}")']
    lines += [f'local_repository(name = "{name}", path = "{folder}")' for name, folder in sorted(repositories.items())]
    lines += [f'bind(name = "{name}", actual = "{label}")' for name, label in sorted(case.lock().bindings.items())]
    lines += ['load("@bazel_features//:deps.bzl", "bazel_features_deps")', "bazel_features_deps()"]
    (workspace / "WORKSPACE").write_text("\n".join(lines) + "\n")


def _rules_cc(original: Path, copy: Path) -> Path:
    shutil.copytree(original, copy, symlinks=True)
    compilers = copy / "cc" / "compiler" / "BUILD"
    compilers.write_text(compilers.read_text() + EMSCRIPTEN)
    return copy


def _options(lock: Lock) -> list[str]:
    """Return what a lock says of the whole build, in Bazel's spelling."""
    options = [f"--{kind}={option}" for kind in ("copt", "cxxopt", "conlyopt", "linkopt") for option in getattr(lock, f"{kind}s")]
    options += [f"--define={name}={value}" for name, value in lock.defines.items()]
    options += [f"--{label}={value}" for label, value in lock.flags.items()]
    return [*options, "--nocheck_visibility"] if lock.visibility == "advisory" else options


def ask(case: Case, bazel: Bazel) -> Snapshot:
    """Return what a case's closure compiles, in the target and in the exec configuration, and what else it runs."""
    options = [*FLAGS, *_options(case.lock())]
    roots = sorted(canonical_label(label) for label in bazel.run("query", *FLAGS[:2], case.query).split())
    expression = f"deps(set({' '.join(roots)}))"
    answer = bazel.run("aquery", *options, "--output=jsonproto", "--include_artifacts=false", expression)
    provenance = {
        "bazel": bazel.run("--version").strip(),
        "flags": options,
        "query": case.query,
        "trees": {tree: find_tree(tree).sha256 for tree in sorted(case.trees.values())},
        "roots": roots,
    }
    document = json.loads(answer)
    records, tools = (tuple(records_from_aquery(document, configuration)) for configuration in (TARGET, EXEC))
    if not records:
        raise BuildError("the closure compiles nothing in the target configuration", where=case.query, mend="correct the case's query")
    return Snapshot(provenance, records, tools, tuple(commands_from_aquery(document)))


def main(argv: list[str]) -> int:
    """Regenerate the named cases, or all; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description="Ask Bazel again and rewrite tests/real/oracle.")
    parser.add_argument("--bazel", required=True, help="Bazel 7.7.1")
    parser.add_argument("--rules", type=Path, required=True, help="folder of Debian's bazel-* packages: rules/, tools/")
    parser.add_argument("cases", nargs="*", metavar="CASE", choices=[*CASES, []], help=f"of {', '.join(CASES)}")
    arguments = parser.parse_args(argv)
    failed = 0
    for name in arguments.cases or CASES:
        with tempfile.TemporaryDirectory(prefix="oracle-") as scratch:
            bazel = Bazel(arguments.bazel, Path(scratch) / "workspace")
            try:
                lay_out(CASES[name], arguments.rules, bazel.workspace)
                snapshot = ask(CASES[name], bazel)
                bazel.run("shutdown")
            except (BuildError, TreeMissing) as error:
                failed += 1
                print(f"{name}: {error}", file=sys.stderr)
                continue
            CASES[name].file.write_text(dump_snapshot(snapshot), encoding="utf-8")
            print(f"{name}: {len(snapshot.records)} translation units of {len(snapshot.provenance['roots'])} roots")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
