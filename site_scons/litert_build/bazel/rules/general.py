"""Owns the rules that compile nothing themselves: alias, filegroup, genrule, settings, platforms, Python tools.

    GENERAL_RULES["genrule"]      # RuleClass

Rules: Bazel's "General rules" and "Platforms and Toolchains rules" references.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Any

from litert_build.actions import Copy, Run, Write
from litert_build.bazel.attributes import COMMON, TEST, Attr, irrelevant
from litert_build.bazel.context import RuleContext
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import DEFAULT_INFO, ConfiguredTarget, File, default_info
from litert_build.bazel.rule_class import RuleClass

_NO_REMOTE = "commands run on this machine"


def alias(ctx: RuleContext) -> ConfiguredTarget:
    """alias: another name of one target, chosen by configuration if `actual` is a select()."""
    return ctx.dep(ctx.value("actual"))


def label_setting(ctx: RuleContext) -> ConfiguredTarget:
    """label_flag, label_setting: another name of their default."""
    return ctx.dep(ctx.value("build_setting_default"))


def filegroup(ctx: RuleContext) -> dict[Any, Any]:
    """filegroup: a name for files."""
    group = ctx.value("output_group")
    if group:
        raise ctx.fail(f"attribute 'output_group' of {ctx.label} is not supported", "name the files themselves")
    info = default_info(ctx.files("srcs"))
    return {info.provider: info}


def _outputs(attrs: dict[str, Any]) -> list[str]:
    return [label.name for label in attrs.get("outs", ())]


def genrule(ctx: RuleContext) -> dict[Any, Any]:
    """genrule: one shell command that makes `outs`."""
    command = _command(ctx)
    sources = ctx.deps("srcs")
    tools = [*ctx.deps("tools"), *ctx.deps("exec_tools")]
    outputs = [ctx.declare(label.name) for label in ctx.value("outs")]
    if not outputs:
        raise ctx.fail(f"{ctx.label} has no outs: a genrule without outputs makes nothing")
    if ctx.value("executable") and len(outputs) > 1:
        raise ctx.fail(f"{ctx.label} is executable and has {len(outputs)} outs: which one runs?", "make one genrule of each")
    own = [ConfiguredTarget(file.owner, _file(file)) for file in outputs]
    files = tuple(dict.fromkeys(file for dep in sources for file in dep.files))
    tool_files = tuple(dict.fromkeys(file for dep in tools for file in dep.files))
    text = ctx.expand(command, "cmd", [*sources, *tools, *own], _genrule_variables(ctx, files, outputs))
    ctx.register(
        Run(
            label=str(ctx.label),
            mnemonic="Genrule",
            argv=("bash", "-c", f"set -e -o pipefail; {text}"),
            inputs=tuple(file.path for file in (*files, *tool_files)),
            outputs=tuple(file.path for file in outputs),
            tools=tuple(file.path for file in tool_files),
            configuration=ctx.configuration.name,
            location=ctx.location,
        )
    )
    info = default_info(outputs, outputs[0] if ctx.value("executable") else None)
    return {info.provider: info}


def _file(file: File) -> dict[Any, Any]:
    info = default_info([file])
    return {info.provider: info}


def _command(ctx: RuleContext) -> str:
    for name in ("cmd_bash", "cmd"):
        if ctx.given(name) and ctx.value(name):
            return str(ctx.value(name))
    raise ctx.fail(f"{ctx.label} has no cmd or cmd_bash", "genrules for cmd.exe or PowerShell alone are not run")


def _genrule_variables(ctx: RuleContext, sources: Iterable[File], outputs: list[File]) -> dict[str, str]:
    paths = [file.path for file in sources]
    made = [file.path for file in outputs]
    package = posixpath.dirname(ctx.declare("x").path)
    found = {"SRCS": " ".join(paths), "OUTS": " ".join(made), "RULEDIR": package}
    found["@D"] = posixpath.dirname(made[0]) if len(made) == 1 else package
    if len(made) == 1:
        found["@"] = made[0]
    if len(paths) == 1:
        found["<"] = paths[0]
    return found


def setting(ctx: RuleContext) -> dict[Any, Any]:
    """config_setting, constraint_value and their like: they hold or not; as a dependency they give nothing."""
    info = default_info(())
    return {info.provider: info}


def py_binary(ctx: RuleContext) -> dict[Any, Any]:
    """py_binary as a host tool: a launcher that runs the main source with the machine's python3."""
    sources = ctx.files("srcs")
    main = _main_source(ctx, sources)
    library = py_library(ctx)[DEFAULT_INFO].fields["files"].to_list()
    launcher = ctx.declare(ctx.label.name)
    roots = [".", ctx.configuration.bin_root, *_import_roots(ctx, library)]
    content = f'#!/bin/sh\nPYTHONPATH={":".join(dict.fromkeys(roots))} PYTHONDONTWRITEBYTECODE=1 exec python3 {main.path} "$@"\n'
    ctx.register(Write(str(ctx.label), launcher.path, content, True, ctx.configuration.name, ctx.location))
    info = default_info([launcher, *library], launcher)
    return {info.provider: info}


