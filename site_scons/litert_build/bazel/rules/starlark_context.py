"""Owns `ctx` and `ctx.actions` as Starlark rule implementations see them.

    def _impl(ctx):
        out = ctx.actions.declare_file(ctx.label.name + ".h")
        ctx.actions.run(executable = ctx.executable._tool, outputs = [out], arguments = [out.path])

Rules: Bazel's `ctx`, `actions` and `Args` references.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from litert_build.actions import Copy, Run, Write
from litert_build.bazel.args import Args, expand_arguments
from litert_build.bazel.context import RuleContext, executable_of
from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import DEFAULT_INFO, ConfiguredTarget, File, Runfiles, Struct, default_info, unique
from litert_build.bazel.rules.aspects import with_aspects
from litert_build.starlark.values import Builtin, EvalError, StarlarkDict, StarlarkList, Value, freeze, to_repr, type_name

if TYPE_CHECKING:
    from litert_build.bazel.attributes import Attr


class Lazy(Value):
    """A struct whose fields are computed when asked for."""

    def __init__(self, name: str, compute: Callable[[str], Any], names: Iterable[str], wants: str = "") -> None:
        self.type_name = name
        self.compute = compute
        self.wants = f": it holds the label attributes with {wants}" if wants else ""
        self.names = tuple(names)
        self.known: dict[str, Any] = {}

    def starlark_attr(self, name: str) -> Any:
        if name not in self.names:
            raise EvalError(f"'{self.type_name}' has no field '{name}'{self.wants}")
        if name not in self.known:
            self.known[name] = self.compute(name)
            freeze(self.known[name])
        return self.known[name]

    def starlark_dir(self) -> list[str]:
        return sorted(self.names)


class StarlarkContext(Value):
    """ctx of one target."""

    type_name = "ctx"

    def __init__(self, ctx: RuleContext) -> None:
        self.ctx = ctx
        self.actions = StarlarkActions(self)
        attrs = ctx.target.rule.attrs
        labels = [name for name, spec in attrs.items() if spec.kind in ("label", "label_list", "label_keyed_string_dict")]
        self.fields: dict[str, Any] = {
            "attr": Lazy("struct", self.attribute, attrs),
            "files": Lazy("struct", lambda name: StarlarkList(self.ctx.files(name)), labels),
            "file": Lazy("ctx.file", self._file, [name for name in labels if attrs[name].single_file], "allow_single_file"),
            "executable": Lazy("ctx.executable", self._executable, [name for name in labels if attrs[name].executable], "executable"),
            "outputs": Lazy("struct", self._output, self._output_names()),
            "label": ctx.label,
            "actions": self.actions,
            "bin_dir": Struct({"path": ctx.configuration.bin_root}),
            "genfiles_dir": Struct({"path": ctx.configuration.bin_root}),
            "workspace_name": ctx.analyzer.lock.main,
            "features": StarlarkList(f for f in ctx.features() if not f.startswith("-")),
            "disabled_features": StarlarkList(f[1:] for f in ctx.features() if f.startswith("-")),
            "build_file_path": posixpath.join(ctx.label.package, ctx.target.package.build_file.name),
            "expand_location": Builtin("expand_location", self._expand_location),
            "expand_make_variables": Builtin("expand_make_variables", self._expand_make_variables),
            "runfiles": Builtin("runfiles", self._runfiles),
            "coverage_instrumented": Builtin("coverage_instrumented", lambda *_: False),
            "tokenize": Builtin("tokenize", _tokenize),
            "target_platform_has_constraint": Builtin("target_platform_has_constraint", lambda info: False),
        }

    def starlark_dir(self) -> list[str]:
        return sorted([*self.fields, "var", "build_setting_value", "configuration", "fragments", "toolchains", "rule"])

    def starlark_attr(self, name: str) -> Any:
        if name in self.fields:
            return self.fields[name]
        if name == "var":
            return StarlarkDict(self.ctx.variables())
        if name == "build_setting_value":
            return self._setting_value()
        if name == "configuration":
            return Struct({"coverage_enabled": False, "host_path_separator": ":", "default_shell_env": StarlarkDict()})
        if name == "fragments":
            raise EvalError("ctx.fragments is not supported: the target's row and the lock set the flags")
        if name == "toolchains":
            raise EvalError("ctx.toolchains is not supported: toolchain= chooses the compiler")
        return super().starlark_attr(name)

    def _setting_value(self) -> Any:
        resolver = self.ctx.resolver
        if not self.ctx.target.rule.build_setting:
            raise EvalError("build_setting_value is only there in rules with build_setting")
        text = resolver.conditions.flag_value(self.ctx.label)
        kind = self.ctx.spec("build_setting_default").kind
        return text == "true" if kind == "bool" else int(text) if kind == "int" else text

    def attribute(self, name: str) -> Any:
        """Return an attribute as ctx.attr shows it: labels as targets, with the providers of the attribute's aspects."""
        spec = self.ctx.spec(name)
        if spec.kind not in ("label", "label_list", "label_keyed_string_dict", "string_keyed_label_dict") or name == "visibility":
            return _starlark(self._value(name, spec))
        value = self._value(name, spec)
        configuration = self.ctx.configuration_for(spec)
        if spec.kind == "label":
            return None if value is None else self._seen(value, spec)
        if spec.kind == "label_keyed_string_dict":
            return StarlarkDict({self.ctx.dep(label, configuration): text for label, text in value.items()})
        if spec.kind == "string_keyed_label_dict":
            return StarlarkDict({text: self.ctx.dep(label, configuration) for text, label in value.items()})
        return StarlarkList(self._seen(label, spec) for label in value)

    def _seen(self, label: Label, spec: Attr) -> ConfiguredTarget:
        return with_aspects(self.ctx, spec.aspects, self.ctx.dep(label, self.ctx.configuration_for(spec)))

    def _value(self, name: str, spec: Attr) -> Any:
        value = self.ctx.value(name)
        if name in self.ctx.target.attrs or not spec.is_label or value is None:
            return value
        return spec.convert(value, name, self.ctx.target.package.to_label)

    def _file(self, name: str) -> File | None:
        files = self.ctx.files(name)
        if len(files) > 1:
            raise EvalError(f"attribute '{name}' has {len(files)} files, ctx.file takes one")
        return files[0] if files else None

    def _executable(self, name: str) -> File | None:
        found = self.ctx.deps(name)
        return executable_of(found[0], self.ctx) if found else None

    def _output_names(self) -> list[str]:
        rule = self.ctx.target.rule
        names = [name for name, spec in rule.attrs.items() if spec.kind in ("output", "output_list")]
        return [*names, *rule.extra.get("implicit_outputs", {}), *(["executable"] if rule.executable else [])]

    def _output(self, name: str) -> Any:
        if name == "executable":
            return self.ctx.declare(self.ctx.label.name)
        if name in self.ctx.target.rule.attrs:
            value = self.ctx.value(name)
            if isinstance(value, Label):
                return self.ctx.declare(value.name)
            return None if value is None else StarlarkList(self.ctx.declare(label.name) for label in value)
        raise EvalError(f"ctx.outputs has no field '{name}'")

    def predeclared(self) -> list[File]:
        return [self.ctx.declare(name) for name in self.ctx.target.outputs]

    def _expand_location(self, text: str, targets: Any = (), short_paths: bool = False) -> str:
        import re

        sources = [*(target for target in targets if isinstance(target, ConfiguredTarget)), *self._all_deps(), *self._own_outputs()]
        return re.sub(
            r"\$\((location|locations|execpath|execpaths|rootpath|rootpaths)\s+([^)\s]+)\s*\)",
            lambda match: self.ctx._locations(match.group(1), match.group(2), sources),
            text,
        )

    def _all_deps(self) -> list[ConfiguredTarget]:
        specs = self.ctx.target.rule.attrs
        names = [name for name in ("srcs", "deps", "data", "tools", "hdrs") if name in specs and specs[name].is_label]
        return [dep for name in names for dep in self.ctx.deps(name)]

    def _own_outputs(self) -> list[ConfiguredTarget]:
        return [ConfiguredTarget(file.owner, {DEFAULT_INFO: default_info([file])}) for file in self.predeclared()]

    def _expand_make_variables(self, attribute: str, text: str, extra: Any) -> str:
        return self.ctx.expand(text, attribute, self._all_deps(), dict(extra))

    def _runfiles(self, files: Any = (), transitive_files: Any = None, collect_default: bool = False, **_: Any) -> Runfiles:
        return Runfiles(unique([files, transitive_files.to_list() if transitive_files is not None else ()]))


