"""Owns what targets hand to each other: File, provider(), struct(), CcInfo and the configured target itself.

    info = Provider("MyInfo", ["files"])(files = depset([]))

Rules: Bazel's "Rules" page (Providers) and the File, CcInfo, DefaultInfo references.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.starlark.values import Builtin, EvalError, StarlarkDict, StarlarkList, Value, equal, to_repr, type_name


class File(Value):
    """One source or output file by exec path. `root` is the output root of a generated file, empty for a source."""

    type_name = "File"
    __slots__ = ("is_directory", "owner", "path", "root", "short_path")

    def __init__(self, path: str, owner: Label, root: str = "", *, short_path: str = "", is_directory: bool = False) -> None:
        self.path = path
        self.owner = owner
        self.root = root
        self.short_path = short_path or (path[len(root) + 1 :] if root else path)
        self.is_directory = is_directory

    def __eq__(self, other: object) -> bool:
        return isinstance(other, File) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return self.path

    @property
    def is_source(self) -> bool:
        return not self.root

    @property
    def basename(self) -> str:
        return posixpath.basename(self.path)

    @property
    def extension(self) -> str:
        return posixpath.splitext(self.path)[1][1:]

    def starlark_str(self) -> str:
        return f"<{'source' if self.is_source else 'generated'} file {self.short_path}>"

    def starlark_attr(self, name: str) -> Any:
        if name in ("path", "short_path", "is_source", "is_directory", "basename", "extension", "owner"):
            return getattr(self, name)
        if name == "dirname":
            return posixpath.dirname(self.path)
        if name == "root":
            return Struct({"path": self.root})
        return super().starlark_attr(name)

    def starlark_dir(self) -> list[str]:
        return ["basename", "dirname", "extension", "is_directory", "is_source", "owner", "path", "root", "short_path"]


def _hash_of(value: Any) -> int:
    """Return a hash of a field; one that holds a list or a dict counts by its length, for a frozen one may be in a depset."""
    try:
        return hash(value)
    except TypeError:
        return len(value)


class Struct(Value):
    """A struct() or an instance of a provider."""

    type_name = "struct"
    __slots__ = ("fields", "provider")

    def __init__(self, fields: dict[str, Any], provider: Provider | None = None) -> None:
        self.fields = fields
        self.provider = provider

    def starlark_attr(self, name: str) -> Any:
        try:
            return self.fields[name]
        except KeyError:
            if name in ("to_json", "to_proto") and self.provider is None:
                return Builtin(name, lambda: json.dumps(to_json(self)))
            kind = self.provider.name if self.provider else "struct"
            raise EvalError(f"'{kind}' value has no field or method '{name}'") from None

    def starlark_dir(self) -> list[str]:
        return sorted(self.fields)

    def starlark_str(self) -> str:
        name = self.provider.name if self.provider else "struct"
        return f"{name}({', '.join(f'{key} = {to_repr(value)}' for key, value in sorted(self.fields.items()))})"

    def starlark_freeze(self) -> Iterable[Any]:
        return list(self.fields.values())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Struct)
            and self.provider is other.provider
            and self.fields.keys() == other.fields.keys()
            and all(equal(value, other.fields[key]) for key, value in self.fields.items())
        )

    def __hash__(self) -> int:
        return hash(tuple((key, _hash_of(self.fields[key])) for key in sorted(self.fields)))

    def __add__(self, other: Any) -> Struct:
        if not isinstance(other, Struct) or self.provider is not other.provider or self.fields.keys() & other.fields.keys():
            raise EvalError(f"cannot add {type_name(self)} and {type_name(other)} with common fields")
        return Struct({**self.fields, **other.fields}, self.provider)


class Provider(Value):
    """The value of provider(): called, it makes instances; it is the key by which targets hold them."""

    type_name = "Provider"

    def __init__(self, name: str = "", fields: Iterable[str] | None = None, init: Callable[..., Any] | None = None) -> None:
        self.name = name
        self.known = None if fields is None else set(fields)
        self.init = init

    def __call__(self, *args: Any, **fields: Any) -> Struct:
        if self.init is not None:
            fields = dict(self.init(*args, **fields))
        elif args:
            raise EvalError(f"{self.name or 'provider'}: provider instances take named arguments only")
        return self.make(**fields)

    def make(self, **fields: Any) -> Struct:
        """Return an instance without the init callback. Raises EvalError for a field the provider does not declare."""
        unknown = [name for name in fields if self.known is not None and name not in self.known]
        if unknown:
            raise EvalError(f"{self.name or 'provider'} has no field '{unknown[0]}' (it has {', '.join(sorted(self.known or ()))})")
        return Struct(fields, self)

    def starlark_str(self) -> str:
        return f"<provider {self.name}>"


def to_json(value: Any) -> Any:
    """Return `value` as data for json.encode. Raises EvalError for what JSON cannot hold."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise EvalError(f"json.encode: dict has {type_name(key)} key, want string")
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, Struct):
        return {key: to_json(item) for key, item in sorted(value.fields.items())}
    raise EvalError(f"cannot encode {type_name(value)} as JSON")


