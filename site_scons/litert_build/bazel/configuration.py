"""Owns configurations and whether a select() condition holds in one.

    target = Configuration("k8-opt", constraints=frozenset({"@platforms//os:linux"}), ...)

Two exist in a build: the target's, and exec for the tools that run here. Target flags never reach exec.
Rules: Bazel's config_setting reference and "Configurable build attributes" page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from litert_build.bazel.labels import Label
from litert_build.bazel.rule_class import RuleTarget
from litert_build.bazel.select import Verdict
from litert_build.errors import BuildError, nearest

# What `values` of config_setting compares with where the lock sets nothing: Bazel's own defaults.
_OPTION_DEFAULTS: dict[str, str] = {
    "android_crosstool_top": "", "apple_platform_type": "macos", "apple_crosstool_top": "@bazel_tools//tools/cpp:toolchain",
    "compiler": "", "crosstool_top": "@bazel_tools//tools/cpp:toolchain", "collect_code_coverage": "false", "dynamic_mode": "default",
    "force_pic": "false", "grte_top": "", "host_crosstool_top": "", "host_compiler": "", "ios_multi_cpus": "", "ios_sdk_version": "",
    "is exec configuration": "false", "java_language_version": "", "linkopt": "", "macos_cpus": "", "platforms": "",
    "python_version": "PY3",
    "stamp": "false", "strip": "sometimes", "host_force_python": "", "fdo_instrument": "", "fdo_optimize": "", "cs_fdo_instrument": "",
    "incompatible_enable_cc_toolchain_resolution": "true", "apple_split_cpu": "", "features": "", "test_arg": "", "action_env": "",
    "experimental_strict_fp": "false", "force_python": "", "custom_malloc": "", "tvos_cpus": "", "watchos_cpus": "", "visionos_cpus": "",
}  # fmt: skip

# What upstream's .bazelrc, and TensorFlow's, set with --config=android and --config=ios: config_settings know the systems by it.
_OPTIONS_OF_A_SYSTEM: dict[str, dict[str, str]] = {
    "android": {"crosstool_top": "//external:android/crosstool"},
    "ios": {"apple_platform_type": "ios"},
}


@dataclass(frozen=True)
class Configuration:
    """Everything a select() or a compile depends on besides the target itself. `name` is the output folder's."""

    name: str
    cpu: str
    constraints: frozenset[str]
    toolchain: str
    compiler: str
    mode: str = "opt"
    is_exec: bool = False
    host_cpu: str = "k8"
    defines: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    copts: tuple[str, ...] = ()
    cxxopts: tuple[str, ...] = ()
    conlyopts: tuple[str, ...] = ()
    linkopts: tuple[str, ...] = ()
    os: str = "linux"

    @property
    def bin_root(self) -> str:
        return f"bazel-out/{self.name}/bin"

    def option(self, name: str, where: str) -> list[str]:
        """Return the values of a command-line option, one but for `copt`. Raises BuildError for an option this build does not have."""
        if name == "copt":
            return list(self.copts)
        if name == "cxxopt":
            return list(self.cxxopts)
        own = {"cpu": self.cpu, "host_cpu": self.host_cpu, "compilation_mode": self.mode, **_OPTIONS_OF_A_SYSTEM.get(self.os, {})}
        known = {**_OPTION_DEFAULTS, **own}
        if name not in known:
            raise BuildError(
                f"config_setting reads the unknown option --{name}",
                where=where,
                mend=nearest(name, known) or "add it with Bazel's default to bazel/configuration.py",
            )
        return [known[name]]


Find = Callable[[Label, str], RuleTarget | None]
Resolve = Callable[[RuleTarget, str], Any]


