"""The script that asks Bazel again, against a stand-in for Bazel: the workspace it lays out, what it asks, what it keeps on failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real import cases, regenerate_oracle
from tests.real.cases import Case
from tests.real.trees import TREES, TreeMissing

ANSWER = {
    "targets": [{"id": 1, "label": "//:lib"}],
    "configuration": [{"id": 1, "mnemonic": "k8-opt"}],
    "actions": [
        {
            "targetId": 1,
            "configurationId": 1,
            "mnemonic": "CppCompile",
            "arguments": ["gcc", "-fPIC", "-DX", "-iquote", ".", "-c", "lib.cc", "-o", "lib.pic.o"],
        }
    ],
}


class Scene:
    """A case over two small trees, the rule sets Bazel needs, and a bazel script that answers from files."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.bazel = folder / "bazel"
        self.rules = folder / "rules"
        for name in regenerate_oracle.BAZEL_RULES.values():
            (self.rules / name).mkdir(parents=True)
        compilers = self.rules / "rules/cc/cc/compiler/BUILD"
        compilers.parent.mkdir(parents=True)
        compilers.write_text("# compilers\n")
        for tree in ("fxdiv", "fp16"):
            (folder / tree).mkdir()
        (folder / "fxdiv/lib.cc").write_text("")
        (folder / "fxdiv/lib.BUILD").write_text("# laid over\n")
        (folder / "fxdiv/WORKSPACE").write_text("upstream's own\n")
        self.answer("bazel 7.7.1", "//:lib", json.dumps(ANSWER))
        case = Case(
            "small", "main", {"main": "fxdiv", "half": "fp16"}, "//:lib",
            cxxopts=("-std=c++17",), defines={"a": "b"}, overlays={"half": {"BUILD.bazel": "lib.BUILD"}}, internal_users=True,
        )  # fmt: skip
        monkeypatch.setattr(cases, "tree_path", lambda name: folder / name)
        monkeypatch.setattr(cases, "HERE", folder)
        monkeypatch.setattr(regenerate_oracle, "CASES", {"small": case})
        self.file = case.file
        self.file.parent.mkdir()

    def answer(self, version: str, roots: str, actions: str) -> None:
        (self.folder / "actions").write_text(actions)
        answers = {"*--version*": f'echo "{version}"', '*" query "*': f'echo "{roots}"', '*" aquery "*': f'cat "{self.folder}/actions"'}
        self.script(f'case "$@" in {" ".join(f"{call}) {answer};;" for call, answer in answers.items())} esac')

    def script(self, body: str) -> None:
        self.bazel.write_text(f'#!/bin/sh\necho "$@" >> "{self.folder}/log"\ncp WORKSPACE "{self.folder}/WORKSPACE"\n{body}\n')
        self.bazel.chmod(0o755)

    def run(self) -> int:
        return regenerate_oracle.main(["--bazel", str(self.bazel), "--rules", str(self.rules), "small"])


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch)


def test_answer_becomes_a_snapshot_with_its_provenance(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert scene.run() == 0
    assert capsys.readouterr().out == "small: 1 translation units of 1 roots\n"
    snapshot = cases.load_snapshot(scene.file)
    assert [(record.key, record.defines) for record in snapshot.records] == [(("//:lib", "lib.cc"), ("X",))]
    assert snapshot.provenance["bazel"] == "bazel 7.7.1"
    assert snapshot.provenance["roots"] == ["//:lib"]
    assert snapshot.provenance["trees"] == {name: TREES[name].sha256 for name in ("fp16", "fxdiv")}


def test_bazel_is_asked_for_the_closure_with_the_cases_options(scene: Scene) -> None:
    scene.run()
    query, aquery = [line for line in (scene.folder / "log").read_text().splitlines() if "query" in line]
    assert query.endswith(" query --noenable_bzlmod --enable_workspace //:lib")
    assert aquery.endswith(" deps(set(//:lib))")
    for option in ("--compilation_mode=opt", "--force_pic", "--cxxopt=-std=c++17", "--define=a=b", "--nocheck_visibility"):
        assert option in aquery.split()


def test_workspace_names_every_repository_and_drops_upstreams_own(scene: Scene) -> None:
    scene.run()
    text = (scene.folder / "WORKSPACE").read_text()
    assert text.startswith('workspace(name = "main")\n')
    assert "upstream's own" not in text
    assert {line.split('"')[1] for line in text.splitlines() if line.startswith("local_repository")} == {
        "half",
        *regenerate_oracle.BAZEL_RULES,
    }


def test_failure_of_bazel_is_told_and_the_old_snapshot_stays(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.file.write_text("old")
    scene.script('case "$@" in *" query "*) echo "ERROR: no such target" >&2; exit 1;; esac')
    assert scene.run() == 1
    errors = capsys.readouterr().err
    assert "small: " in errors
    assert "bazel query failed\n    ERROR: no such target" in errors
    assert scene.file.read_text() == "old"


def test_answer_without_compiles_is_no_snapshot(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.answer("bazel 7.7.1", "//:lib", "{}")
    assert scene.run() == 1
    assert "//:lib: the closure compiles nothing in the target configuration" in capsys.readouterr().err
    assert not scene.file.exists()


def test_missing_tree_is_named(scene: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(name: str) -> Path:
        raise TreeMissing(f"{name}: gone")

    monkeypatch.setattr(cases, "tree_path", missing)
    assert scene.run() == 1
    assert capsys.readouterr().err == "small: fxdiv: gone\n"


def test_unknown_case_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        regenerate_oracle.main(["--bazel", "b", "--rules", "r", "abseil"])
    assert "invalid choice: 'abseil'" in capsys.readouterr().err