def from_json(value: Any) -> Any:
    """Return parsed JSON as Starlark values."""
    if isinstance(value, list):
        return StarlarkList(from_json(item) for item in value)
    if isinstance(value, dict):
        return StarlarkDict((key, from_json(item)) for key, item in value.items())
    return value


def unique(groups: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    """Return the elements of all groups, each where it first stands."""
    return tuple(dict.fromkeys(item for group in groups for item in group))


@dataclass(frozen=True, eq=False)
class CompilationContext(Value):
    """The compile side of CcInfo. Include paths stand own first, then each dependency's; defines the other way round
    (Bazel's CcCompilationContext)."""

    type_name = "CcCompilationContext"
    headers: Depset = field(default_factory=Depset)
    generated: Depset = field(default_factory=Depset)  # those of `headers` that an action makes
    direct_headers: tuple[File, ...] = ()
    quote_includes: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    system_includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    local_defines: tuple[str, ...] = ()

    def starlark_attr(self, name: str) -> Any:
        if name == "headers":
            return self.headers
        if name in ("quote_includes", "includes", "system_includes", "defines", "local_defines"):
            return Depset(getattr(self, name))
        if name in ("framework_includes", "external_includes"):
            return Depset()
        if name in ("direct_headers", "direct_public_headers"):
            return StarlarkList(self.direct_headers)
        if name in ("direct_private_headers", "direct_textual_headers"):
            return StarlarkList()
        return super().starlark_attr(name)


@dataclass(frozen=True, eq=False)
class LinkerInput(Value):
    """What one label adds to a link."""

    type_name = "LinkerInput"
    owner: Label
    objects: tuple[File, ...] = ()
    libraries: tuple[File, ...] = ()
    flags: tuple[str, ...] = ()
    scripts: tuple[File, ...] = ()
    alwayslink: bool = False

    def starlark_attr(self, name: str) -> Any:
        if name == "owner":
            return self.owner
        if name == "user_link_flags":
            return StarlarkList(self.flags)
        if name == "additional_inputs":
            return StarlarkList(self.scripts)
        if name == "libraries":
            return StarlarkList()
        return super().starlark_attr(name)


@dataclass(frozen=True, eq=False)
class CcInfo(Value):
    """C++ compile and link information of a target."""

    type_name = "CcInfo"
    compilation: CompilationContext = field(default_factory=CompilationContext)
    linking: Depset = field(default_factory=lambda: Depset(order="topological"))

    def starlark_attr(self, name: str) -> Any:
        if name == "compilation_context":
            return self.compilation
        if name == "linking_context":
            return LinkingContext(self.linking)
        return super().starlark_attr(name)


@dataclass(frozen=True, eq=False)
class LinkingContext(Value):
    """The link side of CcInfo as Starlark rules see it."""

    type_name = "CcLinkingContext"
    inputs: Depset

    def starlark_attr(self, name: str) -> Any:
        if name == "linker_inputs":
            return self.inputs
        return super().starlark_attr(name)


def merge_cc_infos(infos: Iterable[CcInfo]) -> CcInfo:
    """Return the CcInfo of a target that exports all of `infos` and adds nothing of its own."""
    group = list(infos)
    parts = [info.compilation for info in group]
    compilation = CompilationContext(
        headers=Depset((), [part.headers for part in parts]),
        generated=Depset((), [part.generated for part in parts]),
        quote_includes=unique(part.quote_includes for part in parts),
        includes=unique(part.includes for part in parts),
        system_includes=unique(part.system_includes for part in parts),
        defines=unique(part.defines for part in parts),
    )
    return CcInfo(compilation, Depset((), [info.linking for info in group], "topological"))


class BuiltinProvider(Provider):
    """A provider the rules themselves make; Starlark rules may only make those that say how."""

    def __init__(self, name: str, fields: Iterable[str] | None = None, make: Callable[..., Any] | None = None) -> None:
        super().__init__(name, fields)
        self.maker = make

    def __call__(self, *args: Any, **fields: Any) -> Any:
        return self.maker(*args, **fields) if self.maker else super().__call__(*args, **fields)


def _make_cc_info(compilation_context: Any = None, linking_context: Any = None, **_: Any) -> CcInfo:
    return CcInfo(compilation_context or CompilationContext(), linking_context.inputs if linking_context else Depset(order="topological"))


def _make_default_info(
    files: Any = None, runfiles: Any = None, executable: Any = None, data_runfiles: Any = None, default_runfiles: Any = None
) -> Struct:
    if files is not None and not isinstance(files, Depset):
        raise EvalError(f"DefaultInfo(files) takes a depset, not {type_name(files)}")
    if executable is not None and not isinstance(executable, File):
        raise EvalError(f"DefaultInfo(executable) takes a File, not {type_name(executable)}")
    chosen = files if files is not None else Depset([executable] if executable else [])
    return Struct(
        {"files": chosen, "executable": executable, "default_runfiles": runfiles or default_runfiles or Runfiles(())}, DEFAULT_INFO
    )


DEFAULT_INFO = BuiltinProvider("DefaultInfo", None, _make_default_info)
CC_INFO = BuiltinProvider("CcInfo", None, _make_cc_info)
OUTPUT_GROUP_INFO = BuiltinProvider("OutputGroupInfo")
INSTRUMENTED_FILES_INFO = BuiltinProvider("InstrumentedFilesInfo")
TOOLCHAIN_INFO = BuiltinProvider("ToolchainInfo")
FEATURE_FLAG_INFO = BuiltinProvider("FeatureFlagInfo")
TEMPLATE_VARIABLE_INFO: Provider = BuiltinProvider(
    "TemplateVariableInfo", ["variables"], lambda variables: Struct({"variables": variables}, TEMPLATE_VARIABLE_INFO)
)


def default_info(files: Iterable[File], executable: File | None = None) -> Struct:
    return Struct({"files": Depset(files), "executable": executable, "default_runfiles": Runfiles(())}, DEFAULT_INFO)


class ConfiguredTarget(Value):
    """One target in one configuration with the providers its rule returned. `kind` is "source file", "generated file" or the rule's name,
    `testonly` the label of the target that is for tests only; an alias takes both over from what it stands for."""

    type_name = "Target"

    def __init__(self, label: Label, providers: dict[Provider, Any], kind: str = "", testonly: Label | None = None) -> None:
        self.label = label
        self.providers = providers
        self.kind = kind
        self.testonly = testonly

    def get(self, provider: Provider) -> Any:
        return self.providers.get(provider)

    @property
    def files(self) -> tuple[File, ...]:
        return self.providers[DEFAULT_INFO].fields["files"].to_list()  # type: ignore[no-any-return]

    @property
    def executable(self) -> File | None:
        return self.providers[DEFAULT_INFO].fields.get("executable")  # type: ignore[no-any-return]

    def starlark_str(self) -> str:
        return f"<target {self.label}>"

    def __getitem__(self, provider: Any) -> Any:
        try:
            return self.providers[provider]
        except (KeyError, TypeError):
            raise EvalError(f"target {self.label} ({self.kind}) does not provide {to_repr(provider)}") from None

    def __contains__(self, provider: Any) -> bool:
        return isinstance(provider, Provider) and provider in self.providers

    def starlark_attr(self, name: str) -> Any:
        if name == "label":
            return self.label
        info = self.providers[DEFAULT_INFO]
        if name == "files":
            return info.fields["files"]
        if name == "files_to_run":
            return Struct({"executable": info.fields.get("executable"), "runfiles_manifest": None})
        if name in ("default_runfiles", "data_runfiles"):
            return info.fields.get("default_runfiles") or Runfiles(())
        raise EvalError(f"target {self.label} ({self.kind}) has no field or method '{name}'")


class Runfiles(Value):
    """The runfiles of a target; host builds run no target with data, so only the files are kept."""

    type_name = "runfiles"

    def __init__(self, files: Iterable[File]) -> None:
        self.held = tuple(files)

    def starlark_attr(self, name: str) -> Any:
        if name == "files":
            return Depset(self.held)
        if name == "merge":
            return Builtin(name, lambda other: Runfiles(unique([self.held, other.held])))
        if name == "merge_all":
            return Builtin(name, lambda others: Runfiles(unique([self.held, *(other.held for other in others)])))
        if name in ("symlinks", "root_symlinks", "empty_filenames"):
            return Depset()
        return super().starlark_attr(name)
