"""Owns the C++ rules: what a cc target compiles, with which defines, includes and flags, and what it gives to others and to links.

    CC_RULES["cc_library"]      # RuleClass

Rules: Bazel's C++ rules reference; the order of includes, defines and flags is that of Bazel 7's cc_library, held by the oracle.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from litert_build.actions import Compile, Copy, Language, Link, Origin, Traced
from litert_build.bazel.attributes import COMMON, TEST, Attr, irrelevant
from litert_build.bazel.context import RuleContext
from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import (
    CC_INFO,
    CcInfo,
    CompilationContext,
    ConfiguredTarget,
    File,
    LinkerInput,
    default_info,
    merge_cc_infos,
    unique,
)
from litert_build.bazel.rule_class import RuleClass
from litert_build.toolchains.features import default_flags, unfiltered_flags

_LANGUAGES: dict[str, Language] = {
    ".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".c++": "c++", ".C": "c++", ".cu": "c++", ".cl": "c++", ".S": "asm",
    ".s": "asm", ".asm": "asm", ".m": "objc", ".mm": "objc++",
}  # fmt: skip
_HEADERS = frozenset((".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tlh", ".tli", ".cuh", ".def", ".cppm", ""))
_LIBRARIES = frozenset((".a", ".so", ".lo", ".o", ".dylib", ".dll", ".lib"))

_TESTS_DEBUG = "affects tests and debugging of binaries only"
COMPILE_ATTRS: dict[str, Attr] = {
    "srcs": Attr("label_list"),
    "hdrs": Attr("label_list"),
    "textual_hdrs": Attr("label_list"),
    "deps": Attr("label_list"),
    "implementation_deps": Attr("label_list"),
    "copts": Attr("string_list"),
    "cxxopts": Attr("string_list"),
    "conlyopts": Attr("string_list"),
    "defines": Attr("string_list"),
    "local_defines": Attr("string_list"),
    "includes": Attr("string_list"),
    "include_prefix": Attr("string"),
    "strip_include_prefix": Attr("string"),
    "linkopts": Attr("string_list"),
    "alwayslink": Attr("bool"),
    "additional_linker_inputs": Attr("label_list"),
    "additional_compiler_inputs": Attr("label_list"),
    "data": irrelevant("label_list", "runfiles are not staged: a host has none"),
    "linkstatic": irrelevant("bool", "hosts and tools are linked statically from objects"),
    "nocopts": Attr("string", status="unsupported", reason="Bazel removed it: drop the flag with a select() or in an overlay"),
    "hdrs_check": irrelevant("string", "undeclared inclusion is checked from depfiles"),
    "win_def_file": irrelevant("label", "export lists are generated from the lock"),
    "linkstamp": Attr("label", status="unsupported", reason="version stamps are written by the bundle"),
    "interface_deps": Attr("label_list", status="unsupported", reason="removed from Bazel: use deps"),
    "module_interfaces": Attr("label_list", status="unsupported", reason="C++20 modules are not built"),
    "stamp": irrelevant("int", "version stamps are written by the bundle"),
    "nodist": irrelevant("bool", "has had no meaning since Bazel 0.x"),
}
BINARY_ATTRS: dict[str, Attr] = {
    **COMPILE_ATTRS,
    "linkshared": Attr("bool"),
    "malloc": Attr("label"),
    "dynamic_deps": Attr("label_list", status="unsupported", reason="a host needs no shared library of its own sources"),
    "link_extra_lib": Attr("label"),
    "args": irrelevant("string_list", "binaries are run by generators only, with their own arguments"),
    "env": irrelevant("string_dict", "binaries are run by generators only, with their own environment"),
    "output_licenses": irrelevant("string_list", "licences are gathered from the sources' files"),
    "reexport_deps": irrelevant("label_list", _TESTS_DEBUG),
}


@dataclass(frozen=True)
class Sources:
    """The files of `srcs` by what is done with them."""

    units: tuple[tuple[File, Label], ...]
    headers: tuple[File, ...]
    libraries: tuple[File, ...]
    scripts: tuple[File, ...]


def sort_sources(ctx: RuleContext, deps: Iterable[ConfiguredTarget]) -> Sources:
    """Return the sources of a cc target by kind. Raises BuildError for a file no C++ rule takes."""
    units: dict[File, Label] = {}
    headers: list[File] = []
    libraries: list[File] = []
    scripts: list[File] = []
    for dep in deps:
        for file in dep.files:
            suffix = posixpath.splitext(file.path)[1]
            if suffix in _LANGUAGES:
                units.setdefault(file, dep.label)
            elif suffix in _LIBRARIES or ".so." in file.basename:
                libraries.append(file)
            elif suffix in (".lds", ".ld", ".ldscript"):
                scripts.append(file)
            elif suffix in _HEADERS or dep.kind not in ("source file", "generated file"):
                headers.append(file)
            else:
                raise ctx.fail(f"{ctx.label}: source file '{dep.label}' is misplaced here: no C++ rule takes {suffix} files")
    return Sources(tuple(units.items()), tuple(headers), tuple(libraries), tuple(scripts))


def repository_root(ctx: RuleContext, label: Label) -> str:
    return f"external/{label.repository}" if label.repository else "."


def _joined(*parts: str) -> str:
    return posixpath.normpath("/".join(part for part in parts if part and part != "."))


def include_dirs(ctx: RuleContext) -> tuple[str, ...]:
    """Return what `includes` adds, source folder then generated folder, as exec paths. Raises BuildError if one leaves the tree."""
    found: list[str] = []
    base = _joined(repository_root(ctx, ctx.label), ctx.label.package)
    for item in ctx.words("includes"):
        path = posixpath.normpath(posixpath.join(base, item))
        if path.startswith("..") or item.startswith("/"):
            raise ctx.fail(f"attribute 'includes' of {ctx.label}: '{item}' leaves the execution root")
        origin = item.origin
        found += [Traced(path, origin), Traced(_joined(ctx.configuration.bin_root, path), origin)]
    return unique([found])


def _strip_prefix(ctx: RuleContext) -> str | None:
    strip = ctx.value("strip_include_prefix")
    if ctx.given("strip_include_prefix") and strip != "":
        return strip.lstrip("/") if strip.startswith("/") else _joined(ctx.label.package, strip)
    return ctx.label.package if ctx.value("include_prefix") else None


def virtual_includes(ctx: RuleContext, headers: Sequence[File]) -> tuple[list[File], str]:
    """Return the headers under their prefixed paths and the folder to search, both empty without a prefix. Raises BuildError."""
    strip = _strip_prefix(ctx)
    prefix = ctx.value("include_prefix").strip("/")
    if not strip and not prefix:
        return [], ""
    strip = "" if strip in (None, ".") else str(strip)
    folder = f"_virtual_includes/{ctx.label.name}"
    made: list[File] = []
    for header in headers:
        inner = _repository_relative(ctx, header)
        if strip and not inner.startswith(strip + "/"):
            raise ctx.fail(f"header '{inner}' is not under the specified strip prefix '{strip}'")
        path = inner[len(strip) + 1 :] if strip else inner
        output = ctx.declare(f"{folder}/{prefix}/{path}" if prefix else f"{folder}/{path}")
        ctx.register(Copy(str(ctx.label), header.path, output.path, ctx.configuration.name, ctx.location))
        made.append(output)
    return made, ctx.declare(folder).path


def _repository_relative(ctx: RuleContext, file: File) -> str:
    path = file.path[len(file.root) + 1 :] if file.root else file.path
    return path.split("/", 2)[2] if path.startswith("external/") else path


def split_flags(words: Iterable[Traced]) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Return (defines, includes, other flags) of compiler options, each in order."""
    defines: list[str] = []
    includes: list[tuple[str, str]] = []
    flags: list[str] = []
    pending = ""
    for word in words:
        if pending:
            if pending == "-D":
                defines.append(word)
            else:
                includes.append((pending, word))
            pending = ""
        elif word in ("-D", "-I", "-iquote", "-isystem", "/D", "/I"):
            pending = word.replace("/", "-")
        elif word.startswith(("-D", "/D")) and len(word) > 2:
            defines.append(Traced(word[2:], word.origin))
        elif word.startswith("-iquote") or word.startswith("-isystem"):
            kind = "-iquote" if word.startswith("-iquote") else "-isystem"
            includes.append((kind, Traced(word[len(kind) :], word.origin)))
        elif word.startswith(("-I", "/I")) and len(word) > 2:
            includes.append(("-I", Traced(word[2:], word.origin)))
        else:
            flags.append(word)
    return defines, includes, flags


