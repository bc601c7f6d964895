"""Owns cc_common: the part that Starlark rules of host closures use to hand CcInfo on.

    cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])

Rules: Bazel's `cc_common` reference. What is not here is an error when it is used.
"""

from __future__ import annotations

from typing import Any

from litert_build.bazel.depset import Depset
from litert_build.bazel.providers import CcInfo, CompilationContext, LinkerInput, LinkingContext, merge_cc_infos
from litert_build.starlark.values import Builtin, EvalError, Value


def _paths(value: Any) -> tuple[str, ...]:
    return () if value is None else tuple(value.to_list() if isinstance(value, Depset) else value)


def _merge(direct_cc_infos: Any = (), cc_infos: Any = ()) -> CcInfo:
    return merge_cc_infos([*direct_cc_infos, *cc_infos])


def _compilation_context(
    headers: Any = None, system_includes: Any = None, includes: Any = None, quote_includes: Any = None, defines: Any = None,
    local_defines: Any = None, **_: Any,
) -> CompilationContext:  # fmt: skip
    files = _paths(headers)
    return CompilationContext(
        headers=Depset(files),
        generated=Depset(file for file in files if not file.is_source),  # type: ignore[attr-defined]
        direct_headers=files,  # type: ignore[arg-type]
        quote_includes=_paths(quote_includes),
        includes=_paths(includes),
        system_includes=_paths(system_includes),
        defines=_paths(defines),
        local_defines=_paths(local_defines),
    )


def _linker_input(owner: Any, libraries: Any = None, user_link_flags: Any = None, additional_inputs: Any = None, **_: Any) -> LinkerInput:
    if _paths(libraries):
        raise EvalError("cc_common.create_linker_input(libraries) is not supported: use cc_import")
    return LinkerInput(owner, (), (), _paths(user_link_flags), _paths(additional_inputs))  # type: ignore[arg-type]


def _linking_context(linker_inputs: Any = None, **_: Any) -> LinkingContext:
    return LinkingContext(linker_inputs if isinstance(linker_inputs, Depset) else Depset(linker_inputs or (), (), "topological"))


class CcCommon(Value):
    """The cc_common module."""

    type_name = "cc_common"
    members = {  # noqa: RUF012
        "merge_cc_infos": Builtin("cc_common.merge_cc_infos", _merge),
        "create_compilation_context": Builtin("cc_common.create_compilation_context", _compilation_context),
        "create_linker_input": Builtin("cc_common.create_linker_input", _linker_input),
        "create_linking_context": Builtin("cc_common.create_linking_context", _linking_context),
        "do_not_use_tools_cpp_compiler_present": None,
    }

    def starlark_attr(self, name: str) -> Any:
        if name not in self.members:
            raise EvalError(f"cc_common.{name} is not supported: it has {', '.join(sorted(self.members))}")
        return self.members[name]

    def starlark_dir(self) -> list[str]:
        return sorted(self.members)


def cc_common_module() -> CcCommon:
    """Return the cc_common value."""
    return CcCommon()
