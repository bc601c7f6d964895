"""Owns the final links: the host library with its export list, and the executables of the exec configuration.

plan = plan_host(analysis.link, lock, target, toolchain, out_dir="bazel-out/k8-opt/bin/host")
plan.library        # 'bazel-out/k8-opt/bin/host/libLiteRtLm.so'
"""

from __future__ import annotations

from dataclasses import dataclass

from litert_build.actions import Action, Link, LinkInputs, Run, Write
from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains.base import Toolchain


@dataclass(frozen=True)
class HostPlan:
    """The actions that make the host, producer before consumer, and where their products are (exec paths).

    `link_map` is the linker's own account of what went in, for the gate's blame; `debug_file` is empty unless debug symbols are split.
    """

    actions: tuple[Action, ...]
    library: str
    export_list: str
    link_map: str
    debug_file: str = ""


def plan_host(link: LinkInputs, lock: Lock, target: Target, toolchain: Toolchain, *, out_dir: str, split_debug: bool = False) -> HostPlan:
    """Return the plan of one host library: linked from objects, named by the target's row, exporting the lock's product alone.

    With `split_debug` the linked file is kept whole beside as `<name>.debug` and the library is its stripped copy.
    Raises BuildError where the lock makes no host or names nothing to export.
    """
    if lock.product.kind != "host":
        raise BuildError(f"{lock.ref} makes {lock.product.kind}, not a host", where=str(lock.file), mend='set product.kind to "host"')
    name = lock.product.library or target.library
    export_list = f"{out_dir}/{name}.exports"
    library, link_map = f"{out_dir}/{name}", f"{out_dir}/{name}.map"
    linked = f"{library}.debug" if split_debug else library
    written = Write(label="//:host", output=export_list, content=version_script(lock.product, str(lock.file)), location=str(lock.file))
    linking = Link(
        label="//:host",
        output=linked,
        kind="shared",
        configuration="target",
        objects=link.objects,
        libraries=link.libraries,
        flags=(*link.flags, *lock.linkopts, *toolchain.host_link_flags(name, export_list, link_map)),
        scripts=(*link.scripts, export_list),
        side_outputs=(link_map,),
        location=str(lock.file),
    )
    actions: list[Action] = [written, linking]
    if split_debug:
        actions.append(
            Run(
                label="//:host",
                mnemonic="Strip",
                argv=tuple(toolchain.strip_argv(linked, library)),
                inputs=(linked,),
                outputs=(library,),
                configuration="target",
                location=str(lock.file),
            )
        )
    return HostPlan(tuple(actions), library, export_list, link_map, linked if split_debug else "")


def version_script(product: Product, where: str) -> str:
    """Return the ELF version script that exports `product` and hides the rest (GNU ld manual, "VERSION Command").

    Raises BuildError for an empty export list: a host that exports nothing is never meant.
    """
    names = exported(product, where)
    return "{\n  global:\n" + "".join(f"    {name};\n" for name in names) + "  local:\n    *;\n};\n"


def exported(product: Product, where: str) -> list[str]:
    """Return the names and trailing-`*` patterns of the export list, sorted. Raises BuildError where there are none, or for a
    pattern that would export everything."""
    names = sorted({*product.required, *product.allowed})
    if not names:
        raise BuildError("the product exports nothing", where=where, mend="list the C API in product.required or product.allowed")
    for name in names:
        if not name.removesuffix("*").replace("_", "a").isalnum():
            raise BuildError(
                f"{name!r} is not a C symbol name or a prefix with a trailing *", where=where, mend="name the symbols to export"
            )
    return names


def plan_executable(label: str, link: LinkInputs, *, output: str, configuration: str, location: str = "") -> Link:
    """Return the plain link of a cc_binary: an executable of the exec configuration, or a test program."""
    return Link(
        label=label,
        output=output,
        kind="executable",
        configuration=configuration,
        objects=link.objects,
        libraries=link.libraries,
        flags=link.flags,
        scripts=link.scripts,
        location=location,
    )
