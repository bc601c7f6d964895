"""Owns the main job: from options to the steps that make the host library, its verdict and its bundle.

job = Job.of(options, lock, target, folder)
steps = job.plan()
job.goals["bundle"], job.products
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from litert_build.actions import LinkInputs
from litert_build.bundles.bundle import BundleRequest, ToolchainUse, check_name, compatibility_of, make_bundle
from litert_build.bundles.components import repository_components
from litert_build.bundles.layout import bundle_files
from litert_build.bundles.provenance import builder_of, project_commit
from litert_build.bundles.sdk import host_headers
from litert_build.bundles.stage import stage_companions
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy, Waiver
from litert_build.checks.sarif import to_sarif
from litert_build.checks.waivers import read_waivers
from litert_build.errors import BuildError
from litert_build.gating import Paths, allow_declared, gate_policy
from litert_build.hosts import HostPlan, plan_host
from litert_build.incremental.commands import Command, Commands
from litert_build.incremental.execroot import links_of, plant
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.graph import load_graph, save_graph
from litert_build.incremental.inclusions import DeclaredHeaders, Inspector
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.signing import bundle_environment, sign
from litert_build.incremental.steps import Step, needed, steps_of
from litert_build.options import Options, require_made
from litert_build.places import WAIVERS
from litert_build.policy.companions import OFFICIAL_ASSETS, PREBUILT_FOLDERS
from litert_build.policy.refs import apply_policy, overridden_link_mode
from litert_build.policy.targets import Target, find_target, host_target
from litert_build.reports.summary import Product
from litert_build.reports.undefined import explain_undefined
from litert_build.sources.console import console, network_of
from litert_build.sources.download import Fetcher
from litert_build.sources.lock import Lock
from litert_build.sources.prebuilt import official_tree, prebuilt_tree
from litert_build.sources.rust import crate_sources
from litert_build.sources.store import Store, default_store
from litert_build.toolchains import find_toolchain
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.limits import require_short_paths
from litert_build.toolchains.variants import with_debug, with_lto

if TYPE_CHECKING:
    from litert_build.bazel.analysis import Analysis, Analyzer

CHECKS = "checks.json"
SARIF = "checks.sarif"
BUNDLE = "bundle"
BRIDGE = "litert_lm_native"
LICENCE = Path(__file__).resolve().parents[2] / "LICENSE"
THIRD_PARTY = LICENCE.parent / "third_party"


GRAPH = "graph"
LINKS = "links"
HEADERS = "headers"


@dataclass(frozen=True)
class Job:
    """One build of one lock for one target. `link_mode_override` is the user's link mode where it is not the rule's. `goals` (outputs by
    name, the default last) and `products` are set by `plan`."""

    options: Options
    lock: Lock
    target: Target
    toolchain: Toolchain
    exec_toolchain: Toolchain
    folder: BuildFolder
    link_mode_override: str = ""
    goals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    products: list[Product] = field(default_factory=list)

    @staticmethod
    def of(options: Options, lock: Lock, folder: BuildFolder) -> Job:
        """Return the job, with the rules of the lock's release applied and both toolchains found. Raises BuildError."""
        target = find_target(options["target"])
        chosen = {name: options[name] for name in ("cc", "cxx", "sysroot", "runtime")}
        toolchain = find_toolchain(options["toolchain"], target, **chosen)
        tools = toolchain if target.is_this_machine else find_toolchain("", find_target(host_target()))
        if options.enabled("lto"):
            toolchain = with_lto(toolchain)
        if options["debug_symbols"] == "split":
            toolchain = with_debug(toolchain)
        override = overridden_link_mode(lock, target.name, options["link_mode"])
        return Job(options, with_policy(lock, options, target), target, toolchain, tools, folder, override)

    @property
    def root(self) -> Path:
        return self.folder.root

    def fetch(self) -> dict[str, Path]:
        """Return the source trees by repository, downloaded and unpacked where they are missing, and linked into the execution root."""
        from litert_build.sources.trees import materialize

        trees = materialize(
            self.lock,
            store=self.options.path("store") or default_store(),
            overlays_dir=self.folder.state / "overlays",
            offline=self.options.enabled("offline"),
            local=self.options.local,
            network=network_of(self.options),
            progress=console(),
            target=self.target.name,
        )
        if plant(self.root, trees[self.lock.main], trees):
            self.folder.database.refresh()
        return trees

    def evaluate(self) -> Analysis:
        """Return the actions of the lock's roots, and keep their rendering for the next build."""
        from litert_build.bazel.analysis import analyze  # most builds find the graph as it was, and need not wait for the evaluator

        trees, started = self.fetch(), time.time_ns()
        analysis = analyze(
            self.lock,
            trees,
            self.target,
            compiler=self.toolchain.name,
            exec_compiler=self.exec_toolchain.name,
            cache=self._evaluated,
        )
        read = (*analysis.read, trees[self.lock.main], *self._lock_files(), *code_files())
        paths = dict.fromkeys(str(path.absolute()) for path in read)
        digest = self.folder.database.remember(GRAPH, self._graph_key, paths, started)
        self.folder.database.notes[LINKS] = "\n".join(links_of(self.root))
        DeclaredHeaders.from_depsets(analysis.headers).save(self.folder.state / HEADERS)
        save_graph(self._graph_file, self._graph_key + digest, self._rendered(analysis), analysis.link)
        return analysis

    def _rendered(self, analysis: Analysis) -> list[Step]:
        """Return the steps of the objects, and of whatever else the lock's product is made of: not the link of a shared library that is
        a root, whose place the host takes."""
        steps = steps_of(analysis.actions, self.toolchain, self.exec_toolchain)
        link = analysis.link
        used = (*link.objects, *link.lazy, *link.libraries, *link.scripts)
        return steps if self.lock.product.kind == "objects" else needed(steps, map(str, used))

    @property
    def _evaluated(self) -> Path:
        return self.folder.state / "evaluated"

    @property
    def _graph_file(self) -> Path:
        return self.folder.state / GRAPH

    @property
    def _graph_key(self) -> bytes:
        toolchains = [(tool.identity, *(f"{name}={value}" for name, value in tool.environment.items())) for tool in self._toolchains]
        return sign(
            (str(self.lock.file), self.options["link_mode"], self.options["static_gpu"], *map(str, self.options.local.items())), *toolchains
        )

    @property
    def _toolchains(self) -> tuple[Toolchain, Toolchain]:
        return self.toolchain, self.exec_toolchain

    def _lock_files(self) -> list[Path]:
        references = [file.path for repository in self.lock.repositories.values() for file in repository.references()]
        local = self.options.local
        crates = [local.get(name, repository.path) for name, repository in self.lock.repositories.items() if repository.cargo]
        sources = [file for crate in crates if crate for file in crate_sources(crate)]
        waivers = [WAIVERS]
        carried = sorted(THIRD_PARTY.glob("*/*/carried.json")) if self.lock.policy else []
        return [self.lock.file, *(path for path in references if path), *sources, *carried, *waivers]

    def read(self, steps: Sequence[Step]) -> list[str]:
        """Return what a complete build depends on beyond its steps' files: what decided the graph, our code, and the tools, where they are
        and where they would be found first."""
        tools = {step.work.argv[0] for step in steps if isinstance(step.work, Command) and step.work.kind == "process"}
        folders = os.environ.get("PATH", "").split(os.pathsep)
        places = [os.path.join(folder, Path(tool).name) for tool in sorted(tools) for folder in folders]  # noqa: PTH118
        return list(dict.fromkeys((*self.folder.database.paths(GRAPH), *map(str, code_files()), *sorted(tools), *places)))

    def plan(self) -> list[Step]:
        """Return all steps, producers first. Evaluates BUILD files only if one of them, or what else decides the steps, has changed."""
        planted = self.folder.database.notes.get(LINKS) == "\n".join(links_of(self.root))
        digest = self.folder.database.recall(GRAPH, self._graph_key) if planted else None
        stored = load_graph(self._graph_file, self._graph_key + digest) if digest else None
        if stored is None:
            analysis = self.evaluate()
            stored = self._rendered(analysis), analysis.link
        steps, link = stored
        if sys.platform == "win32":
            require_short_paths(self.root, [output for step in steps for output in step.outputs])
        everything = self.lock.product.kind == "objects"
        self.goals["objects"] = tuple(step.key for step in steps if everything or step.reports_inputs)
        if not everything:
            steps = [*steps, *self._finish(steps, link)]
        require_made(self.options.files, [output for step in steps for output in step.outputs], self.root)
        return steps

    def inspector(self, steps: Sequence[Step]) -> Callable[[Step, Outcome], Outcome]:
        """Return what looks at how each command ended: at a compile's inclusions unless headers=off, at a link's undefined symbols."""
        mode, explain = self.options["headers"], self._explainer(steps)
        if mode == "off":
            return explain
        headers = Inspector(self.folder.state / HEADERS, strict=mode == "strict")
        return lambda step, outcome: headers(step, explain(step, outcome))

    def _explainer(self, steps: Sequence[Step]) -> Callable[[Step, Outcome], Outcome]:
        return lambda step, outcome: explain_undefined(step, outcome, steps, self.paths)

    @cached_property
    def paths(self) -> Paths:
        """What evaluates the closure for blame."""
        return Paths(self._analyzer)

    def _finish(self, objects: Sequence[Step], link: LinkInputs) -> list[Step]:
        """Return the steps from objects to bundle."""
        lock = replace(self.lock, product=allow_declared(self.lock.product, self.root))
        policy = gate_policy(
            lock,
            objects,
            self.root,
            waivers=self._waivers,
            glibc_ceiling=self._glibc_ceiling,
            path_of=self.paths,
            linked=None if self.toolchain.writes_link_map else link.objects,
        )
        out_dir = f"bazel-out/{self.target.cpu}-opt/bin/host"
        plan = plan_host(
            link,
            lock,
            self.target,
            self.toolchain,
            out_dir=out_dir,
            split_debug=self.options["debug_symbols"] == "split",
            root=self.root,
        )
        explain = self._explainer(objects)
        steps = [self._gated(step, plan, policy, explain) for step in steps_of(plan.actions, self.toolchain)]
        bundle = self._bundle(plan)
        self.goals["host"] = self.goals["check"] = (plan.library, CHECKS)
        smoke = self._smoke(bundle)
        self.goals["bundle"] = bundle.outputs
        self.products[:] = [
            Product("host", self.root / plan.library),
            Product("checks", self.root / CHECKS),
            Product("bundle", self.root / bundle.key),
        ]
        return [*steps, bundle, *smoke]

    def _smoke(self, bundle: Step) -> list[Step]:
        """Return the walk of the bundle's C API where it is asked for: it is no part of a complete build."""
        if "smoke" not in self.options.goals:
            return []
        from litert_build.smoke.step import smoke_step

        step = smoke_step(self.options, self.lock, self.toolchain, self.root, bundle.key)
        self.goals["smoke"] = step.outputs
        return [step]

    def _gated(self, step: Step, plan: HostPlan, policy: GatePolicy, explain: Callable[[Step, Outcome], Outcome]) -> Step:
        """Make the gate part of the step that finishes the library: what breaks a rule is never left as up to date."""
        if plan.library not in step.outputs:
            return step
        judged = partial(_run_and_judge, step, Commands(self.root), plan, self.target, policy, explain)
        waived = (f"{waiver} {policy.today <= waiver.until}" for waiver in policy.waivers)
        rules = ("gate", policy.link_mode, *policy.required, "allowed", *policy.allowed, policy.version, policy.glibc_ceiling)
        signature = sign((step.signature.hex(),), rules, policy.registrations, (f"{n}={t}" for n, t in policy.signatures.items()), waived)
        return replace(step, work=judged, outputs=(*step.outputs, CHECKS, SARIF), signature=signature)

    def _analyzer(self) -> Analyzer:
        from litert_build.bazel.analysis import Analyzer

        return Analyzer(self.lock, self.fetch(), self.target, self.toolchain.name, self.exec_toolchain.name, self._evaluated)

    @property
    def _waivers(self) -> tuple[Waiver, ...]:
        return read_waivers(WAIVERS)

    @property
    def _glibc_ceiling(self) -> str:
        """The row's, for the toolchain that builds releases; any other links this machine's own glibc."""
        return self.target.glibc if self.toolchain.name == self.target.release_toolchain else ""

    def stage(self, trees: dict[str, Path]) -> Path | None:
        """Return the folder of the companions that upstream and others prebuilt, put together anew; None where the lock has none."""
        release = compatibility_of(self.lock)
        if not release:
            return None
        store, network = self.options.path("store") or default_store(), network_of(self.options)
        if self.lock.main in self.options.local or self.target.name not in PREBUILT_FOLDERS:
            prebuilt = trees[self.lock.main] / "prebuilt"
        else:
            prebuilt = prebuilt_tree(self.lock, PREBUILT_FOLDERS[self.target.name], store=store, network=network)
        fetcher = Fetcher(Store(store), network)
        official = self.options.path("official")
        if official is None and self.target.os in OFFICIAL_ASSETS:
            official = official_tree(self.lock, store=store, network=network)
        if official is None and self.lock.ref == release:
            official = Path("official")
        try:
            return stage_companions(
                self.target.name,
                release,
                prebuilt=prebuilt,
                fetch=fetcher.fetch,
                output=self.folder.state / "companions",
                official=official,
            )
        finally:
            fetcher.close()

    def _bundle(self, plan: HostPlan) -> Step:
        tag = self.options["tag"] or self.lock.release
        companions = self.options.path("companions")
        if companions and not companions.is_dir():
            raise BuildError("there is no such folder of companions", where=f"companions={companions}", mend="companions=PATH")
        names = bundle_files(self.target.name, tag)
        headers = [*self.root.glob("c/*.h"), *self.root.glob(f"external/{BRIDGE}/*/*.h")]
        request = BundleRequest(
            target=self.target,
            tag=tag,
            lock=self.lock,
            host=self.root / plan.library,
            gate={},
            toolchain=ToolchainUse(self.toolchain.name, self.toolchain.identity, self.toolchain.cxx_runtime),
            output=self.root / BUNDLE,
            companions=companions,
            link_mode_override=self.link_mode_override,
            static_gpu=self.options["static_gpu"] if self.options["static_gpu"] != "off" else "",
            local_trees=tuple(self.options.local),
            waivers=self._waivers,
            native_commit=project_commit(LICENCE.parent) if compatibility_of(self.lock) else "",
            builder=builder_of(),
        )
        if self.options["tag"]:
            check_name(request)
        added = tuple(str(path) for path in sorted(companions.rglob("*")) if path.is_file()) if companions else ()
        added += tuple(sorted(path.relative_to(self.root).as_posix() for path in headers))
        outputs = tuple(f"{BUNDLE}/{name}" for name in names)
        return Step(
            title=f"Bundle {names[0]}",
            inputs=(plan.library, CHECKS, str(self.lock.file.absolute()), *added),
            outputs=outputs,
            signature=sign(
                ("bundle", tag, self.toolchain.identity, request.native_commit, request.builder, str(companions)),
                bundle_environment(),
                added,
                (*self.options.local, self.options["link_mode"], self.options["static_gpu"]),
            ),
            work=partial(_pack, request, self),
            withdrawn=True,
        )


