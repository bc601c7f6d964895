"""A build that ends between a step and those that read what it made: the next one runs them, and nothing was called complete."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from litert_build.incremental.commands import Command
from litert_build.incremental.database import Database
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.session import Session
from litert_build.incremental.steps import Step
from litert_build.reports.progress import Console


def step(script: str, inputs: tuple[str, ...], output: str, *, depfile: str = "") -> Step:
    command = Command("process", ("/bin/sh", "-c", script), (output,), (("PATH", "/usr/bin:/bin"),), depfile=depfile)
    return Step(output, inputs, (output,), script.encode(), command, reports_inputs=bool(depfile))


def session(folder: Path, *, declared: bool) -> Session:
    """Return a run over a generator, a unit that reads what it makes (and says so, or only its depfile does) and a link of that."""
    before = ("made.h",) if declared else ()
    steps = [
        step("cp made.in made.h", ("made.in",), "made.h"),
        step("cat a.c made.h > a.o; echo a.o: a.c made.h > a.d", ("a.c", *before), "a.o", depfile="a.d"),
        step("cp a.o a.so", ("a.o",), "a.so"),
    ]
    opened = BuildFolder(folder, folder / ".build", Database.open(folder / ".build", folder))
    return Session(opened, steps, Console(io.StringIO()))


def build(run: Session, *keys: str) -> bool:
    """Run these steps, as far as the session would, and end it. Returns whether it was complete."""
    pending = [step.key for step in run.pending()]
    assert all(run.perform(key) == 0 for key in keys if key in pending)
    complete = run.complete()
    run.finish()
    return complete


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Return a folder in which everything is up to date, and the generator's input then changed."""
    for name, text in (("made.in", "1\n"), ("a.c", "int a;\n")):
        (tmp_path / name).write_text(text)
    time.sleep(0.03)  # a file as young as that may still be written: it is not trusted
    assert build(session(tmp_path, declared=True), "made.h", "a.o", "a.so")
    (tmp_path / "made.in").write_text("2\n")
    return tmp_path


@pytest.mark.parametrize("declared", [True, False])
def test_who_reads_what_a_generator_made_before_the_end(built: Path, *, declared: bool) -> None:
    assert not build(session(built, declared=declared), "made.h")
    run = session(built, declared=declared)
    assert [step.key for step in run.pending()] == ["a.o", "a.so"]
    assert (run.perform("a.o"), (built / "a.o").read_text()) == (0, "int a;\n2\n")


def test_a_link_that_no_goal_of_the_build_asked_for(built: Path) -> None:
    assert not build(session(built, declared=True), "made.h", "a.o")
    assert [step.key for step in session(built, declared=True).pending()] == ["a.so"]


def test_a_generator_that_made_the_same_again_leaves_nobody_to_run(built: Path) -> None:
    (built / "made.in").write_text("1\n")
    assert build(session(built, declared=True), "made.h")
    assert session(built, declared=True).pending() == []