@dataclass(frozen=True)
class Compilation:
    """What a cc target compiled: objects, what it exports, and the headers that stand in its name."""

    objects: tuple[File, ...]
    context: CompilationContext
    headers: tuple[File, ...]
    sources: Sources


def compile_target(ctx: RuleContext, extra_deps: Iterable[CcInfo] = ()) -> Compilation:
    """Register the compiles of a cc target and return what it offers. Raises BuildError."""
    srcs = ctx.deps("srcs")
    sources = sort_sources(ctx, srcs)
    headers = list(ctx.files("hdrs")) if "hdrs" in ctx.target.rule.attrs else []
    textual = list(ctx.files("textual_hdrs")) if "textual_hdrs" in ctx.target.rule.attrs else []
    deps = [*cc_infos(ctx, "deps"), *extra_deps]
    own_defines = unique([ctx.words("defines", srcs)])
    virtual, virtual_dir = virtual_includes(ctx, headers)
    all_headers = [*headers, *virtual, *textual, *sources.headers]
    system = include_dirs(ctx)
    private_deps = [*deps, *cc_infos(ctx, "implementation_deps")]
    own = compilation_context(ctx, deps, all_headers, virtual_dir=virtual_dir, system=system, defines=own_defines)
    private = compilation_context(ctx, private_deps, all_headers, virtual_dir=virtual_dir, system=system, defines=own_defines)
    objects = compile_units(ctx, sources.units, private, ctx.words("local_defines", srcs))
    return Compilation(objects, own, (*headers, *virtual), sources)


