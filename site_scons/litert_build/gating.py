"""Owns what a build hands to the gate: the exports its headers allow, the registrations its lock demands, waivers, and blame.

lock = replace(lock, product=allow_declared(lock.product, root))        # what the ref's C headers declare may be exported
policy = gate_policy(lock, steps, root, waivers=waivers, glibc_ceiling="2.28", path_of=Paths(make_analyzer))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from litert_build.checks.headers import read_api
from litert_build.checks.model import GatePolicy, Waiver
from litert_build.errors import BuildError, nearest
from litert_build.incremental.steps import Step
from litert_build.policy.exports import expected_signatures
from litert_build.sources.lock import Lock, Product

if TYPE_CHECKING:
    from litert_build.bazel.analysis import Analyzer


class Paths:
    """The labels that lead from a root to a label. `make` gives an analyzer: the closure is evaluated anew, for only blame asks."""

    def __init__(self, make: Callable[[], Analyzer]) -> None:
        self.make = make

    @cached_property
    def analyzer(self) -> Analyzer:
        from litert_build.bazel.analysis import on_deep_stack  # only blame waits for the evaluator

        analyzer = self.make()
        on_deep_stack(analyzer.run)
        return analyzer

    def __call__(self, label: str) -> list[str]:
        from litert_build.reports.explain import chain_to

        key = next((key for key in self.analyzer.done if str(key[0]) == label and key[1] == self.analyzer.target.name), None)
        return [str(step) for step, _ in chain_to(self.analyzer, key)] if key else []


def header_files(product: Product, root: Path) -> tuple[Path, ...]:
    """Return the headers of a product in the execution root. Raises BuildError for a pattern that matches none."""
    found: dict[Path, None] = {}
    for pattern in product.headers:
        files = sorted(root.glob(pattern))
        if not files:
            raise BuildError(f"no header matches {pattern!r}", where="product.headers", mend="name the ref's C headers by exec path")
        found.update(dict.fromkeys(files))
    return tuple(found)


def allow_declared(product: Product, root: Path) -> Product:
    """Return the product with the functions that its headers declare allowed, instead of the patterns that stood for them."""
    if not product.headers:
        return product
    names = {name for name in product.allowed if not name.endswith("*")}
    return replace(product, allowed=tuple(sorted(names | set(read_api(header_files(product, root))))))


def registered_objects(lock: Lock, steps: Sequence[Step]) -> dict[str, str]:
    """Return the objects of the libraries that must register themselves, by label. Raises BuildError for a label that compiles nothing."""
    wanted = dict.fromkeys(lock.product.registrations, False)
    objects: dict[str, str] = {}
    for step in steps:
        if step.reports_inputs and step.label in wanted and "-exec/" not in step.key:
            objects[step.key] = step.label
            wanted[step.label] = True
    for label, seen in wanted.items():
        if not seen:
            known = {step.label for step in steps if step.reports_inputs}
            raise BuildError(
                f"{label} must register itself, but it compiles nothing in this closure",
                where=f"{lock.file}: product.registrations",
                mend=nearest(label, known) or "name a library of the closure, or drop it where a select() leaves it out",
            )
    return objects


def require_linked(registrations: Mapping[str, str], linked: Sequence[str]) -> None:
    """Raise BuildError unless every registering object is named by the link: as an archive's member it could be left out."""
    for path, label in registrations.items():
        if path not in linked:
            raise BuildError(
                f"{label} must register itself, but its objects are linked only if needed", where=path, mend="make it alwayslink"
            )


def gate_policy(
    lock: Lock,
    steps: Sequence[Step],
    root: Path,
    *,
    waivers: tuple[Waiver, ...] = (),
    glibc_ceiling: str = "",
    path_of: Callable[[str], Sequence[str]] | None = None,
    linked: Sequence[str] | None = None,
) -> GatePolicy:
    """Return the policy of one host. `path_of` gives the labels from a root to a label; an object stands for the label that made it.

    `linked` are the objects that the link names itself, for a toolchain that writes no link map: an object named there is in the host.
    Raises BuildError where a library that must register itself is not among them.
    """
    registrations = registered_objects(lock, steps)
    if linked is not None:
        require_linked(registrations, linked)
        registrations = {}
    label_of = {output: step.label for step in steps for output in step.outputs}
    return GatePolicy(
        link_mode=lock.link_mode,
        required=lock.product.required,
        allowed=lock.product.allowed,
        version=lock.release,
        glibc_ceiling=glibc_ceiling,
        waivers=waivers,
        registrations=registrations,
        headers=header_files(lock.product, root),
        signatures=expected_signatures(lock.policy) if lock.policy else {},
        dependency_path=(lambda source: path_of(label_of[source]) if path_of and source in label_of else ()),
    )
