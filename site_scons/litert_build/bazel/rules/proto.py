"""Owns protocol buffers: proto_library, and cc_proto_library with one protoc action a file.

    PROTO_RULES["cc_proto_library"]      # RuleClass

Rules: Bazel's "Protocol Buffer rules" reference. As in Bazel the C++ of a .proto is made and compiled in the name of its proto_library,
whatever number of cc_proto_library targets reach it.
"""

from __future__ import annotations

import posixpath
from typing import Any

from litert_build.actions import Copy, Run
from litert_build.bazel.attributes import COMMON, Attr, irrelevant
from litert_build.bazel.context import RuleContext, executable_of
from litert_build.bazel.depset import Depset
from litert_build.bazel.labels import Label
from litert_build.bazel.providers import CC_INFO, BuiltinProvider, CcInfo, File, LinkerInput, default_info, merge_cc_infos
from litert_build.bazel.rule_class import RuleClass
from litert_build.bazel.rules.cc_compile import compilation_context, compile_units, repository_root

PROTOC = "@com_google_protobuf//:protoc"
RUNTIME = "@com_google_protobuf//:protobuf"
TOOLCHAIN = "@com_google_protobuf//:cc_toolchain"
PROTO_INFO = BuiltinProvider("ProtoInfo")


def _source_root(ctx: RuleContext, file: File) -> str:
    root = repository_root(ctx, file.owner)
    if not file.root:
        return root
    return file.root if root == "." else f"{file.root}/{root}"


def _virtual_sources(ctx: RuleContext, sources: tuple[File, ...]) -> tuple[tuple[File, ...], str]:
    """Return the sources under their import paths and the folder that imports start from."""
    strip, prefix = ctx.value("strip_import_prefix"), ctx.value("import_prefix").strip("/")
    if not ctx.given("strip_import_prefix") and not prefix:
        roots = {_source_root(ctx, file) for file in sources}
        return sources, roots.pop() if len(roots) == 1 else repository_root(ctx, ctx.label)
    base = strip.lstrip("/") if strip.startswith("/") else posixpath.normpath(posixpath.join(ctx.label.package, strip))
    base = "" if base == "." else base
    folder = f"_virtual_imports/{ctx.label.name}"
    made: list[File] = []
    for file in sources:
        inner = posixpath.relpath(file.path, _source_root(ctx, file))
        if base and not inner.startswith(base + "/"):
            raise ctx.fail(f"{ctx.label}: source '{inner}' is not under the strip prefix '{base}'")
        output = ctx.declare(posixpath.join(folder, prefix, inner[len(base) + 1 if base else 0 :]))
        ctx.register(Copy(str(ctx.label), file.path, output.path, ctx.configuration.name, ctx.location))
        made.append(output)
    return tuple(made), ctx.declare(folder).path


def proto_library(ctx: RuleContext) -> dict[Any, Any]:
    """proto_library: sources, what they import, and from where."""
    sources, root = _virtual_sources(ctx, ctx.files("srcs"))
    deps = [info for dep in ctx.deps("deps") if (info := dep.get(PROTO_INFO)) is not None]
    fields = {
        "direct_sources": sources,
        "proto_source_root": root,
        "transitive_sources": Depset(sources, [dep.fields["transitive_sources"] for dep in deps]),
        "transitive_imports": Depset(sources, [dep.fields["transitive_sources"] for dep in deps]),
        "transitive_proto_path": Depset([root], [dep.fields["transitive_proto_path"] for dep in deps]),
        "check_deps_sources": Depset(sources),
    }
    info = default_info(sources)
    return {info.provider: info, PROTO_INFO: PROTO_INFO.make(**fields)}


def _generate(ctx: RuleContext, info: Any, source: File) -> tuple[File, File]:
    """Register the protoc action of one file and return its .pb.cc and .pb.h."""
    root = info.fields["proto_source_root"]
    stem = posixpath.splitext(posixpath.relpath(source.path, root))[0]
    package = posixpath.dirname(ctx.declare("x").path)
    base = root if root.startswith("bazel-out/") else posixpath.normpath(posixpath.join(ctx.configuration.bin_root, root))
    made = [ctx.declare(posixpath.relpath(f"{base}/{stem}{suffix}", package)) for suffix in (".pb.cc", ".pb.h")]
    protoc = ctx.dep(ctx.target.package.to_label(PROTOC), ctx.analyzer.exec)
    tool = executable_of(protoc, ctx)
    ctx.register(
        Run(
            label=str(ctx.label),
            mnemonic="GenProto",
            argv=(tool.path, f"--cpp_out={base}", *(f"-I{path}" for path in _import_paths(info)), source.path),
            inputs=tuple(dict.fromkeys([*(file.path for file in info.fields["transitive_sources"].to_list()), source.path, tool.path])),
            outputs=tuple(file.path for file in made),
            tools=(tool.path,),
            configuration=ctx.configuration.name,
            location=ctx.location,
        )
    )
    return made[0], made[1]


def _import_paths(info: Any) -> list[str]:
    """Return the folders that imports are looked up in, in Bazel's order: protoc takes the first that a file is below of for the start of
    its name, so virtual trees come before the output folders that hold them, and the execution root comes last."""
    paths = dict.fromkeys(path for path in info.fields["transitive_proto_path"].to_list() if path not in ("", "."))
    return [*sorted(paths, key=lambda path: ("_virtual_imports/" not in path, path.count("/") < 3)), "."]


