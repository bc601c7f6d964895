"""What is rebuilt after which change: a tiny project through the real adapters and compiler, exactly these steps and no other."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.e2e.engine import Engine

A, B, C, LIBRARY, HEADER = "bazel-out/a.o", "bazel-out/b.o", "bazel-out/c.o", "bazel-out/liball.so", "bazel-out/made.h"


@pytest.fixture
def project(engine: Engine) -> Engine:
    """a.cc and b.cc read shared.h, c.cc reads made.h, which a command makes of made.in; all are linked."""
    engine.write("shared.h", "inline int shared() { return 1; }\n")
    engine.write("a.cc", '#include "shared.h"\nint a() { return shared(); }\n')
    engine.write("b.cc", '#include "shared.h"\nint b() { return shared() + 1; }\n')
    engine.write("c.cc", '#include "made.h"\nint c() { return MADE; }\n')
    engine.write("made.in", "7\nfirst note\n")
    engine.run(f"echo '#define MADE' $(head -1 made.in) > {HEADER}", ["made.in"], [HEADER])
    objects = [engine.compile("a.cc"), engine.compile("b.cc"), engine.compile("c.cc", generated=(HEADER,))]
    engine.link(objects)
    result = engine.scons()
    assert result.code == 0, result.text
    assert result.ran == {A, B, C, LIBRARY, HEADER}
    return engine


def nothing_left(engine: Engine) -> None:
    result = engine.scons()
    assert (result.code, result.ran) == (0, set()), result.text
    assert "up to date, 0 actions run, 5 skipped" in result.text


def test_a_second_build_runs_nothing_and_says_so(project: Engine) -> None:
    nothing_left(project)


def test_an_edited_header_rebuilds_its_readers(project: Engine) -> None:
    project.write("shared.h", "inline int shared() { return 2; }\n")
    assert project.scons().ran == {A, B, LIBRARY}
    nothing_left(project)


def test_a_comment_that_changes_no_object_relinks_nothing(project: Engine) -> None:
    project.write("shared.h", "inline int shared() { return 1; } // noted\n")
    assert project.scons().ran == {A, B}
    nothing_left(project)


def test_touched_without_change(project: Engine) -> None:
    for file in (project.folder / "tree").iterdir():
        os.utime(file)
    nothing_left(project)


def test_edit_and_revert_between_builds(project: Engine) -> None:
    project.write("shared.h", "broken")
    project.write("shared.h", "inline int shared() { return 1; }\n")
    nothing_left(project)


def test_same_size_and_time_but_other_content(project: Engine) -> None:
    file = project.folder / "tree" / "shared.h"
    before = file.stat()
    project.write("shared.h", "inline int shared() { return 3; }\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.scons().ran == {A, B, LIBRARY}


def test_clock_set_back(project: Engine) -> None:
    file = project.write("shared.h", "inline int shared() { return 4; }\n")
    os.utime(file, (1, 1))
    assert project.scons().ran == {A, B, LIBRARY}
    nothing_left(project)


@pytest.mark.parametrize("output, expected", [(A, {A}), (LIBRARY, {LIBRARY}), (HEADER, {HEADER})])
def test_a_deleted_output_is_made_again(project: Engine, output: str, expected: set[str]) -> None:
    (project.root / output).unlink()
    assert project.scons().ran == expected
    nothing_left(project)


@pytest.mark.parametrize("output", [A, LIBRARY, HEADER])
def test_an_output_edited_by_hand_is_made_again(project: Engine, output: str) -> None:
    good = (project.root / output).read_bytes()
    (project.root / output).write_bytes(good + b"x")
    result = project.scons()
    assert output in result.ran
    assert (project.root / output).read_bytes() == good
    nothing_left(project)


def test_a_changed_flag_rebuilds_its_unit(project: Engine) -> None:
    project.actions[1]["flags"] = ["-fPIC", "-O1"]
    assert A in (ran := project.scons().ran) and ran <= {A, LIBRARY}
    nothing_left(project)


def test_a_generator_whose_output_is_the_same_makes_nobody_stale(project: Engine) -> None:
    project.write("made.in", "7\nsecond note\n")
    result = project.scons()
    assert result.ran == {HEADER}
    assert "1 actions run, 4 skipped" in result.text
    nothing_left(project)


def test_a_generator_whose_output_changed(project: Engine) -> None:
    project.write("made.in", "8\n")
    assert project.scons().ran == {HEADER, C, LIBRARY}
    nothing_left(project)


def test_a_new_include_is_followed(project: Engine) -> None:
    project.write("extra.h", "#define EXTRA 5\n")
    project.write("b.cc", '#include "extra.h"\nint b() { return EXTRA; }\n')
    assert project.scons().ran == {B, LIBRARY}
    project.write("extra.h", "#define EXTRA 6\n")
    assert project.scons().ran == {B, LIBRARY}
    project.write("shared.h", "inline int shared() { return 9; }\n")
    assert project.scons().ran == {A, LIBRARY}
    nothing_left(project)


def test_a_failing_compile_leaves_no_object_and_is_tried_again(project: Engine) -> None:
    project.write("a.cc", "int a() { return }\n")
    for _ in range(2):
        result = project.scons()
        assert result.code == 2
        assert "FAILED: Compile a.cc" in result.text and "//:a (BUILD:1)" in result.text
        assert "error: expected primary-expression" in result.text
        assert not (project.root / A).exists()
    project.write("a.cc", '#include "shared.h"\nint a() { return shared(); }\n')
    assert A in project.scons().ran
    nothing_left(project)


def test_failures_are_whole_and_repeated_at_the_end(engine: Engine) -> None:
    for name in "abcdefgh":
        engine.write(f"{name}.cc", "".join(f"int {name}{line} = missing_{name}{line};\n" for line in range(200)))
        engine.compile(f"{name}.cc")
    result = engine.scons("-k", "-j8")
    assert result.code == 2
    body, _, repeated = result.text.partition("8 steps failed:")
    for name in "abcdefgh":
        for text in (body, repeated):
            lines = text[text.index(f"FAILED: Compile {name}.cc") :].split("FAILED: ")[1].splitlines()
            assert sum(f"missing_{name}" in line and "error" in line for line in lines) == 200
            assert not any(f"missing_{other}" in line for line in lines for other in "abcdefgh" if other != name)


def test_a_step_that_ends_without_its_output_fails(engine: Engine) -> None:
    engine.run("true", [], ["bazel-out/never.h"])
    result = engine.scons()
    assert result.code == 2
    assert "it ended without making bazel-out/never.h" in result.text


def test_paths_with_blanks_and_non_ascii_letters(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "größe und maß #1")
    engine.write("ein ordner/kopf ü.h", "#define VALUE 1\n")
    engine.write("quelle é.cc", '#include "ein ordner/kopf ü.h"\nint value() { return VALUE; }\n')
    output = engine.compile("quelle é.cc", "bazel-out/ziel ö.o")
    engine.link([output])
    first = engine.scons()
    assert first.code == 0, first.text
    assert engine.scons().ran == set()
    engine.write("ein ordner/kopf ü.h", "#define VALUE 2\n")
    assert "2 actions run" in engine.scons().text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("whole_group", [True, False])
def test_an_interrupted_build_keeps_what_it_finished(engine: Engine, number: signal.Signals, whole_group: bool) -> None:
    names = [f"unit{index}" for index in range(6)]
    for name in names:
        engine.run(f"sleep 0.3; cat in.txt > bazel-out/{name}.txt", ["in.txt"], [f"bazel-out/{name}.txt"])
    engine.write("in.txt", "whole\n")
    process = engine.start("-j1")
    deadline = time.monotonic() + 30
    while not (engine.root / "bazel-out/unit1.txt").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (os.killpg if whole_group else os.kill)(process.pid, number)
    process.wait(30)
    result = engine.scons("-j1")
    assert result.code == 0, result.text
    assert "bazel-out/unit0.txt" not in result.ran
    assert {f"bazel-out/unit{index}.txt" for index in range(3, 6)} <= result.ran
    assert all((engine.root / f"bazel-out/{name}.txt").read_text() == "whole\n" for name in names)
    assert engine.scons().ran == set()


def test_a_damaged_database_is_rebuilt_with_a_message(project: Engine) -> None:
    file = project.root / ".build" / "dependencies"
    good = file.read_bytes()
    for bad in (b"", b"foreign file", good[:-20], good[:200] + bytes([good[200] ^ 1]) + good[201:]):
        file.write_bytes(bad)
        result = project.scons()
        assert result.code == 0, result.text
        assert "the dependency database is unusable" in result.text
        assert result.ran == {A, B, C, LIBRARY, HEADER}
    nothing_left(project)


def test_a_header_that_appears_earlier_on_the_include_path(project: Engine) -> None:
    project.actions[1]["includes"] = [["-iquote", "first"], ["-I", "first"], ["-iquote", "."]]
    project.write("first/unrelated.h", "")
    project.scons()
    project.write("first/other.h", "")
    nothing_left(project)
    project.write("first/shared.h", "inline int shared() { return 77; }\n")
    # Whether a.cc found it beside itself or through the include path, nobody recorded: the unit is compiled to find out.
    assert project.scons().ran == {A}
    nothing_left(project)
    project.write("a.cc", "#include <shared.h>\nint a() { return shared(); }\n")
    project.actions[1]["includes"] = [["-I", "first"], ["-I", "."]]
    (project.folder / "tree/first/shared.h").unlink()
    assert A in project.scons().ran
    project.write("first/shared.h", "inline int shared() { return 78; }\n")
    assert project.scons().ran == {A, LIBRARY}
    nothing_left(project)


def test_a_new_folder_that_shadows_a_system_header(project: Engine) -> None:
    project.write("a.cc", "#include <sys/types.h>\nint a() { return sizeof(pid_t); }\n")
    project.actions[1]["includes"] = [["-I", "first"]]
    project.write("first/unrelated.h", "")
    project.scons()
    project.write("first/sys/types.h", "typedef char pid_t;\n")
    assert project.scons().ran == {A, LIBRARY}
    nothing_left(project)


def test_a_header_that_was_asked_for_and_is_there_now(project: Engine) -> None:
    project.write("a.cc", '#if __has_include("extra/more.h")\nint a() { return 1; }\n#else\nint a() { return 2; }\n#endif\n')
    project.scons()
    project.write("extra/more.h", "")
    assert project.scons().ran == {A, LIBRARY}
    nothing_left(project)


def test_plain_scons_decides_the_same(project: Engine) -> None:
    off = "incremental=off"
    assert project.scons(off).ran == {A, B, C, LIBRARY, HEADER}
    assert project.scons(off).ran == set()
    project.write("shared.h", "inline int shared() { return 2; }\n")
    assert project.scons(off).ran == {A, B, LIBRARY}
    project.write("made.in", "8\n")
    assert project.scons(off).ran == {HEADER, C, LIBRARY}
    assert project.scons(off).ran == set()


def test_plain_scons_trusts_nothing_that_the_database_decided_since(project: Engine) -> None:
    off = "incremental=off"
    project.scons(off)
    first = (project.root / A).read_bytes()
    project.actions[1]["flags"] = ["-fPIC", "-DOTHER", "-g"]
    assert A in project.scons().ran and (project.root / A).read_bytes() != first
    project.actions[1]["flags"] = ["-fPIC"]
    assert A in project.scons(off).ran and (project.root / A).read_bytes() == first


def test_a_failure_between_two_equal_states_is_not_forgotten(project: Engine) -> None:
    good = (project.folder / "tree/a.cc").read_text()
    project.write("a.cc", "broken")
    assert project.scons().code == 2
    project.write("a.cc", good)
    assert project.scons().ran == {A}
    nothing_left(project)


def test_the_longest_steps_start_first_and_the_timeline_shows_it(engine: Engine) -> None:
    engine.write("in.txt", "1")
    for name, seconds in (("short", 0.01), ("long", 0.4), ("middle", 0.2)):
        engine.run(f"sleep {seconds}; cat in.txt > bazel-out/{name}.txt", ["in.txt"], [f"bazel-out/{name}.txt"])
    engine.scons("-j1")
    engine.write("in.txt", "2")
    trace = engine.folder / "trace.json"
    assert engine.scons("-j1", f"trace={trace}").code == 0
    events = json.loads(trace.read_text())["traceEvents"]
    started = [event["args"]["key"] for event in sorted(events, key=lambda event: event["ts"])]
    assert started == ["bazel-out/long.txt", "bazel-out/middle.txt", "bazel-out/short.txt"]
    assert all(event["ph"] == "X" and event["dur"] > 0 and event["tid"] == 0 for event in events)


def test_the_largest_sources_start_first_as_long_as_no_step_was_timed(engine: Engine) -> None:
    for name, size in (("small", 0), ("large", 2000), ("middle", 1000)):
        engine.write(f"{name}.cc", f"int {name}() {{ return 1; }}\n//{'x' * size}\n")
        engine.compile(f"{name}.cc")
    trace = engine.folder / "trace.json"
    assert engine.scons("-j1", f"trace={trace}").code == 0
    events = sorted(json.loads(trace.read_text())["traceEvents"], key=lambda event: event["ts"])
    assert [event["args"]["key"] for event in events] == ["bazel-out/large.o", "bazel-out/middle.o", "bazel-out/small.o"]


def test_what_a_step_that_is_gone_had_made_is_removed(project: Engine) -> None:
    project.write("b.cc", '#if __has_include("made.h")\nint b() { return 5; }\n#else\nint b() { return 6; }\n#endif\n')
    project.scons()
    removed = [row for row in project.actions if row.get("source") == "c.cc" or row["class"] == "Run"]
    project.actions = [row for row in project.actions if row not in removed]
    project.actions[-1]["objects"] = [A, B]
    result = project.scons()
    assert result.code == 0 and not (project.root / HEADER).exists() and not (project.root / C).exists()
    assert result.ran == {B, LIBRARY}
    assert project.scons().ran == set()


def test_two_builds_in_one_folder_do_not_meet(engine: Engine) -> None:
    engine.write("in.txt", "1")
    engine.run("sleep 1; cat in.txt > bazel-out/out.txt", ["in.txt"], ["bazel-out/out.txt"])
    first, second = engine.start(), engine.start()
    texts = [process.communicate(timeout=60)[0] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), texts
    assert sum("waiting for them to end" in text for text in texts) == 1
    assert sum("1 actions run" in text for text in texts) == 1 and sum("0 actions run" in text for text in texts) == 1
