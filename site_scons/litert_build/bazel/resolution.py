"""Owns the value of an attribute in a configuration: defaults, selects resolved, and where each element came from.

Resolver(conditions).traced(target, "copts")      # [Traced("-O3", Origin("copts", label, "BUILD:12", "//:opt"))]
"""

from __future__ import annotations

from typing import Any

from litert_build.actions import Origin, Traced
from litert_build.bazel.attributes import check_unique
from litert_build.bazel.configuration import Conditions
from litert_build.bazel.labels import Label
from litert_build.bazel.rule_class import RuleTarget
from litert_build.bazel.select import Select, SelectorList, Verdict, resolve_select
from litert_build.errors import BuildError
from litert_build.starlark.modules import located
from litert_build.starlark.opaque import Opaque
from litert_build.starlark.values import StarlarkDict, StarlarkList, type_name


class Resolver:
    """Resolves the attributes of targets in one configuration."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        self.problems: list[BuildError] | None = None  # where it is a list, a faulty condition is put there and does not hold

    def value(self, target: RuleTarget, name: str) -> Any:
        """Return the value of an attribute, its default where it is not given. Raises BuildError for a select() without a match."""
        spec = target.rule.attrs[name]
        if name not in target.attrs:
            return spec.empty()
        given = target.attrs[name]
        if isinstance(given, Opaque):
            raise self.unavailable(given, target, name)
        if not isinstance(given, SelectorList):
            return given
        parts = [part for part, _ in self.parts(target, name)]
        return _join(parts, spec.empty(), target, name)

    def check(self, target: RuleTarget) -> None:
        """Resolve every select() of a target, also where its rule would never look. Raises BuildError: no branch for this configuration,
        None for a mandatory attribute, a label that two branches bring."""
        for name, given in target.attrs.items():
            if not isinstance(given, SelectorList):
                continue
            parts = self.parts(target, name)
            spec = target.rule.attrs[name]
            if len(parts) > 1 and spec.kind == "label_list":
                with located(target.location):
                    check_unique([label for part, _ in parts for label in part], name)

    def parts(self, target: RuleTarget, name: str) -> list[tuple[Any, str]]:
        """Return the concatenated parts of an attribute's value, each with the select() branch it came from."""
        given = target.attrs.get(name)
        if given is None:
            given = target.rule.attrs[name].empty()
        if not isinstance(given, SelectorList):
            return self._part(given, "", target, name)
        out: list[tuple[Any, str]] = []
        for part in given.parts:
            out += self._part(part, "", target, name)
        return out

    def _part(self, part: Any, branch: str, target: RuleTarget, name: str) -> list[tuple[Any, str]]:
        spec = target.rule.attrs[name]
        for item in [part, *part] if isinstance(part, list | tuple) else [part]:
            if isinstance(item, Opaque) and spec.status == "used":
                raise self.unavailable(item, target, name)
        if not isinstance(part, Select):
            return [(part, branch)]
        with located(target.location):
            chosen, condition = resolve_select(part, lambda label: self._judge(label, target), target.location, name)
        if chosen is None:
            if spec.mandatory:
                what = f"mandatory attribute '{name}' is None where {condition} holds"
                raise BuildError(what, where=target.location, notes=target.notes(), mend="give that branch a value in an overlay")
            return [(spec.empty(), condition)]
        return self._part(chosen, condition, target, name)

    def _judge(self, label: Label, target: RuleTarget) -> Verdict:
        try:
            with located(target.location):
                verdict = self.conditions.judge(label)
            if verdict.testonly and not target.testonly:
                raise testonly_fault(target, label)
            return verdict
        except BuildError as error:
            if self.problems is None:
                raise
            self.problems.append(error)
            self.conditions.known[label] = Verdict(False, why="it cannot be judged")
            return self.conditions.known[label]

    def unavailable(self, value: Opaque, target: RuleTarget, name: str) -> BuildError:
        fault = value.fault(f"is needed by attribute '{name}' of {target.label}")
        return BuildError(fault.what, where=target.location, notes=[*target.notes(), *fault.notes], mend=fault.mend)

    def traced(self, target: RuleTarget, name: str) -> list[Traced]:
        """Return a string list whose elements know their attribute, BUILD line and select() branch."""
        label = str(target.label)
        return [Traced(item, Origin(name, label, target.location, branch)) for part, branch in self.parts(target, name) for item in part]


def testonly_fault(target: RuleTarget, label: Label, actual: Label | None = None) -> BuildError:
    """Return the error of a target that is not for tests only and depends on one that is, perhaps by an alias."""
    through = f"alias '{label}' referring to target '{actual}'" if actual is not None and actual != label else f"target '{label}'"
    return BuildError(
        f"non-test target '{target.label}' depends on testonly {through} and doesn't have testonly attribute set",
        where=target.location,
        notes=target.notes(),
        mend=f"set testonly = True on {target.label} if nothing but tests uses it, or drop the dependency",
    )


def _join(parts: list[Any], empty: Any, target: RuleTarget, name: str) -> Any:
    if len(parts) == 1:
        return parts[0]
    total = parts[0]
    for part in parts[1:]:
        if isinstance(total, dict) and isinstance(part, dict):
            total = StarlarkDict({**total, **part})
        elif isinstance(total, list | tuple) and isinstance(part, list | tuple):
            total = StarlarkList([*total, *part])
        elif isinstance(total, str) and isinstance(part, str):
            total = total + part
        else:
            raise BuildError(
                f"attribute '{name}' joins {type_name(total)} and {type_name(part)}", where=target.location, notes=target.notes()
            )
    return total
