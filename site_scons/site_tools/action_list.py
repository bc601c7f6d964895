"""SCons tool: steps as SCons nodes. SCons orders and runs them; the dependency database decides which have to be.

env.DefineGoals(options, folder, steps, goals={"host": [library]})

Only steps that are stale or in doubt become nodes. A node is always "built", and its function leaves what is up to date as it is.
Inputs are order-only prerequisites: SCons neither hashes nor scans a file.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from litert_build.errors import BuildError
from litert_build.incremental.commands import Command, Commands, launcher_of
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.search import include_folders
from litert_build.incremental.session import Session
from litert_build.incremental.steps import Step
from litert_build.options import Options
from litert_build.reports.summary import Product
from litert_build.toolchains.limits import default_link_jobs
from SCons.Script import GetOption
from SCons.Script.Main import OptionsParser
from SCons.Tool import SourceFileScanner


def generate(env: Any) -> None:
    env.AddMethod(define_goals, "DefineGoals")


def exists(env: Any) -> bool:
    return True


def define_goals(
    env: Any,
    options: Options,
    folder: BuildFolder,
    steps: Sequence[Step],
    goals: Mapping[str, Sequence[str]],
    products: Sequence[Product] = (),
    read: Callable[[], Sequence[str]] = list,
    inspect: Callable[[Step, Outcome], Outcome] | None = None,
) -> None:
    """Define the nodes of the steps that may have to run, and the goals (outputs by name) over them; the last goal is the default."""
    commands = Commands(folder.root, launcher_of(options))
    jobs = GetOption("num_jobs")
    session = Session(
        folder,
        steps,
        env["CONSOLE"],
        commands,
        decides=options.enabled("incremental"),
        jobs=jobs,
        link_jobs=options.count("link_jobs", default_link_jobs()),
    )
    if inspect is not None:
        session.inspect = inspect
    folder_of_cache = options.path("cache")
    if folder_of_cache and session.decides and not GetOption("no_exec"):
        env.Tool("object_cache")
        env.UseObjectCache(session, folder_of_cache, options.size("cache_limit"))
    pending = _pending(options, session, goals)
    nodes = define_steps(env, session, pending) if session.decides else define_plain_steps(env, session)
    for goal, outputs in goals.items():
        env.Alias(goal, _longest_first(session, outputs, nodes))
    env.Default(next(reversed(goals)))
    console = env["CONSOLE"]
    console.total = len(set(nodes.values()))
    console.seconds_left = partial(session.seconds_left, jobs)
    env.FinishAtExit(options, session, products, read)
    if jobs > 1:  # while `jobs` commands run, one thread more deals with what the last one left; SetOption would not outdo a -j
        OptionsParser.values.num_jobs = jobs + 1
    gc.freeze()  # what was read lives as long as the run: the collector need not look at it again
    gc.enable()


def _pending(options: Options, session: Session, goals: Mapping[str, Sequence[str]]) -> Sequence[Step]:
    """Return the steps that have to become nodes; what the shared cache holds of them is restored."""
    if options.files or not session.decides:
        return list(session.steps.values())
    pending = session.pending()
    if session.cache is None:
        return pending
    wanted = [output for goal in options.goals or [next(reversed(goals))] for output in goals.get(goal, ())]
    return session.restore_ready(wanted)


def define_steps(env: Any, session: Session, steps: Sequence[Step]) -> dict[str, Any]:
    """Define one node for each step and return nodes by output (exec path). SCons keeps no record of them, and what it kept of a build
    that it decided itself no longer holds."""
    (session.folder.state / "sconsign.dblite").unlink(missing_ok=True)
    nodes: dict[str, Any] = {}
    keys: dict[str, str] = {}
    builder = _builder(env, session, keys)
    for step in steps:
        made = builder(env, target=[_target(env, session, output) for output in step.outputs], source=[])
        keys.update(dict.fromkeys(map(str, made), step.key))
        env.AlwaysBuild(made)
        env.Precious(made)
        for node in made:
            node.store_info = 0
        before = _longest_first(session, step.inputs, nodes)
        if before:
            env.Requires(made, before)
        nodes.update(dict.fromkeys(step.outputs, made[0]))
    return nodes


def _target(env: Any, session: Session, output: str) -> Any:
    """Return the node of an output (exec path). Raises BuildError where a folder stands in its place: SCons would show a traceback."""
    place = os.path.join(session.root, output)  # noqa: PTH118 (a Path costs more than the node)
    if os.path.isdir(place):  # noqa: PTH112
        raise BuildError("a folder stands where the build makes a file", where=place, mend="remove it")
    return env.fs.File(place)


def _longest_first(session: Session, outputs: Sequence[str], nodes: Mapping[str, Any]) -> list[Any]:
    """Return the nodes of outputs, those first that take longest: SCons starts what it finds first."""
    cost = {nodes[output]: session.cost(output) for output in outputs if output in nodes}
    return sorted(cost, key=cost.__getitem__, reverse=True)


def define_plain_steps(env: Any, session: Session) -> dict[str, Any]:
    """Define every step as SCons' own: it hashes inputs and scans sources for includes. Slow, and independent of the database."""
    nodes: dict[str, Any] = {}
    keys: dict[str, str] = {}
    builder = _builder(env, session, keys, source_scanner=SourceFileScanner)
    env.Decider("content")
    for step in session.steps.values():
        inputs = [env.File(path if path.startswith("/") else f"{session.root}/{path}") for path in step.inputs]
        folders = include_folders(step.work.argv) if step.reports_inputs and isinstance(step.work, Command) else ()
        search = [env.Dir(folder if folder.startswith("/") else f"{session.root}/{folder}") for folder in folders]
        targets = [_target(env, session, output) for output in step.outputs]
        made = builder(env, target=targets, source=[*inputs, env.Value(step.signature.hex())], CPPPATH=search)
        keys.update(dict.fromkeys(map(str, made), step.key))
        nodes.update(dict.fromkeys(step.outputs, made[0]))
    return nodes


def _builder(env: Any, session: Session, keys: dict[str, str], **fields: Any) -> Any:
    env["STEP_OF"] = lambda target: session.steps[keys[str(target[0])]]
    env["PERFORM"] = session.perform
    return env.Builder(action=env.Action(_perform, strfunction=_title if GetOption("no_exec") else None), **fields)


def _perform(target: list[Any], source: list[Any], env: Any) -> int:
    """Run the step of a node. It holds no state itself: SCons takes a function's own state for part of the action's signature."""
    return int(env["PERFORM"](env["STEP_OF"](target).key))


def _title(target: list[Any], source: list[Any], env: Any) -> str:
    return str(env["STEP_OF"](target).title)
