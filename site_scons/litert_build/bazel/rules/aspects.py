"""Owns aspects: a function run over a target and, along the attributes it names, over what that depends on.

    seen = with_aspects(ctx, spec, target)      # the target as an attribute with aspects sees it

Rules: Bazel's "Aspects" page. An aspect sees a target once a configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litert_build.bazel.attributes import Attr
from litert_build.bazel.context import RuleContext
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import DEFAULT_INFO, ConfiguredTarget, Provider, Struct
from litert_build.bazel.rule_class import RuleTarget
from litert_build.starlark.modules import located
from litert_build.starlark.values import EvalError, StarlarkList, Value, type_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from litert_build.bazel.rules.starlark_context import StarlarkContext


class Aspect(Value):
    """The value of aspect()."""

    type_name = "Aspect"

    def __init__(self, implementation: Any, attr_aspects: Iterable[str], attrs: dict[str, Attr]) -> None:
        self.implementation = implementation
        self.attr_aspects = tuple(attr_aspects)
        self.attrs = attrs


def with_aspects(ctx: RuleContext, aspects: Iterable[Any], target: ConfiguredTarget) -> ConfiguredTarget:
    """Return `target` with the providers that `aspects` add to it."""
    added: dict[Provider, Any] = {}
    for aspect in aspects:
        if isinstance(aspect, Aspect):
            added.update(_apply(ctx, aspect, target))
    return ConfiguredTarget(target.label, {**target.providers, **added}, target.kind, target.testonly) if added else target


def _apply(ctx: RuleContext, aspect: Aspect, target: ConfiguredTarget) -> dict[Provider, Any]:
    rule = _real_rule(ctx, target.label)
    if rule is None:
        return {}
    known = ctx.analyzer.aspects.setdefault(f"starlark {id(aspect)}", {})
    key = (rule.label, ctx.configuration.name)
    if key not in known:
        known[key] = {}  # what an aspect sees of itself while it runs
        actual = ConfiguredTarget(rule.label, target.providers, target.kind)  # an alias shows the label of what it stands for
        known[key] = _run(RuleContext(ctx.analyzer, rule, ctx.configuration), aspect, actual)
    return dict(known[key])


def _real_rule(ctx: RuleContext, label: Label) -> RuleTarget | None:
    rule = ctx.analyzer.find_rule(label, ctx.location)
    while rule is not None and rule.rule.name == "alias":
        rule = ctx.analyzer.find_rule(ctx.resolver.value(rule, "actual"), ctx.location)
    return rule


def _run(ctx: RuleContext, aspect: Aspect, target: ConfiguredTarget) -> dict[Provider, Any]:
    from litert_build.bazel.rules.starlark_context import StarlarkContext

    for name in _followed(ctx, aspect):
        for dep in ctx.deps(name):
            with_aspects(ctx, [aspect], dep)
    starlark = StarlarkContext(ctx)
    starlark.fields["attr"] = Struct({name: spec.empty() for name, spec in aspect.attrs.items()})
    starlark.fields["rule"] = _rule_struct(ctx, aspect, starlark)
    with located(ctx.location):
        returned = aspect.implementation(target, starlark)
    items = returned if isinstance(returned, list | tuple) else [] if returned is None else [returned]
    providers: dict[Provider, Any] = {}
    for item in items:
        if not isinstance(item, Struct) or item.provider is None:
            raise EvalError(f"an aspect returned {type_name(item)}, which is no provider instance")
        if item.provider is not DEFAULT_INFO:
            providers[item.provider] = item
    return providers


def _followed(ctx: RuleContext, aspect: Aspect) -> list[str]:
    attrs = ctx.target.rule.attrs
    wanted = list(attrs) if "*" in aspect.attr_aspects else aspect.attr_aspects
    return [name for name in wanted if name in attrs and attrs[name].kind in ("label", "label_list") and name != "visibility"]


def _rule_struct(ctx: RuleContext, aspect: Aspect, starlark: StarlarkContext) -> Struct:
    from litert_build.bazel.rules.starlark_context import Lazy

    followed = set(_followed(ctx, aspect))

    def attribute(name: str) -> Any:
        value = starlark.attribute(name)
        if name not in followed:
            return value
        if isinstance(value, ConfiguredTarget):
            return with_aspects(ctx, [aspect], value)
        return StarlarkList(with_aspects(ctx, [aspect], dep) for dep in value or ())

    files = starlark.fields["files"]
    return Struct({"attr": Lazy("struct", attribute, ctx.target.rule.attrs), "files": files, "kind": ctx.target.rule.name})
