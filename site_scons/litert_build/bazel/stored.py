"""Owns packages as plain data: what a package becomes in a file, and how it comes back, each target when it is first asked for.

    data = plain_package(package)            # strings, numbers, lists, dicts, tuples and bytes only
    fill(other, data)                        # other.targets["x"] is made from its row now

A value of an attribute that Python's marshal keeps as it is stands for itself, a list or dict for Starlark's. A tuple is a label where it
starts with a string; else its first item says what it is. What has no such form makes the package Unstorable.
"""

from __future__ import annotations

import functools
import marshal
from collections import UserDict
from collections.abc import Callable, Iterable
from typing import Any

from litert_build.bazel.labels import Label
from litert_build.bazel.packages import Package, PackageGroup, Packages, UnavailableRule, unavailable_rule
from litert_build.bazel.rule_class import RuleClass, RuleTarget
from litert_build.bazel.select import Select, SelectorList
from litert_build.starlark.opaque import Inert, Opaque
from litert_build.starlark.values import MAX_DEPTH, StarlarkDict, StarlarkList

_AS_IT_IS = frozenset((str, int, bool, float, type(None)))
_TUPLE, _SELECTS, _SELECT, _OPAQUE = range(4)
_OPAQUES: dict[str, type[Opaque]] = {kind.__name__: kind for kind in (Opaque, Inert, UnavailableRule)}


class Unstorable(Exception):
    """A package holds a value that no plain data stands for: a function, say, or a rule that no .bzl file exports."""


@functools.cache
def plain_label(label: Label) -> tuple[str, str, str]:
    """Return what stands for a label, one tuple for all that are equal: marshal writes it once."""
    return label.repository, label.package, label.name


@functools.cache
def label_of(plain: tuple[str, str, str]) -> Label:
    """Return the label that three strings stand for."""
    return Label(*plain)


def plain_value(value: Any, depth: int = 0) -> Any:
    """Return what stands for the value of an attribute. Raises Unstorable."""
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is Label:
        return plain_label(value)
    depth += 1
    if depth > MAX_DEPTH:
        raise Unstorable
    if kind is StarlarkList:
        return [item if type(item) is str else plain_value(item, depth) for item in value]  # most items are strings
    if kind is SelectorList:
        return (_SELECTS, *[plain_value(part, depth) for part in value.parts])
    if kind is Select:
        return _SELECT, _plain_items(value.branches, depth), value.no_match_error
    if kind is StarlarkDict:
        return _plain_items(value, depth)
    if kind is tuple:
        return (_TUPLE, *[plain_value(item, depth) for item in value])
    if kind in _OPAQUES.values():
        return _OPAQUE, kind.__name__, value.name, value.owner, value.why, value.place
    raise Unstorable


def _plain_items(items: dict[Any, Any], depth: int = 0) -> dict[Any, Any]:
    return {plain_value(key, depth): plain_value(item, depth) for key, item in items.items()}


def value_of(plain: Any) -> Any:
    """Return the value that `plain` stands for, made anew."""
    kind = type(plain)
    if kind is list:
        return StarlarkList([value_of(item) for item in plain])
    if kind is dict:
        return StarlarkDict(_items_of(plain))
    if kind is not tuple:
        return plain
    what = plain[0]
    if type(what) is str:
        return label_of(plain)
    if what == _SELECTS:
        return SelectorList([value_of(part) for part in plain[1:]])
    if what == _SELECT:
        return Select(_items_of(plain[1]), plain[2])
    if what == _TUPLE:
        return tuple(value_of(item) for item in plain[1:])
    return _OPAQUES[plain[1]](*plain[2:])


def _items_of(plain: dict[Any, Any]) -> dict[Any, Any]:
    return {value_of(key): value_of(item) for key, item in plain.items()}


def _plain_rule(rule: RuleClass, packages: Packages) -> Any:
    """Return what stands for a rule: a builtin's name, the .bzl file that exports it, or why there is none."""
    if packages.build_globals.get(rule.name) is rule:
        return rule.name
    if rule.origin is not None:
        return plain_label(rule.origin), rule.name
    if rule.missing:
        return rule.name, rule.missing
    raise Unstorable


def _rule_of(plain: Any, package: Package) -> RuleClass:
    if isinstance(plain, str):
        found = package.owner.build_globals[plain]
    elif isinstance(plain[0], str):
        found = unavailable_rule(*plain)
    else:
        module = package.owner.modules.load(label_of(plain[0]), package.display)
        assert isinstance(module, dict)
        found = module[plain[1]]
    assert isinstance(found, RuleClass)
    return found


class Rows(UserDict[str, RuleTarget]):
    """Targets by name, each made when it is first asked for."""

    def __init__(self, names: Iterable[str], make: Callable[[str], RuleTarget]) -> None:
        super().__init__()
        self.data: dict[str, Any] = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: str) -> RuleTarget:
        found: RuleTarget | None = self.data[name]
        if found is None:
            found = self.data[name] = self._make(name)
        return found


def plain_package(package: Package) -> tuple[Any, ...]:
    """Return what stands for an evaluated package. Raises Unstorable."""
    rows = {
        name: (_plain_rule(target.rule, package.owner), _plain_items(target.attrs), target.stack, target.outputs)
        for name, target in package.targets.items()
    }
    return (
        tuple(rows),
        marshal.dumps(rows),
        {name: target.label.name for name, target in package.outputs.items()},
        [(name, group.packages, _plain_labels(group.includes)) for name, group in package.groups.items()],
        {name: None if seen is None else _plain_labels(seen) for name, seen in package.exported.items()},
        _plain_labels(package.default_visibility),
        package.features,
        package.default_testonly,
    )


def fill(package: Package, plain: tuple[Any, ...]) -> None:
    """Make an empty package what `plain` stands for."""
    names, written, outputs, groups, exported, visibility, package.features, package.default_testonly = plain
    rows = functools.cache(lambda: marshal.loads(written))

    def target(name: str) -> RuleTarget:
        rule, attrs, stack, made = rows()[name]
        label = Label(package.repository, package.name, name)
        return RuleTarget(label, _rule_of(rule, package), _items_of(attrs), stack, package, made)

    package.targets = Rows(names, target)
    package.outputs = Rows(outputs, lambda name: package.targets[outputs[name]])
    for name, packages, includes in groups:
        package.groups[name] = PackageGroup(Label(package.repository, package.name, name), packages, _labels_of(includes))
    package.exported.update({name: None if seen is None else _labels_of(seen) for name, seen in exported.items()})
    package.default_visibility = _labels_of(visibility)


def _plain_labels(labels: tuple[Label, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple(map(plain_label, labels))


def _labels_of(plain: tuple[tuple[str, str, str], ...]) -> tuple[Label, ...]:
    return tuple(map(label_of, plain))
