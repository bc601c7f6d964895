"""Owns the checks of what the label attributes of Starlark rules were given: files where the attribute takes files, the providers it wants.

    check_prerequisites(ctx, "srcs")      # BuildError: attribute 'srcs' of //:x: source file '//:a.txt' is misplaced here (expected .h)

Rules: Bazel's `attr` reference (allow_files, allow_single_file, providers, executable, allow_empty); the sentences are its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from litert_build.bazel.attributes import Attr
from litert_build.bazel.context import RuleContext, executable_of
from litert_build.bazel.providers import CC_INFO, DEFAULT_INFO, ConfiguredTarget, Provider
from litert_build.starlark.values import EvalError, type_name

_FILES = ("source file", "generated file")


def check_prerequisites(ctx: RuleContext, name: str) -> None:
    """Configure what an attribute names and check it. Raises BuildError at the target."""
    spec = ctx.spec(name)
    for dep in ctx.deps(name):
        fault = "" if dep.kind == "faulty" else _fault(dep, spec, f"{ctx.target.rule.name} {name} files")
        if fault:
            raise ctx.fail(f"attribute '{name}' of {ctx.label}: {fault}", f"the rule is declared in {_home(ctx, name)}")
        if spec.executable:
            executable_of(dep, ctx)


def check_not_empty(ctx: RuleContext, name: str) -> None:
    """Raise BuildError where an attribute with allow_empty = False is empty."""
    if not ctx.spec(name).allow_empty and not ctx.value(name):
        raise ctx.fail(f"attribute '{name}' of {ctx.label} must not be empty", "give it a value, or leave the target out")


def _home(ctx: RuleContext, name: str) -> str:
    return f"{ctx.target.rule.home}: see what its attribute '{name}' takes" if ctx.target.rule.home else "the file that loads it"


def _fault(dep: ConfiguredTarget, spec: Attr, wanted_for: str) -> str:
    """Return what is wrong with a dependency of an attribute, empty where nothing is."""
    allowed = _allowed(spec)
    expected = " or ".join([*filter(None, [", ".join((allowed or ())[:-1])]), *(allowed or ("no files",))[-1:]])
    if dep.kind in _FILES:
        if allowed is not None and not dep.label.name.endswith(allowed):
            return f"{dep.kind} '{dep.label}' is misplaced here (expected {expected})"
    elif not any(all(_provides(dep, provider) for provider in group) for group in spec.providers or ((),)):
        return f"'{dep.label}' does not have mandatory providers: {_described(dep, spec.providers)}"
    if spec.single_file and len(dep.files) != 1:
        return f"'{dep.label}' must produce a single file, it has {len(dep.files)}"
    if allowed and not any(file.path.endswith(allowed) for file in dep.files):
        return f"'{dep.label}' does not produce any {wanted_for} (expected {expected})"
    return ""


def _allowed(spec: Attr) -> tuple[str, ...] | None:
    """Return the endings of files that an attribute takes, none where it takes no files, None where it takes any."""
    allowed = spec.allow_files
    if isinstance(allowed, list | tuple):
        return tuple(allowed)
    return None if allowed else ()


def _provides(dep: ConfiguredTarget, provider: Any) -> bool:
    """Whether a target has a provider. One of Bazel's own that rules here do not give is not asked for."""
    return not _asked(provider) or provider in dep


def _asked(provider: Any) -> bool:
    return isinstance(provider, str) or type(provider) is Provider or provider in (CC_INFO, DEFAULT_INFO)


def _described(dep: ConfiguredTarget, groups: Iterable[Iterable[Any]]) -> str:
    """Return the providers that are missing, of each group that would do."""
    words: list[str] = []
    for group in groups:
        missing = [f"'{provider if isinstance(provider, str) else provider.name}'" for provider in group if not _provides(dep, provider)]
        words.append(missing[0] if len(missing) == 1 else f"[{', '.join(missing)}]")
    return " or ".join(words)


def provider_groups(given: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the value of attr.label(providers=...) as groups, one of which a dependency must have whole. Raises EvalError."""
    if not isinstance(given, list | tuple):
        raise EvalError(f"providers takes a list, not {type_name(given)}")
    grouped = all(isinstance(item, list | tuple) for item in given)
    groups = [tuple(group) for group in (given if grouped else [given])]
    for item in (item for group in groups for item in group):
        if isinstance(item, list | tuple | int | dict) or item is None:
            raise EvalError(f"providers takes providers alone or lists of them alone, not {type_name(item)}")
    return tuple(group for group in groups if group)