class Conditions:
    """Judges conditions in one configuration, each once. `find` gives a label's target, `resolve` an attribute's value."""

    def __init__(self, configuration: Configuration, find: Find, resolve: Resolve) -> None:
        self.configuration = configuration
        self.find = find
        self.resolve = resolve
        self.known: dict[Label, Verdict] = {}
        self.active: list[Label] = []

    def judge(self, label: Label) -> Verdict:
        """Return whether `label` holds. Raises BuildError if it is no condition, or depends on itself."""
        if label in self.known:
            return self.known[label]
        if label in self.active:
            raise BuildError(f"condition {label} depends on itself", notes=[str(other) for other in self.active])
        self.active.append(label)
        try:
            verdict = self.known[label] = self._judge(label)
        finally:
            self.active.pop()
        return verdict

    def _judge(self, label: Label) -> Verdict:
        if (label.package, label.name) == ("conditions", "default"):  # an alias may lead here: it always holds
            return Verdict(True)
        target = self.find(label, "")
        kind = target.rule.name if target else "file"
        if target is not None and kind == "alias":
            return self.judge(self.resolve(target, "actual"))
        if target is not None and kind == "config_setting":
            return self._setting(target)
        if kind == "constraint_value":
            holds = str(label) in self.configuration.constraints
            return Verdict(holds, frozenset({("constraint", str(label))}), "" if holds else "not the platform's")
        raise BuildError(f"{label} is a {kind}, no condition of a select()", where=target.location if target else "")

    def _setting(self, target: RuleTarget) -> Verdict:
        facts: set[tuple[str, str]] = set()
        failed: list[str] = []
        for name, wanted in self.resolve(target, "values").items():
            facts.add((name, wanted))
            if not self._option_matches(name, wanted, target.location):
                failed.append(f"--{name} is not {wanted}")
        for name, wanted in self.resolve(target, "define_values").items():
            facts.add(("define", f"{name}={wanted}"))
            if self.configuration.defines.get(name) != wanted:
                failed.append(f"--define {name} is {self.configuration.defines.get(name, 'not set')}")
        for flag, wanted in self.resolve(target, "flag_values").items():
            facts.add((str(flag), wanted))
            value = self.flag_value(flag)
            if value != (wanted.lower() if value in ("true", "false") else wanted):
                failed.append(f"{flag} is {value}")
        for constraint in self.resolve(target, "constraint_values"):
            verdict = self.judge(constraint)
            facts |= verdict.facts
            if not verdict.holds:
                failed.append(f"{constraint} {verdict.why or 'does not hold'}")
        if not facts:
            what = f"{target.label} decides nothing: it has no values, define_values, flag_values or constraint_values"
            raise BuildError(what, where=target.location, notes=target.notes(), mend="give it one, or use //conditions:default")
        return Verdict(not failed, frozenset(facts), "; ".join(failed), target.testonly)

    def _option_matches(self, name: str, wanted: str, where: str) -> bool:
        if name == "define":
            key, equals, value = wanted.partition("=")
            if not equals:
                raise BuildError(f"config_setting compares --define with '{wanted}'", where=where, mend="write name=value")
            return self.configuration.defines.get(key) == value
        values = self.configuration.option(name, where)
        booleans = {"1": "true", "0": "false", "yes": "true", "no": "false"}
        return wanted in values or booleans.get(wanted.lower(), wanted.lower()) in values

    def flag_value(self, label: Label) -> str:
        """Return the value of a build setting: the lock's, else its default. Raises BuildError if it is none."""
        target = self.find(label, "")
        if target is not None and target.rule.name == "alias":
            return self.flag_value(self.resolve(target, "actual"))
        if target is not None and target.rule.name == "compiler_flag":
            return self.configuration.compiler
        if target is None or not target.rule.build_setting:
            raise BuildError(
                f"{label} is no build setting", where=target.location if target else "", mend="flag_values takes string_flag, bool_flag"
            )
        value = self.configuration.flags.get(str(target.label))
        if value is None:
            value = self.resolve(target, "build_setting_default")
        allowed = self.resolve(target, "values") if "values" in target.rule.attrs else []
        if allowed and value not in allowed:
            raise BuildError(
                f"{label} is set to {value!r}, which is not one of its values: {', '.join(allowed)}",
                where=target.location,
                mend=nearest(str(value), allowed),
            )
        return str(value).lower() if isinstance(value, bool) or str(value) in ("True", "False") else str(value)
