"""The pure parts of the benchmark: the Ninja file (read back by Ninja itself), medians, the table, the verdicts, the editable tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.incremental.commands import Command
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.steps import Step

from tests.bench.__main__ import latest, main
from tests.bench.bazel import Bazel
from tests.bench.engines import ninja_program
from tests.bench.measure import Row, Run, commands_of, measured
from tests.bench.ninja_file import ninja_text, path_text, value_text, write_ninja
from tests.bench.projects import edit, editable
from tests.bench.report import read_rows, table, write_json
from tests.bench.rows import Repeat, check_row, measure_row
from tests.bench.targets import TARGETS, verdicts

NINJA = pytest.mark.skipif(not shutil.which(ninja_program()), reason="not installed: ninja")


def step(argv: tuple[str, ...], output: str, inputs: tuple[str, ...] = (), *, compiles: bool = False, **fields: object) -> Step:
    command = Command(**{"kind": "process", "argv": argv, "outputs": (output,), **fields})  # type: ignore[arg-type]
    return Step(f"Make {output}", inputs, (output,), b"", command, reports_inputs=compiles)


def run(wall: float, ran: int = 0) -> Run:
    return Run(wall, wall / 2, 50.0, ran)


def row(project: str, engine: str, case: str, wall: float, ran: int = 0, expected: int | None = None) -> Row:
    return Row.of(project, engine, case, [run(wall, ran)], expected)


@NINJA
def test_ninja_runs_what_the_steps_say_whatever_their_names_hold(tmp_path: Path) -> None:
    odd = "out/a b$c:d'e.txt"
    script = ("sh", "-c", "printf '%s\\n' \"$NAME\" 'two\nlines' $((1 + 1)) > made.txt")
    steps = [
        step(("the text of $this\n",), odd, kind="write"),
        step(("#!/bin/sh\necho ran\n",), "tool", kind="write", executable=True),
        step((odd,), "copy", (odd,), kind="copy"),
        step(script, "made.txt", (odd,), environment=(("NAME", "a $b"), ("PATH", "/usr/bin:/bin"))),
        step(("sh", "-c", "cp args seen"), "seen", ("made.txt",), response_file="args", lines=("-o", "x$y", '"a b"')),
        step(
            ("sh", "-c", "./tool > ran; echo 'ran: made.txt copy' > ran.d"),
            "ran",
            ("tool", "copy", "made.txt"),
            compiles=True,
            depfile="ran.d",
        ),
    ]
    environment = write_ninja(steps, tmp_path, tmp_path / "side")
    command = [ninja_program(), "-f", "side/build.ninja", "-d", "explain"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert environment == {} and commands_of(done.stdout) == 6
    assert (tmp_path / odd).read_text() == (tmp_path / "copy").read_text() == "the text of $this\n"
    assert (tmp_path / "made.txt").read_text() == "a $b\ntwo\nlines\n2\n"
    assert (tmp_path / "seen").read_text() == '-o x$y "a b"'
    assert (tmp_path / "ran").read_text() == "ran\n"
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "no work to do" in again.stdout, again.stdout
    (tmp_path / "copy").write_text("other")
    after = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert commands_of(after.stdout) == 1 and "ran" in after.stdout, after.stdout  # by the depfile: `copy` is newer than what read it


def test_compiles_that_wait_for_the_same_files_share_one_name() -> None:
    waits = ("gen.h", "other.h")
    steps = [step(("cc",), f"{name}.o", (f"{name}.c", *waits), compiles=True, depfile=f"{name}.d") for name in ("a", "b", "c")]
    text, beside = ninja_text(steps, "side")
    assert text.count("phony gen.h other.h") == 1 and text.count("|| before0") == 3 and not beside


def test_names_are_escaped() -> None:
    assert path_text("a b:c$d") == "a$ b$:c$$d"
    assert value_text("a b:c$d") == "a b:c$$d"
    with pytest.raises(BuildError, match="no line feed"):
        value_text("two\nlines")


def test_two_steps_that_make_one_file_are_refused() -> None:
    with pytest.raises(BuildError, match=r"two steps make a\.o"):
        ninja_text([step(("cc",), "a.o"), step(("cc", "-g"), "a.o")], "side")


def test_a_step_that_is_no_command_is_refused() -> None:
    with pytest.raises(BuildError, match="cannot run a function"):
        ninja_text([Step("Bundle", (), ("bundle",), b"", lambda: Outcome(0))], "side")


def test_medians() -> None:
    made = Row.of("synthetic:10", "scons", "no-op", [run(3), run(1), run(200)])
    assert (made.wall, made.cpu, made.megabytes, made.ran, len(made.runs)) == (3, 1.5, 50, 0, 3)


def test_no_run_and_runs_of_different_work_are_refused() -> None:
    with pytest.raises(BuildError, match="nothing was measured"):
        Row.of("synthetic:10", "scons", "no-op", [])
    with pytest.raises(BuildError, match="runs of one case ran 0 and 7 commands"):
        Row.of("synthetic:10", "scons", "no-op", [run(1), run(1, ran=7)])


@pytest.mark.parametrize(
    ("printed", "count"),
    [
        ("total  0.2 s, 0 actions run, 6000 up to date", 0),
        ("cache  40 hits, 2 misses\ntotal  1.0 s, 2 actions run, 0 skipped", 42),
        ("[1/3] cc\n[2/3] cc\n[3/3] cc\n", 3),
        ("ninja: no work to do.\n", 0),
        ("INFO: 303 processes: 150 internal, 153 local.", 153),
        ("INFO: 1 process: 1 internal.", 0),
        ("INFO: 1,028 processes: 26 internal, 1,002 local.", 1002),
        ("INFO: 303 processes: 3 action cache hit, 150 internal, 153 local.", 153),
    ],
)
def test_commands_are_counted_from_what_is_printed(printed: str, count: int) -> None:
    assert commands_of(printed) == count


def test_the_memory_of_the_benchmark_is_not_charged_to_what_it_starts(tmp_path: Path) -> None:
    ballast = b"x" * 200_000_000
    assert measured([sys.executable, "-I", "-c", "pass"], tmp_path).megabytes < len(ballast) / 2e6


def test_a_build_that_fails_ends_the_measurement_with_its_last_lines(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"sh ended with exit code 3") as caught:
        measured(["sh", "-c", "echo about to fail; exit 3"], tmp_path)
    assert "about to fail" in str(caught.value)


def test_the_table_sets_each_row_beside_ninja() -> None:
    lines = table([row("synthetic:10", "scons", "no-op", 0.3), row("synthetic:10", "ninja", "no-op", 0.2), row("clang", "scons", "x", 1)])
    assert lines.splitlines()[2:] == [
        "| synthetic:10 | no-op | scons | 0.30 | 0.15 | 50 | 0 | 1.50 | 1.50 |",
        "| synthetic:10 | no-op | ninja | 0.20 | 0.10 | 50 | 0 |  |  |",
        "| clang | x | scons | 1.00 | 0.50 | 50 | 0 |  |  |",
    ]


def test_verdicts_say_what_is_met_and_what_is_not() -> None:
    rows = [row("synthetic:6000", "scons", "no-op", 0.3), row("synthetic:6000", "ninja", "no-op", 0.1)]
    said = [str(verdict) for verdict in verdicts(rows)]
    assert "NOT MET no-op, 6,000 units: CPU over Ninja's: 3x (at most 2x)" in said
    assert "ok      no-op, 6,000 units: wall: 0.3 s (at most 0.4 s)" in said
    assert not [line for line in said if "12,000" in line or "XNNPACK" in line]


def test_commands_beyond_the_expected_are_not_met() -> None:
    found = verdicts([row("synthetic:10", "scons", "deep header", 1, ran=12, expected=10), row("synthetic:10", "ninja", "x", 1, 9, 1)])
    assert [(verdict.value, verdict.met) for verdict in found] == [(2, False)]


def test_every_target_has_a_title_of_its_own() -> None:
    assert len({target.title for target in TARGETS}) == len(TARGETS)


def test_json_keeps_every_run_and_what_was_skipped(tmp_path: Path) -> None:
    rows = [row("synthetic:10", "scons", "no-op", 0.3)]
    kept = tmp_path / "build" / "speed.json"
    write_json(rows, verdicts(rows), {"cores": 2}, {"bazel": "Bazel is not here"}, kept)
    assert read_rows(kept) == rows and "Bazel is not here" in kept.read_text()
    assert latest([*read_rows(kept), row("synthetic:10", "scons", "no-op", 0.2)]) == [row("synthetic:10", "scons", "no-op", 0.2)]


def test_rows_of_an_earlier_run_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "speed.json").write_text('{"rows": [{"project": "clang"}]}')
    for name in ("speed.json", "absent.json"):
        assert main(["--rows", "clang", "--also", str(tmp_path / name)]) == 2
        assert "no rows of an earlier run" in (said := capsys.readouterr().err) and name in said


def test_an_unknown_row_names_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_row("synthetic:12000") == "synthetic:12000"
    for name in ("synthetic", "synthetic:0", "synthetic:many", "bazel:1"):
        with pytest.raises(BuildError, match=f"no row '{name}'"):
            check_row(name)
    assert main(["--rows", "xnpack"]) == 2
    assert "no row 'xnpack'" in (said := capsys.readouterr().err) and "xnnpack" in said


def test_a_plot_without_matplotlib_is_refused_at_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["--rows", "clang", "--plot", "speed.png"]) == 2
    assert "pip install --require-hashes -r tests/bench/requirements.txt" in capsys.readouterr().err


def test_a_row_that_cannot_be_measured_says_why(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="Bazel is not here"):
        measure_row("bazel", tmp_path, Repeat(1, 1), print)
    for program in ("absent-program", sys.executable):
        with pytest.raises(BuildError, match="Bazel is not here, or has no rules"):
            measure_row("bazel", tmp_path, Repeat(1, 1), print, Bazel(program, tmp_path / "absent"))


def test_one_file_of_a_read_only_tree_can_be_edited(tmp_path: Path) -> None:
    for name in ("a/b/edited.cc", "a/b/beside.cc", "a/other.cc", "top/file.cc"):
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(f"{name}\n")
    edit(editable(tmp_path / "tree", tmp_path / "copy", "a/b/edited.cc"))
    assert (tmp_path / "tree/a/b/edited.cc").read_text() == "a/b/edited.cc\n"
    assert (tmp_path / "copy/a/b/edited.cc").read_text().startswith("a/b/edited.cc\n// ")
    for name in ("a/b/beside.cc", "a/other.cc", "top/file.cc"):
        assert (tmp_path / "copy" / name).read_text() == f"{name}\n"
    with pytest.raises(FileNotFoundError):
        editable(tmp_path / "tree", tmp_path / "other", "a/absent.cc")
