"""The command line: what is read, and which sentence refuses what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.commands import COMMANDS, descriptions
from litert_build.errors import BuildError
from litert_build.options import GOALS, OPTIONS, find_lock, help_text, read_options, require_made, unknown_flag
from litert_build.toolchains.limits import LINK_MEMORY


def test_defaults_and_values() -> None:
    options = read_options({"target": "linux-amd64", "src_litert": "~/litert"}, ["host", "build/x.o"])
    assert (options["target"], options["ref"], options.goals, options.files) == ("linux-x64", "sample", ("host",), ("build/x.o",))
    assert options.local == {"litert": Path.home() / "litert"}
    assert options.path("lock") is None and not options.enabled("offline") and options.enabled("incremental")


@pytest.mark.parametrize(
    ("arguments", "names", "sentence"),
    [
        ({"targt": "x"}, [], "unknown option 'targt'"),
        ({"target": "linux-x46"}, [], "unknown target 'linux-x46'"),
        ({"offline": "1"}, [], "offline takes yes, no, not '1'"),
        ({"ref": "v1", "lock": "x.json"}, [], "ref= and lock= both name a lock"),
        ({"src_": "x"}, [], "unknown option 'src_'"),
        ({"src_litert": ""}, [], "src_litert= names no folder"),
        ({"build_dir": ""}, [], "build_dir= names no folder"),
        ({"link_mode": "foo"}, [], "link_mode takes static, dynamic, none, not 'foo'\n  -> link_mode=static"),
        ({"file": "x.so"}, ["host"], "file= belongs to the command check"),
        ({}, ["hots"], "unknown goal 'hots'"),
        ({}, ["targets", "verify"], "targets is a command of its own"),
        ({}, ["targets", "host"], "targets host: targets is a command of its own\n  -> scons targets"),
        ({}, ["host", "doctor"], "host doctor: doctor is a command of its own\n  -> scons doctor"),
        ({"cache_limit": "abc"}, [], "cache_limit=abc: cache_limit takes a size, not 'abc'\n  -> cache_limit=5G"),
        ({"sysroot": "/nope"}, [], "sysroot=/nope: there is no such folder"),
        ({"trace": "/nope/t.json"}, [], "trace=/nope/t.json: there is no such folder\n  -> name a file in a folder that exists"),
        ({"TARGET": "linux-x64"}, [], "TARGET=linux-x64: unknown option 'TARGET'\n  -> did you mean target?"),
        ({}, ["lto"], "lto: unknown goal 'lto'\n  -> options take a value: lto=..."),
        ({}, ["clean"], "clean: unknown goal 'clean'\n  -> scons -c"),
        ({}, ["explain"], "explain: explain needs a label\n  -> scons explain=//c:engine"),
        ({"cache": __file__}, [], f"cache={__file__}: the cache is no folder"),
    ],
)
def test_refusals(arguments: dict[str, str], names: list[str], sentence: str) -> None:
    with pytest.raises(BuildError) as caught:
        read_options(arguments, names, COMMANDS)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(("text", "size"), [("5G", 5 * 10**9), ("20k", 20_000), ("7", 7)])
def test_sizes(text: str, size: int) -> None:
    assert read_options({"cache_limit": text}, []).size("cache_limit") == size


def test_links_at_once_are_what_is_asked_for_or_what_memory_bears() -> None:
    assert read_options({}, []).count("link_jobs", 3) == 3
    assert read_options({"link_jobs": "2"}, []).count("link_jobs", 3) == 2
    assert "one for each 4 GiB of memory" in OPTIONS["link_jobs"].help and LINK_MEMORY == 4 << 30


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_a_number_of_links_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BuildError) as caught:
        read_options({"link_jobs": text}, [])
    assert str(caught.value) == f"link_jobs={text}: link_jobs takes a number from 1 up, not {text!r}\n  -> link_jobs=1"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("no such option: --target", "--target: unknown option '--target'\n  -> options have no dashes: target=..."),
        ("no such option: --link-mode", "--link-mode: unknown option '--link-mode'\n  -> options have no dashes: link_mode=..."),
        ("no such option: --targt", "--targt: unknown option '--targt'\n  -> did you mean target?"),
        ("no such option: '--keep'. Did you mean '--keep-going'?", "--keep: unknown option '--keep'\n  -> did you mean --keep-going?"),
        ("no such option: -z", "-z: unknown option '-z'\n  -> `scons -h` lists the options, `scons -H` those of SCons"),
    ],
)
def test_a_word_with_dashes_that_nobody_knows(said: str, sentence: str) -> None:
    assert str(unknown_flag(said)) == sentence


def test_a_file_that_no_step_makes_is_refused_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made, root = ["bin/_objs/engine/engine.pic.o", "checks.json"], tmp_path / "build/linux-x64/tiny"
    for file in ("build", "build/linux-x64/tiny", "build/linux-x64/tiny/bin", "build/linux-x64/tiny/checks.json", f"{root}/{made[0]}"):
        require_made([file], made, root)
    for file, mend in {
        "build/engine.pic.o": "did you mean build/linux-x64/tiny/bin/_objs/engine/engine.pic.o?",
        "build/linux-x64/tiny/bin/_obj": "`scons -h` lists the goals",
        "docs/limits.md": "`scons -h` lists the goals",
    }.items():
        with pytest.raises(BuildError) as caught:
            require_made([file], made, root)
        assert str(caught.value) == f"{file}: no step makes this file\n  -> {mend}"


def test_a_command_ends_the_reading() -> None:
    assert read_options({}, ["targets"], COMMANDS).command == "targets"
    assert read_options({"file": "x.so"}, ["check"], COMMANDS).command == "check"
    assert read_options({}, ["check"], COMMANDS).goals == ("check",)


def test_an_unknown_ref_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "v0.19.1.json").write_text("{}")
    with pytest.raises(BuildError, match=r"unknown ref 'v0\.19\.2'") as caught:
        find_lock(read_options({"ref": "v0.19.2"}, []), tmp_path)
    assert caught.value.mend == "did you mean v0.19.1?"


def test_help_names_every_option_goal_and_command() -> None:
    text = help_text(descriptions())
    for word in (*OPTIONS, *GOALS, *COMMANDS):
        assert word in text


def test_every_command_has_its_function() -> None:
    import importlib

    for command in COMMANDS.values():
        module, _, name = command.function.partition(":")
        assert callable(getattr(importlib.import_module(f"litert_build.{module}"), name))