def _main_source(ctx: RuleContext, sources: Iterable[File]) -> File:
    wanted = ctx.value("main")
    name = wanted.name if isinstance(wanted, Label) else f"{ctx.label.name}.py"
    files = list(sources)
    for file in files:
        if file.owner.name == name or file.basename == posixpath.basename(name):
            return file
    if len(files) == 1 and wanted is None:
        return files[0]
    raise ctx.fail(f"{ctx.label}: no source is the main file {name}", "set `main`")


def _import_roots(ctx: RuleContext, files: Iterable[File]) -> list[str]:
    roots: list[str] = []
    for file in files:
        if file.path.startswith("external/"):
            roots.append("/".join(file.path.split("/")[:2]))
        elif file.root and file.path.startswith(f"{file.root}/external/"):
            roots.append("/".join(file.path.split("/")[: file.root.count("/") + 3]))
    for item in ctx.words("imports"):
        base = posixpath.dirname(ctx.analyzer.exec_path(ctx.label))
        roots += [posixpath.normpath(posixpath.join(base, item))]
    return roots


def py_library(ctx: RuleContext) -> dict[Any, Any]:
    """py_library: the Python sources of a target and of what it depends on."""
    info = default_info(dict.fromkeys([*ctx.files("srcs"), *(file for dep in ctx.deps("deps") for file in dep.files)]))
    return {info.provider: info}


def sh_binary(ctx: RuleContext) -> dict[Any, Any]:
    """sh_binary as a host tool: its one source, under the target's name, is what runs."""
    sources = ctx.files("srcs")
    if len(sources) != 1:
        raise ctx.fail(f"{ctx.label}: sh_binary takes exactly one source, got {len(sources)}")
    launcher = ctx.declare(ctx.label.name)
    ctx.register(Copy(str(ctx.label), sources[0].path, launcher.path, ctx.configuration.name, ctx.location))
    info = default_info([launcher, *sources, *(file for dep in ctx.deps("deps") for file in dep.files)], launcher)
    return {info.provider: info}


def sh_library(ctx: RuleContext) -> dict[Any, Any]:
    """sh_library: shell sources of a target and of what it depends on."""
    return py_library(ctx)


_PY = {
    **COMMON,
    "srcs": Attr("label_list"),
    "deps": Attr("label_list"),
    "imports": Attr("string_list"),
    "main": Attr("label"),
    "data": irrelevant("label_list", "tools read what their command names"),
    "args": irrelevant("string_list", "generators pass their own arguments"),
    "env": irrelevant("string_dict", "generators set their own environment"),
    "python_version": irrelevant("string", "tools run with the machine's python3"),
    "srcs_version": irrelevant("string", "tools run with the machine's python3"),
    "legacy_create_init": irrelevant("int", "namespace packages serve"),
    "stamp": irrelevant("int", "tools are not stamped"),
    "output_licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
    "main_module": Attr("string", status="unsupported", reason="set main"),
    "precompile": irrelevant("string", "tools run from source"),
    "pyc_collection": irrelevant("string", "tools run from source"),
}
_SH = {
    **COMMON,
    "srcs": Attr("label_list"),
    "deps": Attr("label_list"),
    "data": irrelevant("label_list", "tools read what their command names"),
    "args": irrelevant("string_list", "generators pass their own arguments"),
    "env": irrelevant("string_dict", "generators set their own environment"),
    "env_inherit": irrelevant("string_list", "generators set their own environment"),
    "output_licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
}


