"""Owns rule(), attr, provider(), aspect() and their like: rules written in Starlark become rule classes like the native ones.

    my_rule = rule(implementation = _impl, attrs = {"srcs": attr.label_list(allow_files = True)})

Rules: Bazel's "Rules" page, the `rule` and `attr` references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from litert_build.bazel.attributes import COMMON, TEST, Attr
from litert_build.bazel.context import RuleContext
from litert_build.bazel.labels import Label
from litert_build.bazel.prerequisites import check_not_empty, check_prerequisites, provider_groups
from litert_build.bazel.providers import (
    CC_INFO,
    DEFAULT_INFO,
    CcInfo,
    Provider,
    Struct,
    default_info,
)
from litert_build.bazel.rule_class import RuleClass
from litert_build.bazel.rules.aspects import Aspect
from litert_build.bazel.rules.starlark_context import StarlarkContext
from litert_build.starlark.modules import call_stack
from litert_build.starlark.values import Builtin, EvalError, StarlarkFunction, Value, freeze, to_repr, type_name

_ATTR_KINDS = ("label", "label_list", "string", "string_list", "int", "int_list", "bool", "output", "output_list", "string_dict",
               "string_list_dict", "label_keyed_string_dict", "string_keyed_label_dict")  # fmt: skip
_BUILT_IN = frozenset(("name", "visibility", "tags", "testonly", "deprecation", "features", "toolchains", "compatible_with",
                       "exec_compatible_with", "target_compatible_with", "restricted_to", "applicable_licenses",
                       "aspect_hints"))  # fmt: skip


class BuildSetting(Value):
    """config.string() and its like: what kind of build setting a rule is."""

    type_name = "BuildSetting"

    def __init__(self, kind: str) -> None:
        self.kind = kind


class Namespace(Value):
    """A module-like value: attr, config, native."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self.type_name = name
        self.members = members

    def starlark_attr(self, name: str) -> Any:
        if name not in self.members:
            raise EvalError(f"'{self.type_name}' has no field or method '{name}'")
        return self.members[name]

    def starlark_dir(self) -> list[str]:
        return sorted(self.members)


def _make_attr(kind: str) -> Callable[..., Attr]:
    def make(
        default: Any = None, doc: Any = "", mandatory: bool = False, executable: bool = False, allow_files: Any = None,
        allow_single_file: Any = None, cfg: Any = None, values: Any = (), aspects: Any = (), configurable: Any = True,
        providers: Any = (), allow_empty: bool = True, flags: Any = (), allow_rules: Any = None, skip_validations: bool = False,
    ) -> Attr:  # fmt: skip
        freeze(default)
        if allow_files is not None and allow_single_file is not None:
            raise EvalError("an attribute takes allow_files or allow_single_file, not both")
        if executable and cfg is None:
            raise EvalError('an attribute with executable = True needs cfg: write cfg = "exec" for a tool')
        made = Attr(
            kind, default=default, cfg="exec" if cfg == "exec" or getattr(cfg, "kind", "") == "exec" else "target",
            mandatory=mandatory, executable=executable, allow_files=allow_files if allow_single_file is None else allow_single_file,
            single_file=allow_single_file not in (None, False), values=tuple(values), aspects=tuple(aspects),
            providers=provider_groups(providers), allow_empty=allow_empty, starlark=True,
        )  # fmt: skip
        if isinstance(default, str | int | float | list | tuple | dict) and not made.is_label:
            Attr(kind).convert(default, "default", parse_nothing)  # its type: `values` do not bind a default
        return made

    return make


def parse_nothing(text: Any) -> Label:
    """What makes labels of the default of an attribute that takes none."""
    raise EvalError(f"no label is expected: {to_repr(text)}")


def attr_module() -> Namespace:
    """Return `attr`, whose functions make the attributes of Starlark rules."""
    return Namespace("attr", {kind: Builtin(f"attr.{kind}", _make_attr(kind)) for kind in _ATTR_KINDS})


def _specs(attrs: Any) -> dict[str, Attr]:
    found: dict[str, Attr] = {}
    for name, value in (attrs or {}).items():
        if not isinstance(value, Attr):
            raise EvalError(f"attribute '{name}' of a rule is {type_name(value)}, want a value of the attr module")
        if name in _BUILT_IN or not str(name).isidentifier():
            raise EvalError(
                f"attribute '{name}' cannot be declared: " + ("each rule has it" if name in _BUILT_IN else "it is no identifier")
            )
        found[name] = value
    return found


def make_aspect(implementation: Any, attr_aspects: Any = (), attrs: Any = None, **_: Any) -> Aspect:
    """The aspect() builtin."""
    return Aspect(implementation, attr_aspects, _specs(attrs))


