r"""Owns what a running build prints: a progress line on a terminal, each step's output whole, and every failure again at the end.

console = Console(sys.stdout, total=60)
console.started("Compile c/engine.cc")
console.failed("Compile c/engine.cc", "//c:engine", 1, "engine.cc:3: error: ...\n")
console.repeat_failures()
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from typing import TextIO


class Console:
    """Prints one step's text at a time, whichever thread it comes from. `total` is the number of steps that may run; a `verbose` console
    names each step that ran and why."""

    def __init__(self, stream: TextIO, total: int = 0, *, verbose: bool = False) -> None:
        self._stream = stream
        self.verbose = verbose
        self._terminal = stream.isatty()
        self._lock = threading.Lock()
        self._done = 0
        self._line = ""
        self._failures: list[str] = []
        self.total = total
        self.seconds_left: Callable[[], float] | None = None

    def started(self, title: str) -> None:
        """A step begins: it is what the progress line shows."""
        with self._lock:
            self._progress(title)

    def skipped(self, title: str) -> None:
        """A step in doubt turned out to be up to date."""
        with self._lock:
            self._done += 1
            self._progress(title)

    def finished(self, title: str, output: str, key: str = "", reason: str = "") -> None:
        """A step ended well; what it printed (warnings) is shown whole."""
        with self._lock:
            self._done += 1
            if self.verbose:
                self._print(f"ran {key}: {reason}\n")
            if output:
                self._print(f"{title}\n{output.rstrip()}\n")

    def failed(self, title: str, place: str, code: int, output: str) -> None:
        """A step failed."""
        with self._lock:
            self._done += 1
            text = f"FAILED: {title}\n" + (f"  {place}\n" if place else "") + (f"{output.rstrip()}\n" if output.strip() else "")
            text += f"  exit code {code}\n"
            self._failures.append(text)
            self._print(text)

    def say(self, text: str) -> None:
        """Print a message of the build itself."""
        with self._lock:
            self._print(text.rstrip("\n") + "\n")

    def repeat_failures(self) -> None:
        """Print all failures together where there were several, or other output may stand between."""
        with self._lock:
            self._clear()
            if self._failures:
                count = len(self._failures)
                self._print(f"\n{count} step{'s' if count > 1 else ''} failed:\n\n" + "\n".join(self._failures))

    def _print(self, text: str) -> None:
        self._clear()
        put(self._stream, text)

    def _progress(self, title: str) -> None:
        if not self._terminal:
            return
        share = 100 * self._done // self.total if self.total else 0
        width = shutil.get_terminal_size().columns - 1
        left = f", {duration(self.seconds_left())} left" if self.seconds_left and self._done else ""
        line = f"[{share:3d}%{left}] {title}"
        line = line if len(line) <= width else f"{line[: width - 1]}…"
        self._clear()
        put(self._stream, line)
        self._line = line

    def _clear(self) -> None:
        if self._line:
            put(self._stream, "\r" + " " * len(self._line) + "\r")
            self._line = ""


def put(stream: TextIO, text: str = "") -> None:
    """Write `text` and flush. Where nobody reads any more (`scons | head -1`), this and all that follows goes nowhere: a build goes on,
    and its exit code says how it ended."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def duration(seconds: float) -> str:
    """Return a time as people read it: 42 s, 3 min, 2 h."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
