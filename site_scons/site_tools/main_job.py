"""SCons tool: the main job over typed options: lock, toolchain, build folder, and the goals that are written while reading.

job = env.MainJob(options)
env.WriteReports(job, analysis)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from litert_build.bazel.analysis import Analysis
from litert_build.job import Job
from litert_build.options import Options, find_lock
from litert_build.policy.targets import find_target
from litert_build.reports.actions_json import write_actions
from litert_build.reports.compiledb import write_compiledb
from litert_build.sources.lock import Lock
from litert_build.toolchains import find_toolchain

READING_GOALS = ("fetch", "compiledb", "actions")


def generate(env: Any) -> None:
    env.AddMethod(main_job, "MainJob")
    env.AddMethod(write_reports, "WriteReports")


def exists(env: Any) -> bool:
    return True


def main_job(env: Any, options: Options) -> Job:
    """Return the job of the options' lock, target and toolchain."""
    lock = Lock.read(find_lock(options, Path(env.Dir("#third_party/refs").abspath)))
    target = find_target(options["target"])
    tools = {name: options[name] for name in ("cc", "cxx", "sysroot", "runtime")}
    toolchain = find_toolchain(options["toolchain"], target, **tools)
    return Job(options, lock, target, toolchain, env.BuildFolder(options, lock.ref))


def write_reports(env: Any, job: Job, analysis: Analysis) -> None:
    """Write what the goals compiledb and actions ask for; ends the run where nothing else was asked."""
    compiles, say = analysis.actions.compiles(), env["CONSOLE"].say
    if "actions" in job.options.goals:
        file = job.root / "actions.json"
        say(f"{write_actions(compiles, file)} compiles in {file}")
    if "compiledb" in job.options.goals:
        file = Path(env.Dir("#").abspath, job.options["build_dir"]).parent / "compile_commands.json"
        say(f"{write_compiledb(compiles, job.toolchain, root=job.root, file=file)} compiles in {file}")
    if "fetch" in job.options.goals:
        say(f"{len(job.lock.repositories)} repositories of {job.lock.ref} are in place")
    asked = (*job.options.goals, *job.options.files)
    if asked and all(goal in READING_GOALS for goal in asked):
        sys.exit(0)