def make_rule(
    implementation: Any, attrs: Any = None, outputs: Any = None, executable: bool = False, test: bool = False,
    build_setting: Any = None, **_: Any,
) -> RuleClass:  # fmt: skip
    """The rule() builtin. Raises EvalError for attributes that are none."""
    if not isinstance(implementation, StarlarkFunction):
        raise EvalError(f"rule(implementation) takes a function, not {type_name(implementation)}")
    specs = {**COMMON, **(TEST if test else {}), **_specs(attrs)}
    if executable or test:
        specs.setdefault("args", TEST["args"])
    if build_setting is not None:
        specs["build_setting_default"] = Attr(_setting_kind(build_setting), mandatory=True, configurable=False)
        specs.setdefault("scope", Attr("string", configurable=False))
    home = call_stack()
    rule = RuleClass(
        "",
        specs,
        None,
        home=f"{home[-1][0]}:{home[-1][1]}" if home else "",
        build_setting=build_setting is not None,
        executable=executable or test,
        test=test,
    )
    rule.outputs = lambda given: _predeclared(rule, given, outputs)
    rule.implement = lambda ctx: run_rule(ctx, implementation)
    return rule


def _setting_kind(setting: Any) -> str:
    if not isinstance(setting, BuildSetting):
        raise EvalError("build_setting takes config.string(), config.bool(), config.int() or config.string_list()")
    return setting.kind


def _predeclared(rule: RuleClass, given: dict[str, Any], outputs: Any) -> Iterable[str]:
    for name, spec in rule.attrs.items():
        if spec.kind == "output" and isinstance(given.get(name), Label):
            yield given[name].name
        elif spec.kind == "output_list":
            yield from (label.name for label in given.get(name, ()))
    yield from implicit_outputs(outputs, given).values()


def implicit_outputs(outputs: Any, given: dict[str, Any]) -> dict[str, str]:
    """Return the outputs that rule(outputs=...) names, `%{attribute}` filled in."""
    if outputs is None:
        return {}
    if not isinstance(outputs, dict):
        outputs = outputs(**{name: given.get(name) for name in outputs.code.__code__.co_varnames[: outputs.code.__code__.co_argcount]})
    filled: dict[str, str] = {}
    for key, template in outputs.items():
        text = template
        for name, value in given.items():
            text = text.replace("%{" + name + "}", value.name if isinstance(value, Label) else str(value))
        filled[key] = text
    return filled


def run_rule(ctx: RuleContext, implementation: Any) -> dict[Any, Any]:
    """Run a Starlark rule implementation and return its providers by key. Raises BuildError or EvalError."""
    for name, spec in ctx.target.rule.attrs.items():
        if spec.is_label and spec.kind not in ("output", "output_list") and spec.status == "used" and name != "visibility":
            if spec.starlark:
                check_prerequisites(ctx, name)
            else:
                ctx.deps(name)  # dependencies first: their rules may run the same function
        check_not_empty(ctx, name)
    starlark = StarlarkContext(ctx)
    providers = collect_providers(implementation(starlark), ctx, starlark)
    starlark.actions.check_all_made()
    for name in ctx.target.outputs:
        if ctx.declare(name).path not in ctx.analyzer.actions.by_output:
            raise ctx.fail(
                f"{ctx.label}: no action makes its output '{name}'", f"the implementation of {ctx.target.rule.name} registers none"
            )
    return providers


def collect_providers(returned: Any, ctx: RuleContext, starlark: StarlarkContext) -> dict[Any, Any]:
    """Return what an implementation returned as a mapping, DefaultInfo added where it is missing."""
    if returned is None:
        returned = []
    if isinstance(returned, Struct) and returned.provider is None:
        returned = returned.fields.get("providers", [])
    if not isinstance(returned, list | tuple):
        returned = [returned]
    providers: dict[Any, Any] = {}
    for item in returned:
        key = provider_of(item)
        if key is None:
            raise EvalError(f"rule {ctx.target.rule.name} returned {type_name(item)}, which is no provider instance")
        if key in providers:
            raise EvalError(f"rule {ctx.target.rule.name} returned two instances of {key.name}")
        providers[key] = item
    if DEFAULT_INFO not in providers:
        providers[DEFAULT_INFO] = default_info(starlark.predeclared())
    elif not providers[DEFAULT_INFO].fields["files"] and ctx.target.outputs:
        providers[DEFAULT_INFO] = default_info(starlark.predeclared(), providers[DEFAULT_INFO].fields.get("executable"))
    return providers


def provider_of(item: Any) -> Provider | None:
    """Return the provider an instance belongs to, None where it is no instance."""
    if isinstance(item, CcInfo):
        return CC_INFO
    return item.provider if isinstance(item, Struct) else None
