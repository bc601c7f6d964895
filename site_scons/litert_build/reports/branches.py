"""Owns the select() branches that a configuration did not take: what they name, why they were not taken, and the sources behind them.

for branch in dropped_branches(analyzer, "//c:engine", "k8-opt"):
    print(branch)           # select() in deps of //c:engine (BUILD:6) left out //gpu:webgpu: //:gpu does not hold (...)
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from litert_build.bazel.analysis import Analyzer, Key
from litert_build.bazel.labels import Label
from litert_build.bazel.resolution import Resolver
from litert_build.bazel.rule_class import RuleTarget
from litert_build.bazel.select import DEFAULT, Select, SelectorList
from litert_build.errors import BuildError
from litert_build.starlark.modules import located

_SOURCES = frozenset((".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".s", ".S"))
_DEEPEST = 200  # labels behind one branch that are looked at


@dataclass(frozen=True)
class Dropped:
    """What one branch of a select() names and the taken one does not. `label` is the target whose attribute it is."""

    label: str
    location: str
    attribute: str
    item: Label
    why: str
    files: tuple[tuple[str, Path], ...] = field(repr=False, default=())

    def __str__(self) -> str:
        return f"select() in {self.attribute} of {self.label} ({self.location}) left out {self.item}: {self.why}"

    def source_with(self, words: tuple[str, ...]) -> str:
        """Return the label of the first source behind it that holds all of `words`, empty where there is none."""
        for label, file in self.files:
            text = file.read_text(encoding="utf-8", errors="replace")
            if words and all(re.search(rf"\b{word}\b", text) for word in words):
                return label
        return ""


def dropped_branches(analyzer: Analyzer, label: str, configuration: str) -> list[Dropped]:
    """Return the branches not taken in a configuration of an analysis that has run, those of `label` and its dependencies first."""
    found: list[Dropped] = []
    resolver = analyzer.resolvers.get(configuration)
    for target, name in _nearest_first(analyzer, label, configuration):
        rule = analyzer.find_rule(target, "") if resolver and name == configuration else None
        if resolver and rule:
            found += _of_rule(analyzer, resolver, rule)
    return found


def _nearest_first(analyzer: Analyzer, label: str, configuration: str) -> Iterator[Key]:
    start = [key for key in analyzer.done if str(key[0]) == label and key[1] == configuration]
    seen, queue = dict.fromkeys(start), deque(start)
    while queue:
        key = queue.popleft()
        yield key
        new = [child for child in analyzer.edges.get(key, ()) if child not in seen]
        seen.update(dict.fromkeys(new))
        queue.extend(new)
    yield from (key for key in analyzer.done if key not in seen)


def _of_rule(analyzer: Analyzer, resolver: Resolver, rule: RuleTarget) -> Iterator[Dropped]:
    for name, value in rule.attrs.items():
        spec = rule.rule.attrs.get(name)
        if spec is None or spec.kind not in ("label", "label_list") or not isinstance(value, SelectorList):
            continue
        taken = {label for part, _ in resolver.parts(rule, name) for label in _labels(part)}
        for select in _selects(value):
            for condition, branch in select.branches.items():
                for item in _labels(branch):
                    if item not in taken:
                        why = _why(resolver, rule, condition)
                        yield Dropped(str(rule.label), rule.location, name, item, why, tuple(_sources(analyzer, item)))


def _selects(value: SelectorList) -> Iterator[Select]:
    for part in value.parts:
        if isinstance(part, Select):
            yield part
            for branch in part.branches.values():
                if isinstance(branch, SelectorList):
                    yield from _selects(branch)
        elif isinstance(part, SelectorList):
            yield from _selects(part)


def _labels(value: object) -> list[Label]:
    """Return the labels of an attribute's value with every branch in it."""
    if isinstance(value, Label):
        return [value]
    if isinstance(value, SelectorList):
        return [label for part in value.parts for label in _labels(part)]
    if isinstance(value, Select):
        return [label for branch in value.branches.values() for label in _labels(branch)]
    return [label for item in value for label in _labels(item)] if isinstance(value, list | tuple) else []


def _why(resolver: Resolver, rule: RuleTarget, condition: object) -> str:
    if condition == DEFAULT or not isinstance(condition, Label):
        return "another condition holds"
    with located(rule.location):
        verdict = resolver.conditions.judge(condition)
    if verdict.holds:
        return f"a more special condition than {condition} holds"
    return f"{condition} does not hold" + (f" ({verdict.why})" if verdict.why else "")


def _sources(analyzer: Analyzer, item: Label) -> Iterator[tuple[str, Path]]:
    """Yield the C and C++ sources behind a label that was left out, whatever their own select()s say."""
    seen, queue = {item: None}, deque([item])
    while queue and len(seen) < _DEEPEST:
        label = queue.popleft()
        try:
            package, rule = analyzer.find(label, "")
        except BuildError:  # nothing outside the closure has to be right
            continue
        file = package.root / label.package / label.name
        if rule is None and file.suffix in _SOURCES and file.is_file():
            yield str(label), file
        behind = [found for name in ("srcs", "actual", "deps") for found in _labels(rule.attrs.get(name))] if rule else []
        queue.extend(found for found in behind if found not in seen)
        seen.update(dict.fromkeys(behind))