def _is_provided(ctx: RuleContext) -> bool:
    """Return whether the C++ runtime holds the code of this proto_library already, as protobuf's own proto_lang_toolchain says."""
    toolchain = ctx.target.package.to_label(TOOLCHAIN)
    if toolchain.name not in ctx.analyzer.packages.load(toolchain.repository, toolchain.package, ctx.location).targets:
        return False
    rule = ctx.analyzer.find_rule(toolchain, ctx.location)
    return rule is not None and "blacklisted_protos" in rule.rule.attrs and ctx.label in ctx.resolver.value(rule, "blacklisted_protos")


def cc_proto_info(ctx: RuleContext) -> CcInfo:
    """Return the C++ side of a proto_library, generated and compiled once: the cc_proto aspect of Bazel. Raises BuildError."""
    known: dict[tuple[Label, str], CcInfo] = ctx.analyzer.aspects.setdefault("cc_proto", {})
    key = (ctx.label, ctx.configuration.name)
    if key not in known:
        known[key] = _cc_proto_info(ctx)
    return known[key]


def _cc_proto_info(ctx: RuleContext) -> CcInfo:
    info = ctx.analyzer.configured(ctx.label, ctx.configuration, None).get(PROTO_INFO)
    runtime = ctx.dep(ctx.target.package.to_label(RUNTIME)).get(CC_INFO)
    deps = [cc_proto_info(RuleContext(ctx.analyzer, rule, ctx.configuration)) for rule in _proto_deps(ctx)]
    made = [] if _is_provided(ctx) else [_generate(ctx, info, source) for source in info.fields["direct_sources"]]
    headers = [header for _, header in made]
    virtual, virtual_dir = _virtual_headers(ctx, info, headers)
    context = compilation_context(ctx, [*deps, runtime], [*headers, *virtual], virtual_dir=virtual_dir)
    objects = compile_units(ctx, [(unit, ctx.label) for unit, _ in made], context, ())
    own = [LinkerInput(ctx.label, objects, alwayslink=False)] if made else []
    return CcInfo(context, Depset(own, [dep.linking for dep in (*deps, runtime)], "topological"))


def _proto_deps(ctx: RuleContext) -> list[Any]:
    rules = []
    for label in ctx.value("deps"):
        rule = ctx.analyzer.find_rule(label, ctx.location)
        while rule is not None and rule.rule.name == "alias":
            rule = ctx.analyzer.find_rule(ctx.resolver.value(rule, "actual"), ctx.location)
        if rule is not None and rule.rule.name == "proto_library":
            rules.append(rule)
    return rules


def _virtual_headers(ctx: RuleContext, info: Any, headers: list[File]) -> tuple[list[File], str]:
    root = info.fields["proto_source_root"]
    if "_virtual_imports" not in root:
        return [], ""
    folder = f"_virtual_includes/{ctx.label.name}"
    made: list[File] = []
    for header in headers:
        output = ctx.declare(f"{folder}/{posixpath.relpath(header.path, root)}")
        ctx.register(Copy(str(ctx.label), header.path, output.path, ctx.configuration.name, ctx.location))
        made.append(output)
    return made, ctx.declare(folder).path


def cc_proto_library(ctx: RuleContext) -> dict[Any, Any]:
    """cc_proto_library: the C++ of its one proto_library and of all that this imports."""
    infos = [cc_proto_info(RuleContext(ctx.analyzer, rule, ctx.configuration)) for rule in _proto_deps(ctx)]
    if not infos:
        raise ctx.fail(f"{ctx.label}: deps of a cc_proto_library name a proto_library")
    merged = merge_cc_infos(infos)
    info = default_info(file for file in merged.compilation.headers.to_list() if file.path.endswith(".pb.h"))
    return {info.provider: info, CC_INFO: merged}


PROTO_RULES: dict[str, RuleClass] = {
    "proto_library": RuleClass(
        "proto_library",
        {
            **COMMON,
            "srcs": Attr("label_list"),
            "deps": Attr("label_list"),
            "exports": Attr("label_list"),
            "strip_import_prefix": Attr("string"),
            "import_prefix": Attr("string"),
            "allow_exports": irrelevant("label", "who may re-export is not checked"),
            "data": irrelevant("label_list", "runfiles are not staged"),
            "cc_api_version": irrelevant("int", "there is one C++ API"),
            "extension_declarations": irrelevant("label_list", "protoc reads them from the sources"),
            "option_deps": irrelevant("label_list", "custom options are not interpreted"),
        },
        proto_library,
    ),
    "proto_lang_toolchain": RuleClass(
        "proto_lang_toolchain",
        {**COMMON, "blacklisted_protos": Attr("label_list")},
        missing="protoc is called with C++ alone",
        any_attr=True,
    ),
    "cc_proto_library": RuleClass(
        "cc_proto_library",
        {**COMMON, "deps": Attr("label_list"), "data": irrelevant("label_list", "runfiles are not staged")},
        cc_proto_library,
    ),
}
