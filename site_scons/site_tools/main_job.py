"""SCons tool: the main job over typed options, and what is answered while reading, without a node: `scons -c` and some goals.

env.CleanFolder(options, folder)
job = env.MainJob(options, lock.file, folder)
env.AnswerWhileReading(job)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from litert_build.cleaning import clean
from litert_build.errors import BuildError
from litert_build.incremental.folder import BuildFolder
from litert_build.job import Job
from litert_build.options import Options
from litert_build.reports.actions_json import write_actions
from litert_build.reports.compiledb import write_compiledb
from litert_build.reports.summary import shown
from litert_build.sources.lock import Lock
from SCons.Script import GetOption

READING_GOALS = frozenset({"fetch", "compiledb", "actions"})


def generate(env: Any) -> None:
    env.AddMethod(clean_folder, "CleanFolder")
    env.AddMethod(main_job, "MainJob")
    env.AddMethod(answer_while_reading, "AnswerWhileReading")


def exists(env: Any) -> bool:
    return True


def clean_folder(env: Any, options: Options, folder: BuildFolder) -> None:
    """Remove all that was made for this target and ref, where `scons -c` asks for it, say so and end the run."""
    if not GetOption("clean"):
        return
    named = " ".join((*options.goals, *options.files))
    if named:
        raise BuildError("-c removes all that was made for a target and ref", where=f"-c {named}", mend="scons -c, without goals")
    pretend = GetOption("no_exec")
    count = clean(folder.root, folder.state / "lock", pretend=pretend)
    env["CONSOLE"].say(f"{'would remove' if pretend else 'removed'} {count} files of {shown(folder.root)}")
    sys.exit(0)


def main_job(env: Any, options: Options, lock: Path, folder: BuildFolder) -> Job:
    """Return the job of a lock's file and of the options' target and toolchain, in its own build folder. Raises BuildError."""
    return Job.of(options, Lock.read(lock), folder)


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
