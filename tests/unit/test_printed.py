"""What commands print goes into one file a thread, which is empty again before the next command writes to it."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from litert_build.incremental.commands import Command, Commands
from litert_build.incremental.printed import nothing, printed, taken


def say(text: str) -> None:
    subprocess.run(["/bin/sh", "-c", f"printf '%s' '{text}'"], stdout=printed(), check=True)


def test_each_command_starts_with_an_empty_file() -> None:
    say("a longer text")
    assert taken(printed()) == b"a longer text"
    say("short")
    assert taken(printed()) == b"short"
    assert taken(printed()) == b""


def test_a_thread_has_its_own() -> None:
    say("mine")
    other: list[bytes] = []
    thread = threading.Thread(target=lambda: (say("another"), other.append(taken(printed()))))
    thread.start()
    thread.join()
    assert (other, taken(printed())) == ([b"another"], b"mine")


def test_more_than_a_pipe_holds() -> None:
    subprocess.run(["head", "-c", "1000000", "/dev/zero"], stdout=printed(), check=True)
    assert taken(printed()) == bytes(1_000_000)


def test_nothing_is_read_to_its_end() -> None:
    assert subprocess.run(["cat"], stdin=nothing(), capture_output=True, check=True).stdout == b""


def test_what_a_command_leaves_running_does_not_delay_its_end(tmp_path: Path) -> None:
    """The process that stays behind holds what a pipe would have been read from until it ends, which here nothing else makes it do."""
    gate = tmp_path / "gate"
    subprocess.run(["mkfifo", str(gate)], check=True)
    script = f"echo said; touch out; {{ read x < {gate}; }} & :"
    outcome = Commands(tmp_path).run(Command("process", ("/bin/sh", "-c", script), ("out",)))
    assert (outcome.code, outcome.output) == (0, "said\n")
    gate.write_text("go\n")


def test_a_turn_is_given_on_when_the_process_is_over_and_before_its_report_is_read(tmp_path: Path) -> None:
    seen: list[bool] = []
    depfile = tmp_path / "a.d"
    command = Command("process", ("/bin/sh", "-c", "echo > a.o; echo a.o: a.c > a.d"), ("a.o",), depfile="a.d")
    assert Commands(tmp_path).run(command, lambda: seen.append(depfile.exists())).read == ("a.c",)
    assert (seen, depfile.exists()) == ([True], False)