def cc_infos(ctx: RuleContext, name: str) -> list[CcInfo]:
    """Return the CcInfo of each dependency of an attribute; one without it gives nothing to a compile or link."""
    if name not in ctx.target.rule.attrs:
        return []
    return [info for dep in ctx.deps(name) if isinstance(info := dep.get(CC_INFO), CcInfo)]


def compilation_context(
    ctx: RuleContext,
    deps: Sequence[CcInfo],
    headers: Sequence[File],
    *,
    virtual_dir: str = "",
    system: Iterable[str] = (),
    defines: Iterable[str] = (),
) -> CompilationContext:
    """Return what a target offers to the compiles of its own and of others: its part and that of `deps`, in Bazel's order."""
    here = Origin("the repository's roots", str(ctx.label), ctx.location)
    root = Traced(repository_root(ctx, ctx.label), here)
    generated = Traced(_joined(ctx.configuration.bin_root, root), here)
    parts = [dep.compilation for dep in deps]
    return CompilationContext(
        headers=Depset(headers, [part.headers for part in parts]),
        direct_headers=tuple(headers),
        quote_includes=unique([(root, generated), *(part.quote_includes for part in parts)]),
        includes=unique(
            [
                (Traced(virtual_dir, Origin("strip_include_prefix or include_prefix", str(ctx.label), ctx.location)),)
                if virtual_dir
                else (),
                *(part.includes for part in parts),
            ]
        ),
        system_includes=unique([system, *(part.system_includes for part in parts)]),
        defines=unique([*(part.defines for part in parts), defines]),
    )


