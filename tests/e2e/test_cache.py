"""The shared cache of objects and the launchers: what is restored, what never is, and what happens to a damaged or killed writer."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.e2e.engine import Engine

UNITS = [f"bazel-out/unit{number}.o" for number in range(4)]


def checkout(folder: Path) -> Engine:
    """Return a checkout of the same small project: four units that read one header."""
    engine = Engine(folder)
    engine.write("shared.h", "#define SHARED 1\n")
    for number in range(4):
        engine.write(f"unit{number}.cc", f'#include "shared.h"\nint unit{number}() {{ return SHARED + {number}; }}\n')
        engine.compile(f"unit{number}.cc")
    return engine


def restored(text: str) -> int:
    return text.count(": restored from the cache")


def test_another_checkout_takes_all_objects_from_the_cache(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    first = checkout(tmp_path / "first")
    result = first.scons(cache)
    assert result.code == 0 and "cache  0 hits, 4 misses" in result.text, result.text
    second = checkout(tmp_path / "second")
    result = second.scons(cache)
    assert restored(result.text) == 4 and "0 actions run, 0 skipped" in result.text, result.text
    assert "cache  4 hits, 0 misses" in result.text
    for unit in UNITS:
        assert (first.root / unit).read_bytes() == (second.root / unit).read_bytes()
    assert second.scons(cache).ran == set()


def test_what_is_restored_before_the_build_becomes_no_node(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    assert " 4 nodes" in checkout(tmp_path / "first").scons(cache).text
    assert " 0 nodes" in checkout(tmp_path / "second").scons(cache).text


def test_a_unit_that_waits_for_a_generated_header_is_restored_at_its_turn(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    for name in ("first", "second"):
        engine = checkout(tmp_path / name)
        engine.write("user.cc", '#include "made.h"\nint user() { return MADE; }\n')
        engine.run("echo '#define MADE 3' > bazel-out/made.h", [], ["bazel-out/made.h"])
        engine.compile("user.cc", generated=("bazel-out/made.h",))
        result = engine.scons(cache)
    assert result.ran == {"bazel-out/made.h", *UNITS, "bazel-out/user.o"} and restored(result.text) == 5, result.text
    assert "cache  5 hits, 0 misses" in result.text and "1 actions run" in result.text and " 2 nodes" in result.text


def test_a_dry_run_restores_nothing(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    checkout(tmp_path / "first").scons(cache)
    second = checkout(tmp_path / "second")
    assert restored(second.scons(cache, "-n").text) == 0
    assert not any((second.root / unit).exists() for unit in UNITS)
    assert "cache  4 hits" in second.scons(cache).text


def test_a_header_edit_misses_and_its_revert_hits(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    engine = checkout(tmp_path / "first")
    engine.scons(cache)
    good = [(engine.root / unit).read_bytes() for unit in UNITS]
    engine.write("shared.h", "#define SHARED 2\n")
    assert "cache  0 hits, 4 misses" in engine.scons(cache).text
    assert [(engine.root / unit).read_bytes() for unit in UNITS] != good
    engine.write("shared.h", "#define SHARED 1\n")
    assert "cache  4 hits, 0 misses" in engine.scons(cache).text
    assert [(engine.root / unit).read_bytes() for unit in UNITS] == good
    engine.write("shared.h", "#define SHARED 2\n")
    assert "cache  4 hits, 0 misses" in engine.scons(cache).text


def test_another_flag_misses(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    checkout(tmp_path / "first").scons(cache)
    second = checkout(tmp_path / "second")
    second.actions[0]["flags"] = ["-O1"]
    assert "cache  3 hits, 1 misses" in second.scons(cache).text


def test_a_header_that_stands_first_here_misses(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    for name in ("first", "second"):
        engine = checkout(tmp_path / name)
        engine.write("unit0.cc", "#include <shared.h>\nint unit0() { return SHARED; }\n")
        engine.actions[0]["includes"] = [["-I", "early"], ["-I", "."]]
        engine.write("early/shared.h" if name == "second" else "early/other.h", "#define SHARED 5\n")
        result = engine.scons(cache)
    assert "cache  3 hits, 1 misses" in result.text


def test_a_damaged_object_is_put_aside_and_compiled(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    first = checkout(tmp_path / "first")
    first.scons(cache)
    for file in (tmp_path / "cache/objects").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-9] + b"x" * 9)
    second = checkout(tmp_path / "second")
    result = second.scons(cache)
    assert "cache  0 hits, 4 misses, 4 damaged" in result.text, result.text
    assert len(list((tmp_path / "cache/quarantine").iterdir())) == 4
    assert all((first.root / unit).read_bytes() == (second.root / unit).read_bytes() for unit in UNITS)
    assert "4 hits" in checkout(tmp_path / "third").scons(cache).text


def test_the_limit_removes_what_was_not_used_for_longest(tmp_path: Path) -> None:
    engine = checkout(tmp_path / "first")
    engine.scons(f"cache={tmp_path / 'cache'}")
    engine.write("shared.h", "#define SHARED 2\n")
    engine.scons(f"cache={tmp_path / 'cache'}", "cache_limit=5K")
    assert sum(file.stat().st_size for file in (tmp_path / "cache").glob("*/*/*")) <= 5000
    engine.write("shared.h", "#define SHARED 1\n")
    assert engine.scons(f"cache={tmp_path / 'cache'}").code == 0


def test_a_cache_that_cannot_be_written_costs_no_build(tmp_path: Path) -> None:
    engine = checkout(tmp_path / "first")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/objects").write_text("in the way")
    assert engine.scons(f"cache={tmp_path / 'cache'}").code == 0


def test_a_size_that_is_none() -> None:
    from litert_build.errors import BuildError
    from litert_build.options import read_options

    with pytest.raises(BuildError, match="cache_limit takes a size, not 'much'"):
        read_options({"cache_limit": "much"}, []).size("cache_limit")


def test_many_builds_on_one_cache_some_killed(tmp_path: Path) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    chance = random.Random(5)
    engines = [checkout(tmp_path / f"checkout{number}") for number in range(8)]
    running = [engine.start(cache, "-j1") for engine in engines]
    time.sleep(0.6)
    for process in chance.sample(running, 3):
        time.sleep(chance.uniform(0, 0.3))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    for process in running:
        process.communicate(timeout=120)
    plain = checkout(tmp_path / "plain")
    assert plain.scons().code == 0
    for engine in (*engines, checkout(tmp_path / "last")):
        assert engine.scons(cache).code == 0
        assert all((engine.root / unit).read_bytes() == (plain.root / unit).read_bytes() for unit in UNITS)


def test_the_launcher_stands_before_the_compiler_and_changes_no_signature(tmp_path: Path) -> None:
    engine = checkout(tmp_path / "first")
    launcher = tmp_path / "launch"
    launcher.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path / "log"}\nexec "$@"\n')
    launcher.chmod(0o755)
    assert engine.scons(f"launcher={launcher}").code == 0
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 4 and all("g++" in line.split()[0] and str(engine.root) not in line for line in lines)
    assert engine.scons().ran == set()


def test_an_unknown_launcher_names_the_nearest(tmp_path: Path) -> None:
    result = checkout(tmp_path / "first").scons("launcher=ccahe")
    assert result.code == 2 and "no launcher 'ccahe'" in result.text and "did you mean ccache?" in result.text
