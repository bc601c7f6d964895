"""The command line: what is read, and which sentence refuses what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.commands import COMMANDS, descriptions
from litert_build.errors import BuildError
from litert_build.options import GOALS, OPTIONS, find_lock, help_text, read_options
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
