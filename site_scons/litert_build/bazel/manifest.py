"""Owns the manifest of builtins: each name of BUILD and .bzl files, each attribute of each rule, and what this build does about it.

manifest()["names"]["bzl"]["JavaInfo"]             # 'inert: a host holds no Java'
manifest()["rules"]["cc_library"]["linkstatic"]    # 'irrelevant: hosts and tools are linked statically from objects'
manifest_digest()                                  # changes with any of it, and with the evaluator's own code
"""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from litert_build.bazel.attributes import Attr
from litert_build.bazel.rule_class import RuleClass
from litert_build.bazel.rules import RULES, build_globals, bzl_globals
from litert_build.bazel.rules.manifest import MISSING
from litert_build.bazel.rules.starlark_context import StarlarkActions
from litert_build.starlark.opaque import Opaque

MODULES = ("native", "attr", "config", "config_common", "platform_common", "coverage_common", "cc_common", "json")


def _status(value: Any) -> str:
    if isinstance(value, Opaque):
        return f"inert: {value.why}"
    if isinstance(value, RuleClass) and value.missing:
        return f"inert: {value.missing}"
    return "implemented"


def _attribute(spec: Attr) -> str:
    return spec.status if spec.status == "used" else f"{spec.status}: {spec.reason}"


def manifest() -> dict[str, dict[str, dict[str, str]]]:
    """Return `names`: by phase or module, each name's "implemented", "inert: why" or "missing: why"; and `rules`: by rule that is
    built, each attribute's "used", "irrelevant: why" or "unsupported: why"."""
    found = bzl_globals()
    values: dict[str, dict[str, Any]] = {"BUILD": build_globals(), "bzl": found}
    values |= {name: {member: found[name].starlark_attr(member) for member in found[name].starlark_dir()} for name in MODULES}
    values["ctx.actions"] = dict.fromkeys(StarlarkActions.METHODS)
    names = {phase: {name: _status(value) for name, value in members.items()} for phase, members in values.items()}
    for phase, missing in MISSING.items():
        names.setdefault(phase, {}).update({name: f"missing: {why}" for name, why in missing.items()})
    rules = {rule.name: {name: _attribute(spec) for name, spec in rule.attrs.items()} for rule in RULES.values() if not rule.missing}
    return {"names": {phase: dict(sorted(members.items())) for phase, members in names.items()}, "rules": rules}


@functools.cache
def manifest_digest() -> str:
    """Return the hex SHA-256 of the manifest and of the evaluator's code: the part of a cache key that says who evaluated."""
    digest = hashlib.sha256(json.dumps(manifest(), sort_keys=True).encode())
    root = Path(__file__).parent.parent
    for folder in ("bazel", "starlark"):
        for file in sorted(path for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            digest.update(f"\0{file.relative_to(root).as_posix()}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
