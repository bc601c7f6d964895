"""Owns one run of a build: which steps may have to run, and running them.

session = Session(folder, steps, console)
for step in session.pending():          # the only ones a build engine has to know
    session.perform(step.key)           # in any order in which producers come first; safe from several threads
session.finish()

A step is stale where the database does not hold it, and in doubt where an input is the output of a stale or doubtful step. What is in doubt
is decided when its turn comes: a generator that makes the same file again makes nobody stale.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Sequence

from litert_build.errors import BuildError
from litert_build.incremental.cache import ObjectCache
from litert_build.incremental.commands import Command, Commands
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.search import SearchPlaces, include_folders, is_shadowed, places_below, probes
from litert_build.incremental.steps import Step
from litert_build.reports.progress import Console


class Session:
    """Decides and runs the steps of one build; `ran`, `restored` and `failed` are the keys that were. With `decides` false somebody else
    decides, and nothing is recorded."""

    def __init__(
        self, folder: BuildFolder, steps: Sequence[Step], console: Console, commands: Commands | None = None, *, decides: bool = True
    ) -> None:
        self.decides = decides
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

    def pending(self) -> list[Step]:
        """The steps that are stale or in doubt, producers first."""
        self._drop_shadowed()
        unsure: set[str] = set()
        result = []
        for step in self.steps.values():
            if not self.database.holds(step.key, step.signature) or not unsure.isdisjoint(step.inputs):
                unsure.update(step.outputs)
                result.append(step)
        return result

    def _drop_shadowed(self) -> None:
        """Make those compiles stale that would find another header now: one that appeared earlier on their include path."""
        changed = self.database.changed_folders()
        if not changed:
            return
        asked: dict[str, list[str]] = {}
        for step in self.steps.values():
            if step.reports_inputs and isinstance(step.work, Command) and step.key in self.database.records:
                read = self.database.inputs(step.key)[len(step.outputs) :]
                folders = include_folders(step.work.argv)
                spelled = {name for path in read for name in self._probes(path, asked)}
                places = {
                    place: names
                    for top in changed
                    for place, names in places_below(top, (*read, *spelled), self.database.files.full).items()
                }
                if any(is_shadowed(folders, read, place, names, spelled) for place, names in places.items()):
                    self.database.drop(step.key)

    def _probes(self, path: str, asked: dict[str, list[str]]) -> list[str]:
        if path not in asked:
            try:
                with open(self.database.files.full(path), "rb") as stream:  # noqa: PTH123 (each header of the build)
                    asked[path] = probes(stream.read())
            except OSError:
                asked[path] = []
        return asked[path]

    def perform(self, key: str) -> int:
        """Run a step unless it turns out to be up to date. Returns 0, or the exit code of a failure that was printed. Never raises: an
        exception in a worker of the build engine would leave the others waiting."""
        step = self.steps[key]
        try:
            if self.decides and self.database.holds_now(key, step.signature):
                self.database.clear(key)
                self._console.skipped(step.title)
                return 0
            return self._run(step)
        except BuildError as error:
            return self._failed(step, Outcome(1, f"{error}\n"))
        except Exception:
            return self._failed(step, Outcome(1, traceback.format_exc()))

    def _run(self, step: Step) -> int:
        self._console.started(step.title)
        reason = self.database.reason(step.key, step.signature) if self._console.verbose else ""
        started = self.database.begin(step.key) if self.decides else 0
        clock = time.monotonic()
        outcome = self._commands.run(step.work) if isinstance(step.work, Command) else step.work()
        if outcome.code:
            return self._failed(step, outcome)
        if self.decides:
            self._record(step, outcome, started, time.monotonic() - clock)
        with self._lock:
            self.ran[step.key] = None
        self._console.finished(step.title, outcome.output, step.key, reason)
        return 0

    def restore(self, key: str) -> bool:
        """Take a compile's object from the shared cache. Returns False where it has to be compiled, or is up to date as it is."""
        step = self.steps[key]
        if self.cache is None or not step.reports_inputs or self.database.holds_now(key, step.signature):
            return False
        started = self.database.begin(key)
        try:
            read = self.cache.restore(step)
            if read is None:
                return False
            self._record(step, Outcome(0, read=read), started, 0.0)
        except Exception:  # whatever the cache does, the step can be run
            return False
        with self._lock:
            self.restored.append(key)
        self._console.finished(step.title, "", key, "restored from the cache")
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
        return not self.failed and all(self.database.holds(step.key, step.signature) for step in self.steps.values())

    def finish(self) -> None:
        """Save the database, and withdraw what a failed build leaves from an earlier one. Called once, however the build ended."""
        if self.failed:
            for step in self.steps.values():
                if step.withdrawn:
                    for output in step.outputs:
                        (self.root / output).unlink(missing_ok=True)
        if self.decides:
            self.database.keep_only(set(self.steps))
            self.database.save()
        if self.cache is not None:
            self.cache.finish()
