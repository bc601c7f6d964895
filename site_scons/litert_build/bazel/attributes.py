"""Owns rule attributes: their types, the check of a value where a target is declared, labels made absolute there.

    Attr("label_list").convert(["a.cc", ":b"], "srcs", context)

Rules: Bazel's `attr` module reference and "Common attributes" page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.select import DEFAULT, Select, SelectorList
from litert_build.starlark.opaque import Opaque
from litert_build.starlark.values import EvalError, StarlarkDict, StarlarkList, Value, to_repr, type_name

Status = Literal["used", "irrelevant", "unsupported"]
ToLabel = Callable[[Any], Label]

LABEL_KINDS = frozenset(("label", "label_list", "label_keyed_string_dict", "string_keyed_label_dict", "output", "output_list"))
_EMPTY: dict[str, Any] = {
    "string": "", "int": 0, "bool": False, "tristate": -1, "label": None, "output": None, "string_list": (), "int_list": (),
    "label_list": (), "output_list": (), "string_dict": {}, "string_list_dict": {}, "label_keyed_string_dict": {},
    "string_keyed_label_dict": {}, "any": None,
}  # fmt: skip


@dataclass(frozen=True)
class Attr(Value):
    """One attribute of a rule, also what the attr module returns. `status` says whether this build heeds it;
    irrelevant and unsupported ones say why in `reason`."""

    type_name = "Attribute"
    kind: str
    default: Any = None
    status: Status = "used"
    reason: str = ""
    cfg: Any = "target"
    mandatory: bool = False
    executable: bool = False
    allow_files: Any = None
    single_file: bool = False
    values: tuple[Any, ...] = ()
    configurable: bool = True
    aspects: tuple[Any, ...] = ()
    providers: tuple[tuple[Any, ...], ...] = ()
    allow_empty: bool = True
    starlark: bool = False  # made by the attr module: what it is given is checked by these fields

    @property
    def is_label(self) -> bool:
        return self.kind in LABEL_KINDS

    def empty(self) -> Any:
        return _EMPTY[self.kind] if self.default is None else self.default

    def convert(self, value: Any, name: str, to_label: ToLabel) -> Any:
        """Return `value` checked and with labels made absolute, select branches included; what is unavailable stays so until a
        closure needs it. Raises EvalError on a wrong type."""
        if isinstance(value, Opaque):
            return value
        if isinstance(value, SelectorList):
            if not self.configurable:
                raise EvalError(f"attribute '{name}' is not configurable: it takes no select()")
            return SelectorList([self._convert_part(part, name, to_label) for part in value.parts])
        return self._plain(value, name, to_label)

    def _convert_part(self, part: Any, name: str, to_label: ToLabel) -> Any:
        if not isinstance(part, Select):
            return self._plain(part, name, to_label)
        branches: dict[Any, Any] = {}
        for key, value in part.branches.items():
            label = key if isinstance(key, Label) else to_label(key)
            known = DEFAULT if (label.package, label.name) == ("conditions", "default") else label
            branches[known] = value if value is None or isinstance(value, Opaque) else self._plain(value, name, to_label)
        return Select(branches, part.no_match_error)

    def _plain(self, value: Any, name: str, to_label: ToLabel) -> Any:
        converted = _CONVERT[self.kind](value, name, to_label)
        if self.values and converted not in self.values:
            raise EvalError(f"attribute '{name}': invalid value {to_repr(value)}, want one of {', '.join(map(to_repr, self.values))}")
        return converted


def _wrong(name: str, want: str, value: Any) -> EvalError:
    return EvalError(f"expected value of type '{want}' for attribute '{name}', but got {to_repr(value)} ({type_name(value)})")


def _string(value: Any, name: str, _: ToLabel) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "string", value)
    return value


def _int(value: Any, name: str, _: ToLabel) -> int:
    if type(value) is not int:
        raise _wrong(name, "int", value)
    return value


def _bool(value: Any, name: str, _: ToLabel) -> bool:
    if not isinstance(value, int) or value not in (0, 1):
        raise _wrong(name, "bool", value)
    return bool(value)


def _tristate(value: Any, name: str, _: ToLabel) -> int:
    if not isinstance(value, int) or value not in (-1, 0, 1):
        raise _wrong(name, "tristate", value)
    return int(value)


def _label(value: Any, name: str, to_label: ToLabel) -> Label:
    if not isinstance(value, str | Label):
        raise _wrong(name, "label", value)
    return to_label(value)


def _output(value: Any, name: str, to_label: ToLabel) -> Label:
    label = _label(value, name, to_label)
    if label != to_label(f":{label.name}"):
        raise EvalError(f"attribute '{name}': label '{label}' is not in the current package")
    return label


def _list_of(kind: str) -> Callable[[Any, str, ToLabel], StarlarkList]:
    def convert(value: Any, name: str, to_label: ToLabel) -> Any:
        if isinstance(value, Opaque):
            return value
        if isinstance(value, Depset):  # Bazel still takes one, and TensorFlow's macros give one
            value = value.to_list()
        if not isinstance(value, list | tuple):
            raise _wrong(name, f"list({kind})", value)
        if kind == "string" and all(type(item) is str for item in value):
            return StarlarkList(value)
        one = _CONVERT[kind]
        made = [item if isinstance(item, Opaque) else one(item, name, to_label) for item in value]
        if kind == "label" and name != "visibility":
            check_unique(made, name)
        return StarlarkList(made)

    return convert


def check_unique(labels: Sequence[Any], name: str) -> None:
    """Raise EvalError where a label list names a target twice."""
    if len(set(labels)) < len(labels):
        twice = next(label for position, label in enumerate(labels) if label in labels[:position])
        raise EvalError(f"label '{twice}' is duplicated in the '{name}' attribute")


def _dict_of(key: str, item: str) -> Callable[[Any, str, ToLabel], StarlarkDict]:
    def convert(value: Any, name: str, to_label: ToLabel) -> StarlarkDict:
        if not isinstance(value, dict):
            raise _wrong(name, f"dict({key}, {item})", value)
        one, other = _CONVERT[key], _CONVERT[item]
        made = [(one(k, name, to_label), v if isinstance(v, Opaque) else other(v, name, to_label)) for k, v in value.items()]
        if key == "label":
            check_unique([label for label, _ in made], name)
        return StarlarkDict(made)

    return convert


_CONVERT: dict[str, Callable[[Any, str, ToLabel], Any]] = {
    "string": _string,
    "int": _int,
    "bool": _bool,
    "tristate": _tristate,
    "label": _label,
    "output": _output,
    "any": lambda value, name, to_label: value,
}
_CONVERT.update(
    string_list=_list_of("string"),
    int_list=_list_of("int"),
    label_list=_list_of("label"),
    output_list=_list_of("output"),
    string_dict=_dict_of("string", "string"),
    string_list_dict=_dict_of("string", "string_list"),
    label_keyed_string_dict=_dict_of("label", "string"),
    string_keyed_label_dict=_dict_of("string", "label"),
)


def irrelevant(kind: str, reason: str) -> Attr:
    """An attribute that this build reads, checks for type and rightly ignores."""
    return Attr(kind, status="irrelevant", reason=reason)


_NO_TESTS = "tests are declared, not run"
_NO_REMOTE = "commands run on this machine"

COMMON: dict[str, Attr] = {
    "name": Attr("string", mandatory=True, configurable=False),
    "visibility": Attr("label_list", configurable=False),
    "testonly": Attr("bool", configurable=False),
    "features": Attr("string_list"),
    "target_compatible_with": Attr("label_list"),
    "tags": Attr("string_list", configurable=False),
    "deprecation": irrelevant("string", "a note to people"),
    "compatible_with": irrelevant("label_list", "environment groups are not used outside Google"),
    "restricted_to": irrelevant("label_list", "environment groups are not used outside Google"),
    "exec_compatible_with": irrelevant("label_list", _NO_REMOTE),
    "exec_properties": irrelevant("string_dict", _NO_REMOTE),
    "exec_group_compatible_with": irrelevant("any", _NO_REMOTE),
    "toolchains": Attr("label_list"),
    "licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
    "distribs": irrelevant("string_list", "has had no meaning since Bazel 0.x"),
    "applicable_licenses": irrelevant("label_list", "licences are gathered from the sources' files"),
    "package_metadata": irrelevant("label_list", "licences are gathered from the sources' files"),
    "aspect_hints": irrelevant("label_list", "read by language aspects that no host needs"),
    "generator_name": irrelevant("string", "the macro stack is recorded"),
    "generator_function": irrelevant("string", "the macro stack is recorded"),
    "generator_location": irrelevant("string", "the macro stack is recorded"),
    "expect_failure": irrelevant("string", _NO_TESTS),
    "transitive_configs": irrelevant("label_list", "trimming of configurations is not used"),
}
TEST: dict[str, Attr] = {
    "size": irrelevant("string", _NO_TESTS),
    "timeout": irrelevant("string", _NO_TESTS),
    "flaky": irrelevant("bool", _NO_TESTS),
    "shard_count": irrelevant("int", _NO_TESTS),
    "local": irrelevant("bool", _NO_TESTS),
    "args": irrelevant("string_list", _NO_TESTS),
    "env": irrelevant("string_dict", _NO_TESTS),
    "env_inherit": irrelevant("string_list", _NO_TESTS),
    "output_licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
}
