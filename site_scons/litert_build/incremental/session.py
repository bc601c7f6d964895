"""Owns one run of a build: which steps may have to run, and running them.

session = Session(folder, steps, console)
for step in session.pending():          # the only ones a build engine has to know
    session.perform(step.key)           # in any order in which producers come first; safe from several threads
session.finish()

A step is stale where the database does not hold it, and in doubt where an input is the output of a stale or doubtful step. What is in doubt
is decided when its turn comes: a generator that makes the same file again makes nobody stale.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

from litert_build.errors import BuildError
from litert_build.incremental.cache import ObjectCache
from litert_build.incremental.commands import Command, Commands
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.search import SearchPlaces, include_folders
from litert_build.incremental.shadows import shadowed_steps
from litert_build.incremental.steps import Step, needed
from litert_build.reports.progress import Console
from litert_build.reports.trace import Timeline


class Turn:
    """One of the commands that run at once: taken on entry, and given on when the command has ended, before its outcome is dealt with."""

    def __init__(self, turns: threading.Semaphore) -> None:
        self._turns, self._taken = turns, False

    def __enter__(self) -> Turn:
        self._turns.acquire()
        self._taken = True
        return self

    def end(self) -> None:
        """Let the next command run."""
        if self._taken:
            self._taken = False
            self._turns.release()

    def __exit__(self, *_: object) -> None:
        self.end()


class Session:
    """Decides and runs the steps of one build; `ran`, `restored` and `failed` are the keys that were.

    The outcome of each command passes `inspect`. With `decides` false somebody else decides, and nothing is recorded. At most `jobs`
    commands run at once, whatever the number of threads that perform steps, and at most `link_jobs` of them are links.
    """

    def __init__(
        self,
        folder: BuildFolder,
        steps: Sequence[Step],
        console: Console,
        commands: Commands | None = None,
        *,
        decides: bool = True,
        jobs: int = 1,
        link_jobs: int = 1,
    ) -> None:
        self.decides = decides
        self.folder = folder
        self.database = folder.database
        self._commands = commands or Commands(folder.root)
        self._places = SearchPlaces(folder.database.files.full)
        self.root = folder.root
        self._console = console
        self._lock = threading.Lock()
        self.steps = {step.key: step for step in steps}
        self.ran: dict[str, None] = {}
        self.failed: list[str] = []
        self.restored: list[str] = []
        self.cache: ObjectCache | None = None
        self.inspect: Callable[[Step, Outcome], Outcome] = lambda step, outcome: outcome
        self.timeline = Timeline()
        self._held: set[str] = set()
        self._pending: set[str] = set()
        self._average = 1.0
        self._linkers = threading.BoundedSemaphore(link_jobs)
        self._turns = threading.BoundedSemaphore(jobs)

    def pending(self) -> list[Step]:
        """Return the steps that are stale or in doubt, producers first."""
        self.database.keep_only({step.key: step.outputs for step in self.steps.values()})
        for key in shadowed_steps(self.database, self.steps.values()):
            self.database.drop(key)
        times = self.database.times
        self._average = sum(times.values()) / len(times) if times else 1.0
        return self._unsure()[0]

    def _unsure(self) -> tuple[list[Step], list[Step]]:
        """Return the steps that are stale or in doubt, and those among them that no other of them has to come before."""
        unsure: set[str] = set()
        result, ready = [], []
        for step in self.steps.values():
            waits = not unsure.isdisjoint(step.inputs)
            if waits or not self.database.holds(step.key, step.signature):
                unsure.update(step.outputs)
                result.append(step)
                if not waits:
                    ready.append(step)
        self._pending = {step.key for step in result}
        return result, ready

    def restore_ready(self, wanted: Iterable[str]) -> list[Step]:
        """Take from the shared cache, ahead of the build, every object that the `wanted` outputs need and that nothing has to be made for
        first. Returns the steps that are pending then. An object restored here never becomes a node: half the cost of a hit.

        One thread does it: two hinder each other in the interpreter, and took a fifth longer. The main one waits for the interrupt."""
        keys = {step.key for step in needed(list(self.steps.values()), wanted)}
        left = [step.key for step in reversed(self._unsure()[1]) if step.reports_inputs and step.key in keys]

        def work() -> None:
            with suppress(IndexError):
                while True:
                    self.restore(left.pop())

        with ThreadPoolExecutor(1) as pool:
            try:
                pool.submit(work).result()
            finally:
                left.clear()  # an interrupt: the thread ends after the object in hand
        self.database.suspect_readers()
        return self._unsure()[0]

    def perform(self, key: str) -> int:
        """Run a step unless it turns out to be up to date. Returns 0, or the exit code of a failure that was printed. Never raises: an
        exception in a worker of the build engine would leave the others waiting."""
        step = self.steps[key]
        try:
            if self.decides and self.database.holds_now(key, step.signature):
                self.database.clear(key)
                self._held.add(key)
                self._console.skipped(step.title)
                return 0
            return self._run(step)
        except BuildError as error:
            return self._failed(step, Outcome(1, f"{error}\n"))
        except Exception:
            return self._failed(step, Outcome(1, traceback.format_exc()))

    def _run(self, step: Step) -> int:
        is_link = isinstance(step.work, Command) and step.work.response_file
        with self._linkers if is_link else nullcontext(), Turn(self._turns) as turn:
            self._console.started(step.title)
            reason = self.database.reason(step.key, step.signature) if self._console.verbose else ""
            started = self.database.begin(step.key) if self.decides else 0
            clock = time.monotonic()
            with self.timeline.span(step.title, key=step.key):
                outcome = self._commands.run(step.work, turn.end) if isinstance(step.work, Command) else step.work()
            seconds = time.monotonic() - clock
        if isinstance(step.work, Command):
            outcome = self.inspect(step, outcome)
        if outcome.code:
            return self._failed(step, outcome)
        if self.decides:
            self._record(step, outcome, started, seconds)
        with self._lock:
            self.ran[step.key] = None
        self._console.finished(step.title, outcome.output, step.key, reason)
        return 0

    def expected(self, key: str) -> float:
        """How many seconds the step may take: what it took last time, or what an average step took."""
        times = self.database.times
        return times.get(key) or (self._average if times else 1.0)

    def cost(self, output: str) -> tuple[float, int]:
        """What orders outputs by the time they take: the seconds expected and, as long as no step's are known, the size of a source."""
        step = self.steps.get(output)
        size = 0
        if not self.database.times and step is not None and step.reports_inputs:
            with suppress(OSError):  # a source that a step makes, which has not run
                size = os.stat(os.path.join(self.root, step.inputs[0])).st_size  # noqa: PTH116, PTH118 (one for each unit)
        return self.expected(output), size

    def seconds_left(self, jobs: int) -> float:
        """How long the steps that are still pending may take on `jobs` cores."""
        done = {*self.ran, *self.failed, *self.restored, *self._held}
        return sum(self.expected(key) for key in self._pending - done) / jobs

    def restore(self, key: str) -> bool:
        """Take a compile's object from the shared cache. Returns False where it has to be compiled, or is up to date as it is."""
        step = self.steps[key]
        if self.cache is None or not step.reports_inputs or self.database.holds_now(key, step.signature):
            return False
        started = self.database.begin(key)
        try:
            read = self.cache.restore(step)
            outcome = Outcome(1) if read is None else self.inspect(step, Outcome(0, read=read))
            if outcome.code:
                return False
            self._record(step, outcome, started, 0.0)
        except Exception:  # whatever the cache does, the step can be run
            return False
        with self._lock:
            self.restored.append(key)
        self._console.finished(step.title, outcome.output, key, "restored from the cache")
        return True

    def keep(self, key: str) -> None:
        """Put the object that a compile has just made into the shared cache."""
        step = self.steps[key]
        if self.cache is not None and step.reports_inputs and key in self.ran and key in self.database.records:
            self.cache.store(step, self.database.inputs(key)[len(step.outputs) :])

    def _record(self, step: Step, outcome: Outcome, started: int, seconds: float) -> None:
        read = outcome.read or step.inputs if step.reports_inputs else step.inputs
        self.database.record(step.key, step.signature, inputs=read, outputs=step.outputs, started=started, seconds=seconds)
        if step.reports_inputs and isinstance(step.work, Command):
            with self._lock:
                places = self._places.watched(include_folders(step.work.argv), read)
            self.database.watch(places)

    def _failed(self, step: Step, outcome: Outcome) -> int:
        with self._lock:
            self.failed.append(step.key)
        place = " ".join(part for part in (step.label, f"({step.location})" if step.location else "") if part)
        self._console.failed(step.title, place, outcome.code, outcome.output)
        return outcome.code

    def complete(self) -> bool:
        """Whether every step is up to date now."""
        self.database.suspect_readers()
        return not self.failed and all(self.database.holds(step.key, step.signature) for step in self.steps.values())

    def outdated(self) -> set[str]:
        """Return the outputs of earlier builds that the steps of now would make anew, but that no goal of this run reached."""
        found: set[str] = set()
        left = self._pending - {*self.ran, *self.restored, *self._held}
        for step in self.steps.values():
            if step.key in left and (not found.isdisjoint(step.inputs) or not self.database.holds_now(step.key, step.signature)):
                found.update(step.outputs)
        return found

    def finish(self) -> None:
        """Save the database, and withdraw what a failed build, or one that ended before it, leaves from an earlier one. Called once,
        however the build ended."""
        outdated = self.outdated() if self.ran else set()
        for step in self.steps.values():
            if step.withdrawn and (self.failed or not outdated.isdisjoint(step.outputs)):
                for output in step.outputs:
                    (self.root / output).unlink(missing_ok=True)
        if self.decides:
            self.database.suspect_readers()
            self.database.see_own_folders()
            self.database.save()
        if self.cache is not None:
            self.cache.finish()