def with_policy(lock: Lock, options: Options, target: Target) -> Lock:
    """Return the lock with the rules of its release and what is carried for it. Raises BuildError, also where an option that switches a
    carried change on finds none to switch."""
    lock, inject = apply_policy(lock, target.name, link_mode=options["link_mode"]), options["static_gpu"] != "off"
    if not lock.policy and not inject:
        return lock
    from litert_build.sources.carried import apply_carried, read_carried

    lock, applied = apply_carried(lock, read_carried(THIRD_PARTY), target.name, {"static_gpu": options["static_gpu"]})
    if inject and not any(change.option == f"static_gpu={options['static_gpu']}" for change in applied):
        raise BuildError(
            f"static_gpu= has nothing to add to {lock.ref} on {target.name}",
            where=f"static_gpu={options['static_gpu']}",
            mend="leave it out; docs/patch-audit.md says which releases and systems it serves",
        )
    return lock


def _run_and_judge(
    step: Step, commands: Commands, plan: HostPlan, target: Target, policy: GatePolicy, explain: Callable[[Step, Outcome], Outcome]
) -> Outcome:
    """Make the library and put it before the gate. A library that breaks a rule is moved aside under a name that says so."""
    assert isinstance(step.work, Command)
    library = commands.root / plan.library
    rejected = library.with_name(f"{library.name}.rejected")
    rejected.unlink(missing_ok=True)
    outcome = commands.run(step.work)
    if outcome.code:
        return explain(step, outcome)
    try:
        report = check_host(library, target, policy, commands.root / plan.link_map if plan.link_map else None)
    except BuildError:
        library.replace(rejected)
        raise
    (commands.root / CHECKS).write_text(report.to_json(), encoding="utf-8")
    (commands.root / SARIF).write_text(to_sarif([report], str(PurePosixPath(plan.library).parent)), encoding="utf-8")
    if report.passed:
        return Outcome(0, f"{outcome.output}{report.text}\n")
    library.replace(rejected)
    return Outcome(1, f"{outcome.output}{report.text}\nthe library was moved to {rejected}\n")


def _pack(request: BundleRequest, job: Job) -> Outcome:
    """Make the bundle with its papers and its SDK, from the verdict and the source trees."""
    gate = json.loads((job.root / CHECKS).read_text(encoding="utf-8"))
    trees = job.fetch()
    parts = repository_components(job.lock, trees, LICENCE, job.options.local)
    headers = host_headers(trees[job.lock.main], trees.get(BRIDGE))
    companions = request.companions or job.stage(trees)
    make_bundle(replace(request, gate=gate, components=parts, headers=headers, companions=companions))
    return Outcome(0)


def code_files() -> list[Path]:
    """Return the files of this build system that have been loaded: a change of ours is a change of the build."""
    folder = str(Path(__file__).parents[1])
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return [Path(file) for file in files if file and file.startswith(folder)]