def _tokenize(text: str) -> StarlarkList:
    from litert_build.bazel.make_variables import tokenize

    return StarlarkList(tokenize(text))


def _starlark(value: Any) -> Any:
    if isinstance(value, tuple):
        return StarlarkList(value)
    if type(value) is dict:
        return StarlarkDict(value)
    return value


class StarlarkActions(Value):
    """ctx.actions: registers actions of the typed list."""

    type_name = "actions"

    def __init__(self, owner: StarlarkContext) -> None:
        self.owner = owner
        self.ctx = owner.ctx
        self.declared: list[File] = []

    METHODS = (
        "declare_file",
        "declare_directory",
        "declare_symlink",
        "run",
        "run_shell",
        "write",
        "args",
        "expand_template",
        "symlink",
        "do_nothing",
    )

    def starlark_dir(self) -> list[str]:
        return sorted(self.METHODS)

    def starlark_attr(self, name: str) -> Any:
        if name in self.METHODS:
            return Builtin(f"actions.{name}", getattr(self, name))
        return super().starlark_attr(name)

    def declare_file(self, filename: str, *, sibling: Any = None) -> File:
        if sibling is not None:
            package = posixpath.dirname(self.ctx.declare("x").path)
            folder = posixpath.relpath(posixpath.dirname(sibling.path), package)
            filename = filename if folder == "." else f"{folder}/{filename}"
        if filename.startswith("/") or not {"", ".", ".."}.isdisjoint(filename.split("/")):
            raise EvalError(f"actions.declare_file({to_repr(filename)}) is not a plain path below the package")
        self.declared.append(self.ctx.declare(filename))
        return self.declared[-1]

    def check_all_made(self) -> None:
        """Raise EvalError where a file was declared and no action makes it."""
        made = self.ctx.analyzer.actions.by_output
        missing = [file.short_path for file in self.declared if file.path not in made]
        if missing:
            raise EvalError(f"rule {self.ctx.target.rule.name} declares files that no action makes: {', '.join(missing)}")

    def declare_directory(self, filename: str, *, sibling: Any = None) -> File:
        raise EvalError(f"actions.declare_directory({to_repr(filename)}) is not supported: declare its files")

    def declare_symlink(self, filename: str, *, sibling: Any = None) -> File:
        return self.declare_file(filename, sibling=sibling)

    def args(self) -> Args:
        return Args()

    def _register(
        self, mnemonic: str, argv: list[str], outputs: Any, inputs: Any, tools: Any, env: Any, extra_inputs: Iterable[str]
    ) -> None:
        if not outputs:
            raise EvalError("an action makes at least one file: its outputs are empty")
        for output in outputs:
            _check_made_here(output)
        tool_files = _files_of(tools)
        files = [*_files_of(inputs), *tool_files]
        self.ctx.register(
            Run(
                label=str(self.ctx.label),
                mnemonic=mnemonic,
                argv=tuple(argv),
                inputs=tuple(dict.fromkeys([*(file.path for file in files), *extra_inputs])),
                outputs=tuple(file.path for file in outputs),
                tools=tuple(dict.fromkeys(file.path for file in tool_files)),
                env=tuple(sorted((env or {}).items())),
                configuration=self.ctx.configuration.name,
                location=self.ctx.location,
            )
        )

    def run(
        self, outputs: Any, executable: Any, inputs: Any = (), arguments: Any = (), tools: Any = (), mnemonic: Any = None, env: Any = None,
        **_: Any,
    ) -> None:  # fmt: skip
        path, own = _executable(executable, self.owner)
        words, made = expand_arguments(arguments, self._parameter_file(outputs))
        self._register(mnemonic or "Action", [path, *words], outputs, inputs, [*own, *_files_of(tools)], env, made)

    def run_shell(
        self, outputs: Any, command: Any, inputs: Any = (), arguments: Any = (), tools: Any = (), mnemonic: Any = None, env: Any = None,
        **_: Any,
    ) -> None:  # fmt: skip
        if not isinstance(command, str):
            raise EvalError("actions.run_shell(command) takes a string")
        words, made = expand_arguments(arguments, self._parameter_file(outputs))
        argv = ["bash", "-c", command, *(["", *words] if words else [])]
        self._register(mnemonic or "Action", argv, outputs, inputs, tools, env, made)

    def _parameter_file(self, outputs: Any) -> Callable[[int, str], str]:
        first = next(iter(outputs), None)

        def make(index: int, content: str) -> str:
            assert first is not None
            path = f"{first.path}-{index}.params"
            self.ctx.register(Write(str(self.ctx.label), path, content, False, self.ctx.configuration.name, self.ctx.location))
            return path

        return make

    def write(self, output: File, content: Any, is_executable: bool = False, **_: Any) -> None:
        text = "\n".join(expand_arguments([content], self._parameter_file([output]))[0]) + "\n" if isinstance(content, Args) else content
        _check_made_here(output)
        if not isinstance(text, str):
            raise EvalError(f"actions.write(content) takes a string or Args, not {type_name(content)}")
        self.ctx.register(
            Write(str(self.ctx.label), output.path, text, bool(is_executable), self.ctx.configuration.name, self.ctx.location)
        )

    def expand_template(self, template: File, output: File, substitutions: Any = None, is_executable: bool = False, **_: Any) -> None:
        """Write the template with its keys replaced. The template is read now: a generated one is refused."""
        if not template.is_source:
            raise EvalError(f"actions.expand_template: the template {template.path} is a generated file, which is not there at analysis")
        label = template.owner
        file = self.ctx.analyzer.packages.root(label.repository) / label.package / label.name
        text = file.read_text(encoding="utf-8")
        self.ctx.analyzer.packages.read.append(file)
        for key, value in (substitutions or {}).items():
            text = text.replace(key, value)
        self.write(output, text, is_executable)

    def symlink(self, output: File, target_file: Any = None, target_path: Any = None, **_: Any) -> None:
        if not isinstance(target_file, File):
            raise EvalError("actions.symlink takes target_file")
        _check_made_here(output)
        self.ctx.register(Copy(str(self.ctx.label), target_file.path, output.path, self.ctx.configuration.name, self.ctx.location))

    def do_nothing(self, *args: Any, **given: Any) -> None:
        return None


