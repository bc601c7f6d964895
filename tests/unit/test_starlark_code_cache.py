"""The cache of compiled files: what is kept, what another key is made of, damage, and faults that are never kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.starlark import code_cache
from litert_build.starlark.code_cache import CodeCache
from litert_build.starlark.modules import Modules

from tests.unit.bazel_samples import Memory, Tree

FILES = {
    "main.bzl": "load('b.bzl', 'twice', local = 'NAME')\n\ndef f(x, y = [1], *args, **kwargs):\n    g = lambda z: z + x\n"
    "    return [twice(g(1)), y, args, kwargs, local]\n\nvalue = f(2, k = {'a': (1, None, 1.5)})\n",
    "b.bzl": "NAME = 'é'\n\ndef twice(x):\n    return x * 2\n",
}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are really compiled."""
    names: list[str] = []
    real = code_cache.compile_file

    def compile_file(text: str, file: str, *rest: Any) -> Any:
        names.append(file)
        return real(text, file, *rest)

    monkeypatch.setattr(code_cache, "compile_file", compile_file)
    return names


def value_of(folder: Path, files: dict[str, str] = FILES, identity: str = "1") -> Any:
    exported = Modules(Memory(files), CodeCache(folder, identity)).load("main.bzl", "")
    assert isinstance(exported, dict)
    return exported["value"]


def test_the_second_run_compiles_nothing_and_gives_the_same(tmp_path: Path, compiled: list[str]) -> None:
    first = value_of(tmp_path)
    assert compiled == ["main.bzl", "b.bzl"]
    assert value_of(tmp_path) == first == [6, [1], (), {"k": {"a": (1, None, 1.5)}}, "é"]
    assert compiled == ["main.bzl", "b.bzl"]


def test_a_changed_file_is_compiled_alone(tmp_path: Path, compiled: list[str]) -> None:
    value_of(tmp_path)
    compiled.clear()
    assert value_of(tmp_path, {**FILES, "b.bzl": FILES["b.bzl"].replace("* 2", "* 3")})[0] == 9
    assert compiled == ["b.bzl"]


def test_another_evaluator_compiles_again(tmp_path: Path, compiled: list[str]) -> None:
    value_of(tmp_path)
    compiled.clear()
    value_of(tmp_path, identity="2")
    assert compiled == ["main.bzl", "b.bzl"]


def test_the_name_of_a_file_and_the_builtins_are_part_of_the_key(tmp_path: Path, compiled: list[str]) -> None:
    cache = CodeCache(tmp_path, "1")
    for file, kind, builtins in (
        ("a", "bzl", ["x"]),
        ("b", "bzl", ["x"]),
        ("a", "build", ["x"]),
        ("a", "bzl", ["x", "y"]),
        ("a", "bzl", ["xy"]),
    ):
        cache("z = 1", file, kind, builtins)  # type: ignore[arg-type]
    assert len(compiled) == 5
    cache("z = 1", "a", "bzl", ["x"])
    assert len(compiled) == 5


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 200])
def test_a_damaged_entry_is_made_again(tmp_path: Path, compiled: list[str], damage: bytes) -> None:
    first = value_of(tmp_path)
    for entry in [path for path in tmp_path.rglob("*") if path.is_file()]:
        entry.write_bytes(damage)
    assert value_of(tmp_path) == first
    assert len(compiled) == 4
    assert value_of(tmp_path) == first
    assert len(compiled) == 4


def test_a_cut_entry_is_made_again(tmp_path: Path, compiled: list[str]) -> None:
    value_of(tmp_path)
    for entry in [path for path in tmp_path.rglob("*") if path.is_file()]:
        entry.write_bytes(entry.read_bytes()[:-1])
    value_of(tmp_path)
    assert len(compiled) == 4


def test_faulty_files_are_refused_each_time_at_their_line(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(BuildError, match="name 'nope' is not defined") as caught:
            value_of(tmp_path, {"main.bzl": "x = 1\nvalue = nope\n"})
        assert caught.value.where == "main.bzl:2"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_faults_at_run_time_keep_their_lines(tmp_path: Path) -> None:
    files = {"main.bzl": "def f(x):\n    return x + 'a'\n\nvalue = f(1)\n"}
    for _ in range(2):
        with pytest.raises(BuildError) as caught:
            value_of(tmp_path, files)
        assert (caught.value.where, caught.value.notes) == ("main.bzl:4", ("in f at main.bzl:2",))


def test_a_folder_that_cannot_be_written_changes_nothing(tmp_path: Path, compiled: list[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert value_of(file / "cache")[0] == value_of(file / "cache")[0] == 6
    assert len(compiled) == 4


def test_an_analysis_from_the_cache_is_the_same(tmp_path: Path, compiled: list[str]) -> None:
    tree = Tree(tmp_path / "tree", {
        "BUILD": "load(':m.bzl', 'make')\n[make(name = 'x%d' % i) for i in range(2)]", "a.cc": "",
        "m.bzl": "def make(name):\n    native.cc_library(name = name, srcs = ['a.cc'], copts = ['-D%s' % name])\n",
    })  # fmt: skip
    lock = tree.lock("//:x0", "//:x1")
    first = analyze(lock, tree.trees, find_target("linux-x64"), cache=tmp_path / "cache")
    assert len(compiled) >= 2
    compiled.clear()
    second = analyze(lock, tree.trees, find_target("linux-x64"), cache=tmp_path / "cache")
    assert compiled == []
    assert list(second.actions) == list(first.actions) == list(analyze(lock, tree.trees, find_target("linux-x64")).actions)
    assert second.read == first.read
