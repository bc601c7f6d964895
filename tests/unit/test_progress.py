"""The console: the progress line on a terminal only, whole outputs, failures again at the end, the summary."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from litert_build.reports.progress import Console, duration
from litert_build.reports.summary import Product, size_text, summary_text
from litert_build.reports.trace import Timeline


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_line_is_for_terminals() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        console = Console(stream, total=4)
        console.started("Compile a.cc")
        console.finished("Compile a.cc", "")
        console.seconds_left = lambda: 65.0
        console.started("Compile b.cc")
    assert "[  0%] Compile a.cc" in terminal.getvalue() and "[ 25%, 65 s left] Compile b.cc" in terminal.getvalue()
    assert pipe.getvalue() == ""


def test_a_console_that_nobody_reads_any_more_goes_on() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        console = Console(stream)
        console.failed("Compile b.cc", "//:b", 1, "error: three\n" * 10_000)
        console.repeat_failures()


def test_output_is_whole_and_failures_come_again() -> None:
    stream = io.StringIO()
    console = Console(stream)
    console.finished("Compile a.cc", "warning: one\nwarning: two\n")
    console.failed("Compile b.cc", "//:b (BUILD:3)", 1, "error: three\n")
    console.finished("Compile c.cc", "warning: four\n")
    console.repeat_failures()
    text = stream.getvalue()
    assert "Compile a.cc\nwarning: one\nwarning: two\n" in text
    assert text.endswith("1 step failed:\n\nFAILED: Compile b.cc\n  //:b (BUILD:3)\nerror: three\n  exit code 1\n")
    assert text.count("error: three") == 2


def test_the_summary_shows_what_was_made(tmp_path: Path) -> None:
    (tmp_path / "checks.json").write_text(json.dumps({"rules": [{"status": "passed"}, {"status": "passed"}]}))
    (tmp_path / "host.so").write_bytes(bytes(1500))
    products = [Product("host", tmp_path / "host.so"), Product("checks", tmp_path / "checks.json"), Product("bundle", tmp_path / "none")]
    text = summary_text(products, ran=0, skipped=9, seconds=0.25, failed=0)
    assert text.splitlines() == [
        f"host    {tmp_path}/host.so, 1.5 kB",
        f"checks  2 rules passed, {tmp_path}/checks.json",
        "total   0.2 s, up to date, 0 actions run, 9 skipped",
    ]
    assert summary_text(products, ran=3, skipped=5, seconds=1, failed=1) == "total  1.0 s, 1 failed, 3 actions run, 5 skipped"


@pytest.mark.parametrize(("size", "text"), [(12, "12 bytes"), (1500, "1.5 kB"), (131_785_976, "131.8 MB")])
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(("seconds", "text"), [(4, "4 s"), (119, "119 s"), (600, "10 min"), (7200, "2 h")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_timeline_is_complete_events(tmp_path: Path) -> None:
    timeline = Timeline()
    with timeline.span("Compile a.cc", key="a.o"):
        pass
    timeline.write(tmp_path / "trace.json")
    event = json.loads((tmp_path / "trace.json").read_text())["traceEvents"][0]
    assert (event["name"], event["ph"], event["tid"], event["args"]) == ("Compile a.cc", "X", 0, {"key": "a.o"})


def test_steps_that_were_not_reached_are_counted_and_nothing_is_called_up_to_date() -> None:
    assert summary_text([], ran=0, skipped=3, seconds=1.0, failed=0, left=4) == "total  1.0 s, 0 actions run, 3 skipped, 4 left to do"
    assert summary_text([], ran=1, skipped=3, seconds=1.0, failed=2, left=4).endswith("2 failed, 1 actions run, 3 skipped, 4 left to do")
