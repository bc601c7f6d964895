"""Owns objc_library: Objective-C and Objective-C++ of Apple targets, which LiteRT reaches through select() on macOS and iOS.

    OBJC_RULES["objc_library"]      # RuleClass

Rules: Bazel's "Objective-C rules" reference. Its compiles are those of cc_library with automatic reference counting on. Where Bazel
leaves the SDK to Xcode's toolchain, so does this: an Apple compiler finds it by -isysroot.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from litert_build.actions import Origin, Traced
from litert_build.bazel.attributes import COMMON, Attr, irrelevant
from litert_build.bazel.context import RuleContext
from litert_build.bazel.depset import Depset
from litert_build.bazel.providers import CC_INFO, CcInfo, default_info
from litert_build.bazel.rule_class import RuleClass
from litert_build.bazel.rules.cc import COMPILE_ATTRS, linker_input
from litert_build.bazel.rules.cc_compile import cc_infos, compile_target

APPLE = ("macos", "ios")
ARC = "-fobjc-arc"
# Every object of Objective-C needs it, and Bazel adds it unasked.
_FOUNDATION = "Foundation"


def objc_library(ctx: RuleContext) -> dict[Any, Any]:
    """objc_library: objects for an Apple target, with the frameworks they need. Raises BuildError for another target."""
    if ctx.configuration.os not in APPLE:
        here = ctx.configuration.name
        raise ctx.fail(f"the closure needs {ctx.label}, an objc_library, for {here}: Objective-C is compiled for Apple alone")
    compilation = compile_target(ctx, objc_flags=(Traced(ARC, Origin("objc_library", str(ctx.label), ctx.location)),))
    own = linker_input(ctx, compilation)
    own = replace(own, flags=(*own.flags, *_sdk_flags(ctx)))
    linking = Depset([own], [info.linking for name in ("deps", "implementation_deps") for info in cc_infos(ctx, name)], "topological")
    info = default_info(compilation.objects)
    return {info.provider: info, CC_INFO: CcInfo(compilation.context, linking)}


def _sdk_flags(ctx: RuleContext) -> list[str]:
    """Return the linker options of frameworks and system libraries: `libz` of sdk_dylibs is -lz."""
    frameworks = dict.fromkeys([_FOUNDATION, *ctx.words("sdk_frameworks")])
    words = [word for name in frameworks for word in ("-framework", name)]
    words += [word for name in ctx.words("weak_sdk_frameworks") for word in ("-weak_framework", name)]
    return words + [f"-l{name.removeprefix('lib')}" for name in ctx.words("sdk_dylibs")]


OBJC_RULES: dict[str, RuleClass] = {
    "objc_library": RuleClass(
        "objc_library",
        {
            **COMMON,
            **COMPILE_ATTRS,
            "sdk_frameworks": Attr("string_list"),
            "weak_sdk_frameworks": Attr("string_list"),
            "sdk_dylibs": Attr("string_list"),
            "sdk_includes": Attr("string_list", status="unsupported", reason="name the folder below the SDK in copts"),
            "non_arc_srcs": Attr("label_list", status="unsupported", reason="give them a library of their own with -fno-objc-arc in copts"),
            "pch": Attr("label", status="unsupported", reason="precompiled headers are not built"),
            "enable_modules": irrelevant("bool", "headers are included, not imported as modules"),
            "module_map": irrelevant("label", "headers are included, not imported as modules"),
            "module_name": irrelevant("string", "headers are included, not imported as modules"),
        },
        objc_library,
    ),
}
