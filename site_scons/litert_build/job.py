"""Owns the main job: from options to the steps that make the host library, its verdict and its bundle.

job = Job(options, lock, target, toolchain, folder)
trees = job.fetch()
steps = job.steps(job.evaluate(trees))
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from litert_build.bazel.analysis import Analysis, analyze
from litert_build.bundles.bundle import BundleRequest, ToolchainUse, make_bundle
from litert_build.bundles.checksums import NAME as SUMS
from litert_build.bundles.layout import runtime_archive
from litert_build.bundles.manifest import NAME as MANIFEST
from litert_build.checks.gate import check_host
from litert_build.checks.model import GatePolicy
from litert_build.errors import BuildError
from litert_build.hosts import HostPlan, plan_host
from litert_build.incremental.commands import Commands
from litert_build.incremental.execroot import plant
from litert_build.incremental.folder import BuildFolder
from litert_build.incremental.outcome import Outcome
from litert_build.incremental.steps import Step, sign, steps_of
from litert_build.options import Options
from litert_build.policy.targets import Target
from litert_build.reports.summary import Product
from litert_build.sources.lock import Lock
from litert_build.sources.store import default_store
from litert_build.sources.trees import materialize
from litert_build.toolchains.base import Toolchain

CHECKS = "checks.json"
BUNDLE = "bundle"


@dataclass(frozen=True)
class Job:
    """One build of one lock for one target."""

    options: Options
    lock: Lock
    target: Target
    toolchain: Toolchain
    folder: BuildFolder
    goals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    products: list[Product] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.folder.root

    def fetch(self) -> dict[str, Path]:
        """Return the source trees by repository, downloaded and unpacked where they are missing, and linked into the execution root."""
        trees = materialize(
            self.lock,
            store=self.options.path("store") or default_store(),
            overlays_dir=self.folder.state / "overlays",
            offline=self.options.enabled("offline"),
            local=self.options.local,
        )
        plant(self.root, trees[self.lock.main], trees)
        return trees

    def evaluate(self, trees: dict[str, Path]) -> Analysis:
        """Return the actions of the lock's roots."""
        return analyze(self.lock, trees, self.target, compiler=self.toolchain.name)

    def steps(self, analysis: Analysis) -> list[Step]:
        """Return all steps, producers first, and set the goals (outputs by goal) and the products for the summary."""
        commands = Commands(self.root)
        steps = steps_of(analysis.actions, self.toolchain, commands)
        self.goals["objects"] = tuple(action.output for action in analysis.actions.compiles())
        if self.lock.product.kind == "objects":
            return steps
        out_dir = f"bazel-out/{self.target.cpu}-opt/bin/host"
        plan = plan_host(analysis.link, self.lock, self.target, self.toolchain, out_dir=out_dir)
        steps += [self._gated(step, plan) for step in steps_of(plan.actions, self.toolchain, commands)]
        bundle = self._bundle(plan)
        self.goals["host"] = self.goals["check"] = (plan.library,)
        self.goals["bundle"] = bundle.outputs
        self.products[:] = [
            Product("host", self.root / plan.library),
            Product("checks", self.root / CHECKS),
            Product("bundle", self.root / bundle.key),
        ]
        return [*steps, bundle]

    def _gated(self, step: Step, plan: HostPlan) -> Step:
        """Make the gate part of the step that finishes the library: what breaks a rule is never left as up to date."""
        if plan.library not in step.outputs:
            return step
        judged = partial(_run_and_judge, step, self.root, plan, self.target, self._policy)
        rules = ("gate", self.lock.link_mode, *self.lock.product.required, "allowed", *self.lock.product.allowed, self.lock.release)
        return replace(step, run=judged, outputs=(*step.outputs, CHECKS), signature=sign((step.signature.hex(),), rules))

    @property
    def _policy(self) -> GatePolicy:
        product = self.lock.product
        return GatePolicy(link_mode=self.lock.link_mode, required=product.required, allowed=product.allowed, version=self.lock.release)

    def _bundle(self, plan: HostPlan) -> Step:
        tag = self.options["tag"] or self.lock.release
        companions = self.options.path("companions")
        names = (runtime_archive(self.target.name, tag), MANIFEST, SUMS)
        request = BundleRequest(
            target=self.target,
            tag=tag,
            lock=self.lock,
            host=self.root / plan.library,
            gate={},
            toolchain=ToolchainUse(self.toolchain.name, self.toolchain.identity, self.toolchain.cxx_runtime),
            stream_abi=2 if self._policy.at_least("v0.15") else 1,
            output=self.root / BUNDLE,
            companions=companions,
            local_trees=tuple(self.options.local),
        )
        added = tuple(str(path) for path in sorted(companions.rglob("*")) if path.is_file()) if companions else ()
        outputs = tuple(f"{BUNDLE}/{name}" for name in names)
        return Step(
            key=outputs[0],
            title=f"Bundle {names[0]}",
            inputs=(plan.library, CHECKS, str(self.lock.file.absolute()), *added),
            outputs=outputs,
            signature=sign(("bundle", tag, self.toolchain.identity), added, tuple(self.options.local)),
            run=partial(_pack, request, self.root),
            withdrawn=True,
        )


def _run_and_judge(step: Step, root: Path, plan: HostPlan, target: Target, policy: GatePolicy) -> Outcome:
    """Make the library and put it before the gate. A library that breaks a rule is moved aside under a name that says so."""
    library = root / plan.library
    rejected = library.with_name(f"{library.name}.rejected")
    rejected.unlink(missing_ok=True)
    outcome = step.run()
    if outcome.code:
        return outcome
    try:
        report = check_host(library, target, policy, root / plan.link_map)
    except BuildError:
        library.replace(rejected)
        raise
    (root / CHECKS).write_text(report.to_json(), encoding="utf-8")
    if report.passed:
        return Outcome(0, f"{outcome.output}{report.text}\n")
    library.replace(rejected)
    return Outcome(1, f"{outcome.output}{report.text}\nthe library was moved to {rejected}\n")


def _pack(request: BundleRequest, root: Path) -> Outcome:
    gate = json.loads((root / CHECKS).read_text(encoding="utf-8"))
    make_bundle(replace(request, gate=gate))
    return Outcome(0)
