"""What a session takes from the shared cache before a build: what the goals need, and nothing that waits for a step."""

from __future__ import annotations

import io
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.incremental.cache import ObjectCache
from litert_build.incremental.commands import Command
from litert_build.incremental.database import Database
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.session import Session
from litert_build.incremental.steps import Step
from litert_build.reports.progress import Console


def session_of(folder: Path, steps: list[Step], cache: Path) -> Session:
    """Return a session over a folder that holds two sources."""
    build = BuildFolder.open(folder, print)
    for name in ("a.c", "b.c"):
        (folder / name).write_text(f"int {name[0]};\n")
    time.sleep(0.03)  # a file as young as that may still be written: it is not trusted
    session = Session(build, steps, Console(io.StringIO()))
    session.cache = ObjectCache(cache, build.database)
    return session


def reopened(session: Session) -> BuildFolder:
    """Return the folder as the next build finds it."""
    folder = session.folder
    return replace(folder, database=Database.open(folder.state, folder.root))


def unit(name: str, *before: str) -> Step:
    """Return a compile of `name`.c that copies it; it waits for `before`."""
    argv = ("/bin/sh", "-c", f"cp {name}.c {name}.o; echo {name}.o: {name}.c > {name}.d")
    command = Command("process", argv, (f"{name}.o",), (("PATH", "/usr/bin:/bin"),), depfile=f"{name}.d")
    return Step(f"Compile {name}.c", (f"{name}.c", *before), (f"{name}.o",), name.encode(), command, reports_inputs=True)


def generator() -> Step:
    command = Command("process", ("/bin/sh", "-c", "echo > made.h"), ("made.h",))
    return Step("Make made.h", (), ("made.h",), b"made", command)


def until_main_is_in(function: str) -> None:
    """Wait until a function of that name runs in the main thread; 10 s at most."""
    for _ in range(1000):
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        while frame is not None:
            if frame.f_code.co_name == function:
                return
            frame = frame.f_back
        time.sleep(0.01)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Return a cache that holds both objects."""
    session = session_of(tmp_path / "first", [unit("a"), unit("b")], tmp_path / "cache")
    for step in session.pending():
        assert session.perform(step.key) == 0
        session.keep(step.key)
    return tmp_path / "cache"


def test_what_no_goal_needs_is_left_alone(tmp_path: Path, filled: Path) -> None:
    session = session_of(tmp_path / "second", [unit("a"), unit("b")], filled)
    session.pending()
    assert [step.key for step in session.restore_ready(["b.o"])] == ["a.o"]
    assert session.restored == ["b.o"] and not (tmp_path / "second/a.o").exists()


def test_what_waits_for_a_step_is_left_to_its_turn(tmp_path: Path, filled: Path) -> None:
    session = session_of(tmp_path / "second", [generator(), unit("a", "made.h"), unit("b")], filled)
    session.pending()
    assert [step.key for step in session.restore_ready(["a.o", "b.o"])] == ["made.h", "a.o"]
    assert session.perform("made.h") == 0 and session.restore("a.o") and session.complete()


def test_who_reads_an_object_that_was_restored_runs(tmp_path: Path, filled: Path) -> None:
    link = Step("Link a.so", ("a.o",), ("a.so",), b"so", Command("process", ("/bin/cp", "a.o", "a.so"), ("a.so",)))
    steps = [unit("a"), link]
    other = session_of(tmp_path / "second", steps, tmp_path / "empty")
    (tmp_path / "second/a.c").write_text("int other;\n")
    time.sleep(0.03)
    assert [other.perform(step.key) for step in other.pending()] == [0, 0]
    other.finish()
    (tmp_path / "second/a.c").write_text("int a;\n")
    time.sleep(0.03)
    again = Session(reopened(other), steps, Console(io.StringIO()))
    again.cache = ObjectCache(filled, again.database)
    assert [step.key for step in again.pending()] == ["a.o", "a.so"]
    assert [step.key for step in again.restore_ready(["a.so"])] == ["a.so"]
    assert (again.perform("a.so"), (tmp_path / "second/a.so").read_text()) == (0, "int a;\n")


def test_an_object_that_is_not_there_stays_pending_and_counts_once(tmp_path: Path, filled: Path) -> None:
    session = session_of(tmp_path / "second", [unit("a"), unit("b")], filled)
    (tmp_path / "second/b.c").write_text("int other;\n")
    time.sleep(0.03)
    session.pending()
    assert [step.key for step in session.restore_ready(["a.o", "b.o"])] == ["b.o"]
    assert not session.restore("b.o") and session.cache and session.cache.text == "1 hits, 1 misses"


def test_an_interrupt_ends_it_after_the_object_in_hand(tmp_path: Path, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(tmp_path / "second", [unit("a"), unit("b")], filled)
    session.pending()
    begun: list[str] = []

    def slow(key: str) -> bool:
        begun.append(key)
        until_main_is_in("wait")
        time.sleep(0.05)  # past the last instruction before it waits
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        until_main_is_in("shutdown")  # it has told the thread, and waits for this object
        return False

    monkeypatch.setattr(session, "restore", slow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started with SIGINT ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            session.restore_ready(["a.o", "b.o"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert begun == ["a.o"] and session.perform("a.o") == 0