def _object_names(ctx: RuleContext, units: Sequence[tuple[File, Label]]) -> list[str]:
    stems = [posixpath.splitext(file.basename)[0] for file, _ in units]
    seen: dict[str, int] = {}
    names: list[str] = []
    for stem in stems:
        if stems.count(stem) > 1:
            index = seen.get(stem, 0)
            seen[stem] = index + 1
            names.append(f"_objs/{ctx.label.name}/{index}/{stem}.pic.o")
        else:
            names.append(f"_objs/{ctx.label.name}/{stem}.pic.o")
    return names


def compile_units(
    ctx: RuleContext, units: Sequence[tuple[File, Label]], context: CompilationContext, local_defines: Iterable[str]
) -> tuple[File, ...]:
    """Register one Compile a source file and return the objects."""
    generated = tuple(file.path for file in context.headers.to_list() if not file.is_source)
    includes = (
        *(("-iquote", path) for path in context.quote_includes),
        *(("-I", path) for path in context.includes),
        *(("-isystem", path) for path in context.system_includes),
    )
    defines = (*context.defines, *local_defines)
    options: dict[Language, tuple[tuple[str, ...], tuple[tuple[str, str], ...], tuple[str, ...]]] = {}
    objects: list[File] = []
    for (file, _), name in zip(units, _object_names(ctx, units)):
        language = _LANGUAGES[posixpath.splitext(file.path)[1]]
        if language not in options:
            options[language] = _options(ctx, language, defines, includes)
        chosen_defines, chosen_includes, flags = options[language]
        output = ctx.declare(name)
        ctx.register(
            Compile(
                label=str(ctx.label),
                source=file.path,
                output=output.path,
                depfile=output.path[:-2] + ".d",
                configuration=ctx.configuration.name,
                language=language,
                defines=chosen_defines,
                includes=chosen_includes,
                flags=flags,
                generated=(*generated, *_compiler_inputs(ctx)),
                location=ctx.location,
            )
        )
        objects.append(output)
    return tuple(objects)


def _compiler_inputs(ctx: RuleContext) -> tuple[str, ...]:
    if "additional_compiler_inputs" not in ctx.target.rule.attrs:
        return ()
    return tuple(file.path for file in ctx.files("additional_compiler_inputs") if not file.is_source)


def _options(
    ctx: RuleContext, language: Language, defines: Iterable[str], includes: Iterable[tuple[str, str]]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...], tuple[str, ...]]:
    configuration = ctx.configuration
    features = ctx.features()
    before = list(default_flags(configuration.toolchain, language, "opt", True, features))
    by_language = {"c": configuration.conlyopts, "objc": configuration.conlyopts, "asm": ()}.get(language, configuration.cxxopts)
    global_words = [
        Traced(word, Origin("options of the lock", location=str(ctx.analyzer.lock.file))) for word in (*configuration.copts, *by_language)
    ]
    own = ctx.words("copts", ctx.deps("srcs")) if "copts" in ctx.target.rule.attrs else []
    name = {"c": "conlyopts", "c++": "cxxopts", "objc++": "cxxopts"}.get(language, "")
    if name in ctx.target.rule.attrs:
        own += ctx.words(name)
    first_defines, first_includes, first = split_flags(before)
    user_defines, user_includes, user = split_flags([*global_words, *own])
    last_defines, last_includes, last = split_flags(unfiltered_flags(configuration.toolchain, features))
    return (
        (*first_defines, *defines, *user_defines, *last_defines),
        (*first_includes, *includes, *user_includes, *last_includes),
        (*first, *user, *last),
    )


