"""SCons tool: the main job over typed options, and the goals that are answered while reading, without a node.

job = env.MainJob(options, lock, folder)
env.AnswerWhileReading(job)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from litert_build.incremental.folder import BuildFolder
from litert_build.job import Job
from litert_build.options import Options
from litert_build.reports.actions_json import write_actions
from litert_build.reports.compiledb import write_compiledb
from litert_build.sources.lock import Lock

READING_GOALS = frozenset({"fetch", "compiledb", "actions"})


def generate(env: Any) -> None:
    env.AddMethod(main_job, "MainJob")
    env.AddMethod(answer_while_reading, "AnswerWhileReading")


def exists(env: Any) -> bool:
    return True


def main_job(env: Any, options: Options, lock: Lock, folder: BuildFolder) -> Job:
    """Return the job of the options' lock, target and toolchain, in its own build folder."""
    return Job.of(options, lock, folder)


def answer_while_reading(env: Any, job: Job) -> None:
    """Do what fetch, compiledb and actions ask for; ends the run where nothing else was asked."""
    goals, say = set(job.options.goals), env["CONSOLE"].say
    if not goals & READING_GOALS:
        return
    if "fetch" in goals:
        job.fetch()
        say(f"{len(job.lock.repositories)} repositories of {job.lock.ref} are in place")
    if goals & {"actions", "compiledb"}:
        compiles = job.evaluate().actions.compiles()
        if "actions" in goals:
            file = job.root / "actions.json"
            say(f"{write_actions(compiles, file)} compiles in {file}")
        if "compiledb" in goals:
            file = Path(env.Dir("#").abspath, job.options["build_dir"]).parent / "compile_commands.json"
            say(f"{write_compiledb(compiles, job.toolchain, root=job.root, file=file)} compiles in {file}")
    if goals <= READING_GOALS and not job.options.files:
        sys.exit(0)
    for goal in goals & READING_GOALS:
        env.Alias(goal, [])