def _rule(name: str, attrs: dict[str, Attr], implement: Any, **more: Any) -> RuleClass:
    return RuleClass(name, {**COMMON, **attrs}, implement, **more)


GENERAL_RULES: dict[str, RuleClass] = {
    rule.name: rule
    for rule in (
        _rule("alias", {"actual": Attr("label", mandatory=True)}, alias, transparent=True),
        _rule(
            "filegroup",
            {
                "srcs": Attr("label_list"),
                "output_group": Attr("string"),
                "data": irrelevant("label_list", "runfiles are not staged"),
                "path": irrelevant("string", "has had no meaning since Bazel 0.x"),
                "output_licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
            },
            filegroup,
        ),
        _rule(
            "genrule",
            {
                "srcs": Attr("label_list"),
                "outs": Attr("output_list", mandatory=True, configurable=False),
                "cmd": Attr("string"),
                "cmd_bash": Attr("string"),
                "cmd_bat": irrelevant("string", "genrules run in bash"),
                "cmd_ps": irrelevant("string", "genrules run in bash"),
                "tools": Attr("label_list", cfg="exec"),
                "exec_tools": Attr("label_list", cfg="exec"),
                "executable": Attr("bool"),
                "message": irrelevant("string", "progress names the label"),
                "local": irrelevant("bool", _NO_REMOTE),
                "stamp": irrelevant("bool", "version stamps are written by the bundle"),
                "output_to_bindir": irrelevant("bool", "there is one output folder"),
                "heuristic_label_expansion": irrelevant("bool", "labels are written with $(location)"),
                "output_licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
                "data": irrelevant("label_list", "runfiles are not staged"),
            },
            genrule,
            outputs=_outputs,
        ),
        _rule(
            "config_setting",
            {
                "values": Attr("string_dict", configurable=False),
                "define_values": Attr("string_dict", configurable=False),
                "flag_values": Attr("label_keyed_string_dict", configurable=False),
                "constraint_values": Attr("label_list", configurable=False),
            },
            setting,
        ),
        _rule("constraint_setting", {"default_constraint_value": Attr("label", configurable=False)}, setting),
        _rule("constraint_value", {"constraint_setting": Attr("label", mandatory=True, configurable=False)}, setting),
        _rule("compiler_flag", {}, setting),
        _rule(
            "platform",
            {
                "constraint_values": Attr("label_list", configurable=False),
                "parents": Attr("label_list", configurable=False),
                "remote_execution_properties": irrelevant("string", _NO_REMOTE),
                "flags": irrelevant("string_list", "the target's row and the lock set the flags"),
                "required_settings": irrelevant("label_list", "the target's row decides"),
                "missing_toolchain_error": irrelevant("string", "toolchain= decides"),
            },
            setting,
        ),
        _rule("toolchain_type", {"no_match_error": irrelevant("string", "toolchain= decides")}, setting),
        _rule(
            "toolchain",
            {
                "toolchain": Attr("label", configurable=False),
                "toolchain_type": Attr("label", configurable=False),
                "exec_compatible_with": Attr("label_list", configurable=False),
                "target_settings": Attr("label_list", configurable=False),
                "use_target_platform_constraints": irrelevant("bool", "toolchain= decides"),
            },
            setting,
        ),
        _rule("test_suite", {"tests": Attr("label_list", configurable=False), **{k: TEST[k] for k in ("args",)}}, setting, test=True),
        _rule(
            "label_flag",
            {"build_setting_default": Attr("label", mandatory=True), "help": irrelevant("string", "a note to people")},
            label_setting,
            transparent=True,
        ),
        _rule(
            "label_setting",
            {"build_setting_default": Attr("label", mandatory=True), "help": irrelevant("string", "a note to people")},
            label_setting,
            transparent=True,
        ),
        RuleClass("py_binary", _PY, py_binary, executable=True),
        RuleClass("py_library", _PY, py_library),
        RuleClass("sh_binary", _SH, sh_binary, executable=True),
        RuleClass("sh_library", _SH, sh_library),
    )
}