def linker_input(ctx: RuleContext, compilation: Compilation) -> LinkerInput:
    """Return what a cc target itself adds to a link."""
    additional = ctx.deps("additional_linker_inputs") if "additional_linker_inputs" in ctx.target.rule.attrs else []
    flags = ctx.words("linkopts", [*additional, *ctx.deps("deps")])
    objects = [*compilation.objects, *(f for f in compilation.sources.libraries if f.extension in ("o", "lo"))]
    libraries = tuple(f for f in compilation.sources.libraries if f.extension not in ("o", "lo"))
    scripts = tuple(dict.fromkeys([*(file for dep in additional for file in dep.files), *compilation.sources.scripts]))
    return LinkerInput(
        ctx.label,
        tuple(objects),
        libraries,
        tuple(flags),
        scripts,
        bool(ctx.value("alwayslink") if "alwayslink" in ctx.target.rule.attrs else False),
    )


def cc_library(ctx: RuleContext) -> dict[Any, Any]:
    """cc_library: compile, and offer objects, headers, defines and include paths to dependents."""
    check_supported(ctx)
    compilation = compile_target(ctx)
    dependencies = [*cc_infos(ctx, "deps"), *cc_infos(ctx, "implementation_deps")]
    linking = Depset([linker_input(ctx, compilation)], [info.linking for info in dependencies], "topological")
    info = default_info(compilation.objects)
    return {info.provider: info, CC_INFO: CcInfo(compilation.context, linking)}


def check_supported(ctx: RuleContext) -> None:
    """Raise BuildError if an attribute is set that this build does not support."""
    for name in ctx.target.attrs:
        spec = ctx.spec(name)
        if spec.status == "unsupported" and ctx.value(name) not in (None, "", 0, False) and list(_as_items(ctx.value(name))):
            raise ctx.fail(f"attribute '{name}' of {ctx.label} is not supported: {spec.reason}", "drop it in an overlay")


def _as_items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple | dict) else (value,)


def cc_binary(ctx: RuleContext) -> dict[Any, Any]:
    """cc_binary: compile and link an executable, or a shared library with linkshared."""
    check_supported(ctx)
    extra = [info for name in ("malloc", "link_extra_lib") if ctx.given(name) for info in cc_infos(ctx, name)]
    compilation = compile_target(ctx, extra)
    closure = merge_cc_infos([*cc_infos(ctx, "deps"), *cc_infos(ctx, "implementation_deps"), *extra])
    inputs = [linker_input(ctx, compilation), *closure.linking.to_list()]
    shared = bool(ctx.value("linkshared"))
    output = ctx.declare(binary_name(ctx, shared))
    ctx.register(link_action(ctx, output, inputs, shared))
    info = default_info([output], None if shared else output)
    return {info.provider: info, CC_INFO: CcInfo(compilation.context, Depset(inputs, (), "topological"))}


def binary_name(ctx: RuleContext, shared: bool) -> str:
    windows = ctx.configuration.os == "windows"
    name = ctx.label.name
    if shared:
        return name if "." in posixpath.basename(name) else f"lib{name}.so" if not windows else f"{name}.dll"
    return f"{name}.exe" if windows and not name.endswith(".exe") else name


def link_action(ctx: RuleContext, output: File, inputs: Sequence[LinkerInput], shared: bool, flags: Sequence[str] = ()) -> Link:
    """Return the Link of `inputs` into `output`."""
    return Link(
        label=str(ctx.label),
        output=output.path,
        kind="shared" if shared else "executable",
        configuration=ctx.configuration.name,
        objects=unique([[file.path for file in item.objects] for item in inputs]),
        libraries=unique([[file.path for file in item.libraries] for item in inputs]),
        flags=(*ctx.configuration.linkopts, *flags, *(flag for item in inputs for flag in item.flags)),
        scripts=unique([[file.path for file in item.scripts] for item in inputs]),
        location=ctx.location,
    )


