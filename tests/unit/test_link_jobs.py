"""As many links run at once as the session is told, whatever the number of jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from litert_build.incremental.commands import Command
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.session import Session
from litert_build.incremental.steps import Step


class Linker:
    """Stands for the commands: each waits until `links` of them run together, and the most that ever did is counted."""

    def __init__(self, links: int) -> None:
        self.together = threading.Barrier(links)
        self.lock = threading.Lock()
        self.running = self.most = 0

    def run(self, command: Command, ended: Callable[[], None]) -> Outcome:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.together.wait(60)
        time.sleep(0.02)
        with self.lock:
            self.running -= 1
        return Outcome(0)


@pytest.mark.parametrize("links", [1, 2])
def test_no_more_links_run_at_once_than_asked_for(links: int) -> None:
    steps = [step(f"lib{number}.so") for number in range(4)]
    database: Any = SimpleNamespace(files=SimpleNamespace(full=str), times={})
    console: Any = SimpleNamespace(started=str, finished=lambda *words: None, verbose=False)
    folder: Any = SimpleNamespace(database=database, root=Path("root"))
    linker: Any = Linker(links)
    session = Session(folder, steps, console, linker, decides=False, jobs=3, link_jobs=links)
    workers = [threading.Thread(target=session.perform, args=(step.key,)) for step in steps]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (linker.most, len(session.ran)) == (links, 4)


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_more_commands_run_at_once_than_jobs_whatever_the_number_of_threads(jobs: int) -> None:
    steps = [replace(step(f"{number}.o"), work=Command("process", ("cc",), (f"{number}.o",))) for number in range(4)]
    database: Any = SimpleNamespace(files=SimpleNamespace(full=str), times={})
    console: Any = SimpleNamespace(started=str, finished=lambda *words: None, verbose=False)
    folder: Any = SimpleNamespace(database=database, root=Path("root"))
    compiler: Any = Linker(jobs)
    session = Session(folder, steps, console, compiler, decides=False, jobs=jobs)
    workers = [threading.Thread(target=session.perform, args=(step.key,)) for step in steps]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (compiler.most, len(session.ran)) == (jobs, 4)


def step(output: str) -> Step:
    command = Command("process", ("ld", "@a.rsp"), (output,), response_file="a.rsp")
    return Step(title=f"Link {output}", inputs=(), outputs=(output,), signature=b"", work=command)
