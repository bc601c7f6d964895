"""Owns rule classes and the targets that calling them declares.

    cc_library = RuleClass("cc_library", {**COMMON, "srcs": Attr("label_list")}, implement)

A rule class is a value of BUILD and .bzl files; calling it adds a RuleTarget to the package being evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from litert_build.bazel.attributes import Attr
from litert_build.bazel.labels import Label
from litert_build.errors import nearest
from litert_build.starlark.values import EvalError, Value, to_repr

if TYPE_CHECKING:
    from litert_build.bazel.packages import Package

Place = tuple[str, int, str]
_VISIBILITY = ("public", "private", "legacy_public")


@dataclass
class RuleTarget:
    """One declared target: its attributes as given (labels absolute, selects open) and the places that declared it, BUILD line first."""

    label: Label
    rule: RuleClass
    attrs: dict[str, Any]
    stack: tuple[Place, ...]
    package: Package
    outputs: tuple[str, ...] = ()

    @property
    def location(self) -> str:
        return f"{self.stack[0][0]}:{self.stack[0][1]}" if self.stack else str(self.label)

    @property
    def testonly(self) -> bool:
        """Whether only tests and what is testonly too may depend on it: as given, else as package() says; a test is by itself."""
        return bool(self.attrs.get("testonly", self.package.default_testonly or self.rule.test))

    def notes(self) -> list[str]:
        """The macro stack below the BUILD line, a line each."""
        return [f"in {name} at {file}:{line}" for file, line, name in self.stack[1:]]


def check_visibility_labels(labels: Iterable[Any]) -> None:
    """Raise EvalError for a label of the package visibility that says nothing."""
    for label in labels:
        if isinstance(label, Label) and label.package == "visibility" and not label.repository and label.name not in _VISIBILITY:
            raise EvalError(f"invalid visibility label '{label}'; {nearest(label.name, _VISIBILITY)}".rstrip("; "))


@dataclass(eq=False)
class RuleClass(Value):
    """A rule: attribute schema and what to do at analysis. `missing` says why a declared rule cannot be built here; `origin` is the .bzl
    file that defines it, None for a rule of this build. What `implement` returns is the target's providers, or of a `transparent` rule
    the target that it stands for."""

    name: str
    attrs: dict[str, Attr]
    implement: Callable[..., Any] | None = None
    missing: str = ""
    outputs: Callable[[dict[str, Any]], Iterable[str]] | None = None
    build_setting: bool = False
    executable: bool = False
    test: bool = False
    transparent: bool = False
    current: Callable[[], Package] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    home: str = ""
    any_attr: bool = False
    origin: Label | None = None

    type_name = "rule"

    def starlark_str(self) -> str:
        return f"<rule {self.name}>"

    def __call__(self, *args: Any, **given: Any) -> None:
        from litert_build.bazel.packages import current_package

        if args:
            raise EvalError(f"{self.name}() takes named arguments only")
        package = current_package(f"{self.name}()")
        name = given.get("name")
        if not isinstance(name, str) or not name:
            raise EvalError(f"{self.name} rule needs a name, not {to_repr(name)}")
        attrs: dict[str, Any] = {}
        for key, value in given.items():
            spec = self.attrs.get(key)
            if spec is None:
                if self.any_attr:
                    continue
                raise EvalError(f"{self.name} rule '{name}' has no attribute '{key}'; {nearest(key, self.attrs)}".rstrip("; "))
            if key.startswith("_"):
                raise EvalError(f"{self.name} rule '{name}': attribute '{key}' is private")
            if value is not None:
                attrs[key] = spec.convert(value, key, package.to_label)
        check_visibility_labels(attrs.get("visibility", ()))
        for key, spec in self.attrs.items():
            if spec.mandatory and key not in attrs:
                raise EvalError(f"missing value for mandatory attribute '{key}' in {self.name} rule '{name}'")
        package.add_rule(self, name, attrs)
