"""Owns the compile of a C++ target: its sources by kind, include folders, defines and flags in Bazel's order, one Compile a source.

    compilation = compile_target(ctx)
    compilation.objects, compilation.context

Rules: Bazel's C++ rules reference; the order of includes, defines and flags is that of Bazel 7's cc_library, held by the oracle.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from litert_build.actions import Compile, Copy, Language, Origin, Traced
from litert_build.bazel.context import RuleContext
from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import CC_INFO, CcInfo, CompilationContext, ConfiguredTarget, File, unique
from litert_build.toolchains.features import default_flags, unfiltered_flags

_LANGUAGES: dict[str, Language] = {
    ".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".c++": "c++", ".C": "c++", ".cu": "c++", ".cl": "c++", ".S": "asm",
    ".s": "asm", ".asm": "asm", ".m": "objc", ".mm": "objc++",
}  # fmt: skip
_HEADERS = frozenset((".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tlh", ".tli"))
_LIBRARIES = frozenset((".a", ".so", ".lo", ".o", ".dylib", ".dll", ".lib"))
_SCRIPTS = frozenset((".lds", ".ld", ".ldscript"))
_SOURCES = _HEADERS | _LIBRARIES | _SCRIPTS | frozenset(_LANGUAGES)
# Rules without CcInfo that `deps` takes all the same: what they make may be named by $(location).
_WITHOUT_INFO = frozenset(("genrule", "sh_library", "cc_binary", "cc_test", "faulty"))


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
        is_file = dep.kind in ("source file", "generated file")
        fits = dep.kind == "faulty"
        for file in dep.files:
            suffix = posixpath.splitext(file.path)[1]
            fits = fits or suffix in _SOURCES or ".so." in file.basename
            if suffix in _LANGUAGES:
                if file in units:
                    raise ctx.fail(f"{ctx.label}: source '{file.path}' is duplicated (through '{units[file]}' and '{dep.label}')")
                units[file] = dep.label
            elif suffix in _LIBRARIES or ".so." in file.basename:
                libraries.append(file)
            elif suffix in _SCRIPTS:
                scripts.append(file)
            elif suffix in _HEADERS or not is_file:
                headers.append(file)
            else:
                raise ctx.fail(f"{ctx.label}: {dep.kind} '{dep.label}' is misplaced here: no C++ rule takes {suffix or 'such'} files")
        if not fits:
            raise ctx.fail(f"{ctx.label}: '{dep.label}' does not produce any {ctx.target.rule.name} srcs files")
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
    if ".." in strip.split("/"):
        raise ctx.fail(f"attribute 'strip_include_prefix' of {ctx.label} holds an up-level reference: {strip}")
    if ctx.given("strip_include_prefix") and strip != "":
        return strip.lstrip("/") if strip.startswith("/") else _joined(ctx.label.package, strip)
    return ctx.label.package if ctx.value("include_prefix") else None


def virtual_includes(ctx: RuleContext, headers: Sequence[File]) -> tuple[list[File], str]:
    """Return the headers under their prefixed paths and the folder to search, both empty without a prefix. Raises BuildError."""
    strip = _strip_prefix(ctx)
    prefix = ctx.value("include_prefix").rstrip("/")
    if prefix.startswith("/") or ".." in prefix.split("/"):
        raise ctx.fail(f"attribute 'include_prefix' of {ctx.label} is no relative path downwards: {prefix}")
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


def compile_target(ctx: RuleContext, extra_deps: Iterable[CcInfo] = (), objc_flags: tuple[str, ...] = ()) -> Compilation:
    """Register the compiles of a cc target and return what it offers; `objc_flags` go to its Objective-C. Raises BuildError."""
    srcs = ctx.deps("srcs")
    sources = sort_sources(ctx, srcs)
    headers = list(ctx.files("hdrs")) if "hdrs" in ctx.target.rule.attrs else []
    textual = list(ctx.files("textual_hdrs")) if "textual_hdrs" in ctx.target.rule.attrs else []
    deps = [*cc_infos(ctx, "deps"), *extra_deps]
    own_defines = unique([_definitions(ctx, "defines", srcs)])
    virtual, virtual_dir = virtual_includes(ctx, headers)
    all_headers = [*headers, *virtual, *textual, *sources.headers]
    system = include_dirs(ctx)
    private_deps = [*deps, *cc_infos(ctx, "implementation_deps")]
    own = compilation_context(ctx, deps, all_headers, virtual_dir=virtual_dir, system=system, defines=own_defines)
    private = compilation_context(ctx, private_deps, all_headers, virtual_dir=virtual_dir, system=system, defines=own_defines)
    objects = compile_units(ctx, sources.units, private, _definitions(ctx, "local_defines", srcs), objc_flags)
    return Compilation(objects, own, (*headers, *virtual), sources)


def _definitions(ctx: RuleContext, name: str, sources: Sequence[ConfiguredTarget]) -> list[Traced]:
    """Return the words of `defines` or `local_defines`. Raises BuildError for an item that is not one word."""
    found: list[Traced] = []
    for item in ctx.traced(name):
        words = ctx.expand_words([item], name, sources)
        if len(words) != 1:
            raise ctx.fail(f"attribute '{name}' of {ctx.label}: definition '{item}' has {len(words)} words, want exactly one")
        found += words
    return found


def cc_infos(ctx: RuleContext, name: str) -> list[CcInfo]:
    """Return the CcInfo of each dependency of an attribute. Raises BuildError for one without it that the attribute does not take."""
    if name not in ctx.target.rule.attrs:
        return []
    found: list[CcInfo] = []
    for dep in ctx.deps(name):
        info = dep.get(CC_INFO)
        if isinstance(info, CcInfo):
            found.append(info)
        else:
            _check_without_info(ctx, name, dep)
    return found


def _check_without_info(ctx: RuleContext, name: str, dep: ConfiguredTarget) -> None:
    if dep.kind in _WITHOUT_INFO:
        return
    if dep.kind in ("source file", "generated file"):
        if posixpath.splitext(dep.label.name)[1] not in _SCRIPTS | {".i"}:
            raise ctx.fail(
                f"attribute '{name}' of {ctx.label}: {dep.kind} '{dep.label}' is misplaced here "
                "(expected a rule with CcInfo, .ld, .lds or .ldscript)",
                "list sources in srcs, headers in hdrs, files to read in data",
            )
        return
    raise ctx.fail(
        f"attribute '{name}' of {ctx.label}: {dep.kind} rule '{dep.label}' does not have mandatory providers: 'CcInfo'",
        "list files in srcs or data: deps are C++ libraries",
    )


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
        generated=Depset([file for file in headers if not file.is_source], [part.generated for part in parts]),
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
    ctx: RuleContext,
    units: Sequence[tuple[File, Label]],
    context: CompilationContext,
    local_defines: Iterable[str],
    objc_flags: tuple[str, ...] = (),
) -> tuple[File, ...]:
    """Register one Compile a source file and return the objects."""
    generated = tuple(file.path for file in context.generated.to_list())
    if units:
        own = Depset([file for file, _ in units], [context.headers])
        ctx.analyzer.headers[str(ctx.label), ctx.configuration.name] = own
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
            options[language] = _options(ctx, language, defines, includes, objc_flags if language in ("objc", "objc++") else ())
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
    ctx: RuleContext, language: Language, defines: Iterable[str], includes: Iterable[tuple[str, str]], rule_flags: tuple[str, ...]
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
        (*first, *rule_flags, *user, *last),
    )