def _check_made_here(output: Any) -> None:
    """Raise EvalError where an action would make what is no file of a build's own."""
    if not isinstance(output, File) or output.is_source:
        what = f"the source file {output.path}" if isinstance(output, File) else type_name(output)
        raise EvalError(f"an action makes declared files, not {what}")


def _files_of(value: Any) -> list[File]:
    if value is None:
        return []
    items = value.to_list() if isinstance(value, Depset) else value
    found: list[File] = []
    for item in items:
        if isinstance(item, File):
            found.append(item)
        elif isinstance(item, ConfiguredTarget):
            found += item.files
        elif isinstance(item, Depset):
            found += item.to_list()
        elif isinstance(item, Struct) and "executable" in item.fields:
            found += [item.fields["executable"]] if item.fields["executable"] else []
        else:
            raise EvalError(f"expected a File, got {type_name(item)}")
    return found


def _executable(value: Any, owner: StarlarkContext) -> tuple[str, list[File]]:
    if isinstance(value, str):
        return value, []
    if isinstance(value, Struct) and "executable" in value.fields:
        value = value.fields["executable"]
    if not isinstance(value, File):
        raise EvalError(f"actions.run(executable) takes a File, FilesToRunProvider or string, not {type_name(value)}")
    return value.path if "/" in value.path else f"./{value.path}", [value, *_beside(value, owner)]


def _beside(tool: File, owner: StarlarkContext) -> list[File]:
    """Return the further files of the dependency whose executable `tool` is: a Python tool's sources."""
    for name, spec in owner.ctx.target.rule.attrs.items():
        if spec.executable:
            for dep in owner.ctx.deps(name):
                if dep.executable == tool:
                    return [file for file in dep.files if file != tool]
    return []
