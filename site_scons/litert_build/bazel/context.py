"""Owns what a rule implementation sees of its target: resolved attributes, dependencies, files, and how to register actions.

def implement(ctx):
    objects = [compile_one(ctx, file) for file in ctx.files("srcs")]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from litert_build.actions import Action, Traced
from litert_build.bazel.attributes import Attr
from litert_build.bazel.configuration import Configuration
from litert_build.bazel.labels import Label
from litert_build.bazel.make_variables import expand, tokenize
from litert_build.bazel.providers import TEMPLATE_VARIABLE_INFO, ConfiguredTarget, File
from litert_build.bazel.rule_class import RuleTarget
from litert_build.errors import BuildError
from litert_build.starlark.values import EvalError

if TYPE_CHECKING:
    from litert_build.bazel.analysis import Analyzer

# Make variables with one value in every build (Bazel's "Make variables" page); tools are run by name through the shell's PATH.
_VARIABLES = {"STACK_FRAME_UNLIMITED": "", "CC_FLAGS": "", "AR": "ar", "NM": "nm", "OBJCOPY": "objcopy", "STRIP": "strip", "ABI": "local"}


class RuleContext:
    """One target in one configuration."""

    def __init__(self, analyzer: Analyzer, target: RuleTarget, configuration: Configuration) -> None:
        self.analyzer = analyzer
        self.target = target
        self.label = target.label
        self.configuration = configuration
        self.resolver = analyzer.resolvers[configuration.name]

    @property
    def location(self) -> str:
        return self.target.location

    def fail(self, what: str, mend: str = "") -> BuildError:
        return BuildError(what, where=self.location, notes=self.target.notes(), mend=mend)

    # Attributes

    def spec(self, name: str) -> Attr:
        return self.target.rule.attrs[name]

    def given(self, name: str) -> bool:
        return name in self.target.attrs

    def value(self, name: str) -> Any:
        return self.resolver.value(self.target, name)

    def traced(self, name: str) -> list[Traced]:
        return self.resolver.traced(self.target, name)

    def features(self) -> tuple[str, ...]:
        """The target's features: the package's first, then its own; `-name` switches off."""
        return (*self.target.package.features, *self.value("features"))

    def check_supported(self) -> None:
        """Raise BuildError if an attribute is set to something that this build does not support."""
        for name in self.target.attrs:
            spec = self.spec(name)
            if spec.status == "unsupported" and self.value(name):
                raise self.fail(f"attribute '{name}' of {self.label} is not supported: {spec.reason}", "drop it in an overlay")

    # Dependencies

    def configuration_for(self, spec: Attr) -> Configuration:
        return self.analyzer.exec if spec.cfg == "exec" else self.configuration

    def dep(self, label: Label, configuration: Configuration | None = None) -> ConfiguredTarget:
        return self.analyzer.configured(label, configuration or self.configuration, self.target)

    def deps(self, name: str) -> list[ConfiguredTarget]:
        """Return the configured targets of a label or label_list attribute, in order."""
        spec = self.spec(name)
        value = self.value(name)
        if not self.given(name) and value:
            value = spec.convert(value, name, self.target.package.to_label)
        labels: Iterable[Any] = () if value is None else [value] if isinstance(value, Label) else value
        if spec.kind == "string_keyed_label_dict":
            labels = value.values()
        return [self.dep(label, self.configuration_for(spec)) for label in labels]

    def files(self, name: str) -> tuple[File, ...]:
        """Return the default files of an attribute's dependencies, each once."""
        return tuple(dict.fromkeys(file for dep in self.deps(name) for file in dep.files))

    def executable(self, name: str) -> File:
        """Return the executable of a label attribute. Raises BuildError where it has none."""
        found = self.deps(name)
        return executable_of(found[0], self) if found else self._no_value(name)

    def _no_value(self, name: str) -> File:
        raise self.fail(f"attribute '{name}' of {self.label} names no executable")

    # Outputs

    def declare(self, name: str) -> File:
        """Return the output file `name` of this package."""
        return self.analyzer.output_file(self.label.sibling(name), self.configuration)

    def register(self, action: Action) -> None:
        self.analyzer.actions.add(action)

    # Make variables

    def variables(self) -> dict[str, str]:
        """Return the Make variables of this target: the configuration's, the fixed ones and those of `toolchains`."""
        root = self.configuration.bin_root
        found = {
            **_VARIABLES,
            "BINDIR": root,
            "GENDIR": root,
            "COMPILATION_MODE": self.configuration.mode,
            "TARGET_CPU": self.configuration.cpu,
        }
        found.update(self.configuration.defines)
        if "toolchains" in self.target.rule.attrs:
            for dep in self.deps("toolchains"):
                info = dep.get(TEMPLATE_VARIABLE_INFO)
                if info is not None:
                    found.update(info.fields["variables"])
        return found

    def expand(self, text: str, attribute: str, sources: Iterable[ConfiguredTarget] = (), extra: dict[str, str] | None = None) -> str:
        """Return `text` with Make variables and $(location) expanded. Raises BuildError for an unknown one."""
        try:
            return expand(text, {**self.variables(), **(extra or {})}, lambda kind, label: self._locations(kind, label, sources))
        except EvalError as error:
            raise self.fail(f"attribute '{attribute}' of {self.label}: {error}") from None

    def words(self, name: str, sources: Iterable[ConfiguredTarget] = ()) -> list[Traced]:
        """Return a string list attribute with variables expanded and split as a shell would, each word traced."""
        return self.expand_words(self.traced(name), name, sources)

    def expand_words(self, items: Iterable[Traced], name: str, sources: Iterable[ConfiguredTarget] = ()) -> list[Traced]:
        out: list[Traced] = []
        for item in items:
            text = self.expand(item, name, sources) if "$" in item else str(item)
            try:
                out += [Traced(word, item.origin) for word in tokenize(text)]
            except EvalError as error:
                raise self.fail(f"attribute '{name}' of {self.label}: {error}") from None
        return out

    def _locations(self, kind: str, text: str, sources: Iterable[ConfiguredTarget]) -> str:
        label = self.target.package.to_label(text)
        for dep in sources:
            if dep.label != label:
                continue
            executable = dep.executable
            files = [executable] if executable is not None else list(dep.files)
            if not kind.endswith("s") and len(files) != 1:
                raise EvalError(f"$({kind} {text}) expands to {len(files)} files, use ${kind}s")
            short = kind.startswith("root") or kind.startswith("rlocation")
            return " ".join(sorted({file.short_path if short else file.path for file in files}))
        raise EvalError(f"$({kind} {text}): {label} is not a declared prerequisite of this rule")


def executable_of(target: ConfiguredTarget, ctx: RuleContext) -> File:
    """Return what to run of a tool: its executable or its only file. Raises BuildError."""
    if target.executable is not None:
        return target.executable
    if len(target.files) != 1:
        raise ctx.fail(f"{target.label} is used as a tool, but it has {len(target.files)} files and no executable")
    return target.files[0]