def cc_import(ctx: RuleContext) -> dict[Any, Any]:
    """cc_import: a prebuilt archive or shared library with its headers."""
    check_supported(ctx)
    headers = ctx.files("hdrs")
    virtual, virtual_dir = virtual_includes(ctx, headers)
    context = compilation_context(ctx, cc_infos(ctx, "deps"), [*headers, *virtual], virtual_dir=virtual_dir, system=include_dirs(ctx))
    chosen = [name for name in ("pic_static_library", "static_library", "interface_library", "shared_library") if ctx.value(name)]
    if not chosen and ctx.value("system_provided"):
        raise ctx.fail(f"{ctx.label}: system_provided needs an interface_library")
    libraries = ctx.files(chosen[0]) if chosen else ()
    flags = tuple(ctx.words("linkopts"))
    own = LinkerInput(ctx.label, ctx.files("objects"), libraries, flags, (), bool(ctx.value("alwayslink")))
    linking = Depset([own], [info.linking for info in cc_infos(ctx, "deps")], "topological")
    info = default_info(libraries)
    return {info.provider: info, CC_INFO: CcInfo(context, linking)}


def cc_shared_library(ctx: RuleContext) -> dict[Any, Any]:
    """cc_shared_library: one shared library of all that `deps` (formerly `roots`) reach, outside the host itself."""
    check_supported(ctx)
    roots = [*cc_infos(ctx, "deps"), *cc_infos(ctx, "roots")]
    inputs = merge_cc_infos(roots).linking.to_list()
    name = ctx.value("shared_lib_name") or f"lib{ctx.label.name}.so"
    output = ctx.declare(name)
    additional = ctx.deps("additional_linker_inputs")
    scripts = tuple(file for dep in additional for file in dep.files)
    own = LinkerInput(ctx.label, (), (), tuple(ctx.words("user_link_flags", additional)), scripts)
    ctx.register(link_action(ctx, output, [*inputs, own], True))
    info = default_info([output])
    return {info.provider: info}


def declared_test(ctx: RuleContext) -> dict[Any, Any]:
    """cc_test: declared and never built."""
    raise ctx.fail(f"the closure needs {ctx.label}, a test: tests are declared, not built", "remove the dependency on it")


_TEST_ATTRS = {**COMMON, **BINARY_ATTRS, **TEST}
CC_RULES: dict[str, RuleClass] = {
    "cc_library": RuleClass("cc_library", {**COMMON, **COMPILE_ATTRS}, cc_library),
    "cc_binary": RuleClass("cc_binary", {**COMMON, **BINARY_ATTRS}, cc_binary, executable=True),
    "cc_test": RuleClass("cc_test", _TEST_ATTRS, declared_test, test=True),
    "cc_import": RuleClass(
        "cc_import",
        {
            **COMMON,
            "hdrs": Attr("label_list"),
            "deps": Attr("label_list"),
            "objects": Attr("label_list"),
            "pic_objects": Attr("label_list", status="unsupported", reason="list them in objects"),
            "static_library": Attr("label"),
            "pic_static_library": Attr("label"),
            "shared_library": Attr("label"),
            "interface_library": Attr("label"),
            "system_provided": Attr("bool"),
            "alwayslink": Attr("bool"),
            "linkopts": Attr("string_list"),
            "includes": Attr("string_list"),
            "include_prefix": Attr("string"),
            "strip_include_prefix": Attr("string"),
            "data": irrelevant("label_list", "runfiles are not staged: a host has none"),
        },
        cc_import,
    ),
    "cc_shared_library": RuleClass(
        "cc_shared_library",
        {
            **COMMON,
            "deps": Attr("label_list"),
            "roots": Attr("label_list"),
            "dynamic_deps": Attr("label_list", status="unsupported", reason="a host needs no shared library of its own sources"),
            "exports_filter": irrelevant("string_list", "all that the roots reach is linked"),
            "static_deps": irrelevant("string_list", "all that the roots reach is linked"),
            "shared_lib_name": Attr("string"),
            "user_link_flags": Attr("string_list"),
            "additional_linker_inputs": Attr("label_list"),
            "win_def_file": irrelevant("label", "export lists are generated from the lock"),
            "experimental_disable_topo_sort_do_not_use_remove_before_7_0": irrelevant("bool", "objects are linked in topological order"),
        },
        cc_shared_library,
    ),
}
