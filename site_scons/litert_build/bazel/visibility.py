"""Owns visibility: who may depend on whom.

    check_visibility(packages, label, parent)      # BuildError: target '...' is not visible from target '...'

Rules: Bazel's "Visibility" page. A lock may declare visibility advisory for a tree whose public form lists internal users.
"""

from __future__ import annotations

from litert_build.bazel.labels import Label
from litert_build.bazel.packages import Package, Packages
from litert_build.bazel.rule_class import RuleTarget
from litert_build.errors import BuildError


def check_visibility(packages: Packages, label: Label, parent: RuleTarget) -> None:
    """Raise BuildError unless `label` is visible to the package of `parent`."""
    package = packages.load(label.repository, label.package)
    allowed = _visibility(package, label)
    if allowed is None or _admits(packages, package, allowed, parent.label):
        return
    rule = package.targets.get(label.name) or package.outputs.get(label.name)
    raise BuildError(
        f"target '{label}' is not visible from target '{parent.label}'",
        where=parent.location,
        notes=[
            *parent.notes(),
            f"declared at {rule.location if rule else package.display}",
            f"visible to: {', '.join(map(str, allowed)) or 'its own package'}",
        ],
        mend='set "visibility": "advisory" in the lock if the tree lists users outside it, or widen it in an overlay',
    )


def _visibility(package: Package, label: Label) -> tuple[Label, ...] | None:
    rule = package.targets.get(label.name) or package.outputs.get(label.name)
    if rule is None:
        return package.exported.get(label.name)
    if "visibility" in rule.attrs:
        return tuple(rule.attrs["visibility"])
    if rule.rule.name in ("config_setting", "constraint_value", "constraint_setting", "toolchain_type"):
        return None
    return package.default_visibility


def _admits(packages: Packages, package: Package, allowed: tuple[Label, ...], user: Label) -> bool:
    for spec in allowed:
        if spec.package == "visibility":
            if spec.name == "public":
                return True
            continue
        if spec.name in ("__pkg__", "__subpackages__"):
            if spec.repository == user.repository and _covers(spec.package, user.package, spec.name == "__subpackages__"):
                return True
        elif _group_admits(packages, spec, user, set()):
            return True
    return False


def _covers(package: str, user: str, below: bool) -> bool:
    return user == package or (below and (not package or user.startswith(package + "/")))


def _group_admits(packages: Packages, label: Label, user: Label, seen: set[Label]) -> bool:
    if label in seen:
        return False
    seen.add(label)
    group = packages.load(label.repository, label.package).groups.get(label.name)
    if group is None:
        return False
    verdict = False
    for text in group.packages:
        positive = not text.startswith("-")
        if _spec_admits(packages, text.lstrip("-"), label, user):
            if not positive:
                return False
            verdict = True
    return verdict or any(_group_admits(packages, other, user, seen) for other in group.includes)


def _spec_admits(packages: Packages, text: str, group: Label, user: Label) -> bool:
    if text in ("public", "//..."):
        return text == "public" or user.repository == group.repository
    if text == "private":
        return False
    below = text.endswith("/...")
    spec = packages.label(text.removesuffix("/...") + ":x", group.repository, group.package, packages.mapping(group.repository))
    return spec.repository == user.repository and _covers(spec.package, user.package, below)
