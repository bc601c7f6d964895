"""Owns the timeline of a build, in the format that chrome://tracing and Perfetto read ("Trace Event Format", complete events).

timeline = Timeline()
with timeline.span("Compile c/engine.cc", key="engine.pic.o"):
    ...
timeline.write(Path("trace.json"))
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Timeline:
    """What ran when, in which lane (a thread that runs steps)."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._lanes: dict[int, int] = {}
        self._events: list[dict[str, object]] = []

    @contextmanager
    def span(self, name: str, **args: str) -> Iterator[None]:
        """Record the time that the body takes."""
        begin = time.monotonic()
        try:
            yield
        finally:
            end = time.monotonic()
            with self._lock:
                lane = self._lanes.setdefault(threading.get_ident(), len(self._lanes))
                times = {"ts": round((begin - self._start) * 1e6), "dur": round((end - begin) * 1e6)}
                self._events.append({"name": name, "ph": "X", "pid": 1, "tid": lane, **times, "args": args})

    def write(self, file: Path) -> None:
        """Write the events to `file`, in the order in which they ended."""
        file.write_text(json.dumps({"traceEvents": self._events, "displayTimeUnit": "ms"}), encoding="utf-8")
