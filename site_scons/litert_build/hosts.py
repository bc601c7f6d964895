"""Owns the final link: the host library with its export list.

plan = plan_host(analysis.link, lock, target, toolchain, out_dir="bazel-out/k8-opt/bin/host")
plan.library        # 'bazel-out/k8-opt/bin/host/libLiteRtLm.so'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from litert_build.actions import Action, Archive, Link, LinkInputs, Run, Write
from litert_build.errors import BuildError
from litert_build.policy.targets import Target
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains.base import Toolchain
from litert_build.toolchains.linkmodel import HostFiles, module_definition, symbols_list, version_script
from litert_build.toolchains.runtime import refuse_prebuilt_cxx

LABEL = "//:host"
_SHORTEST_PREFIX = 5  # four letters and the star: "_*" or "a*" would let out C++ symbols by the hundred
_OF_ONE_FILE = re.compile(r"-Wl,(-soname|--version-script|-rpath|-install_name|-exported_symbols_list)[,=].+|(-Wl,)?-s|-Wl,--strip-all")
_EXPORT_SUFFIX = {"elf": ".exports", "pe": ".def", "macho": ".exports"}


@dataclass(frozen=True)
class HostPlan:
    """The actions that make the host, producer before consumer, and where their products are (exec paths).

    `link_map` is the linker's own account of what went in, for the gate's blame, empty where it writes none; `debug_file` is empty
    unless debug symbols are split, `import_library` on everything but Windows.
    """

    actions: tuple[Action, ...]
    library: str
    export_list: str
    link_map: str = ""
    debug_file: str = ""
    import_library: str = ""


def plan_host(
    link: LinkInputs,
    lock: Lock,
    target: Target,
    toolchain: Toolchain,
    *,
    out_dir: str,
    split_debug: bool = False,
    root: Path | None = None,
) -> HostPlan:
    """Return the plan of one host library, named by the target's row, exporting the lock's product alone.

    Roots and alwayslink libraries are linked as objects, the others where something needs them.

    With `split_debug` the linked file is kept whole beside as `<name>.debug` and the library is its stripped copy. Where `root`, the
    execution root, is given, prebuilt archives are looked into.
    Raises BuildError where the lock makes no host or names nothing to export, or for a prebuilt archive that holds C++.
    """
    if lock.product.kind != "host":
        raise BuildError(f"{lock.ref} makes {lock.product.kind}, not a host", where=str(lock.file), mend='set product.kind to "host"')
    name = lock.product.library or target.library
    library = f"{out_dir}/{name}"
    linked = f"{library}.debug" if split_debug else library
    files = HostFiles(
        soname=name,
        export_list=f"{out_dir}/{name}{_EXPORT_SUFFIX[target.format]}",
        link_map=f"{library}.map" if toolchain.writes_link_map else "",
        import_library=f"{out_dir}/{PurePosixPath(name).stem}.lib" if target.format == "pe" else "",
        keep_symbols=split_debug,
    )
    where = str(lock.file)
    if root is not None:
        refuse_prebuilt_cxx(link.libraries, root, where=where)
    written = Write(label=LABEL, output=files.export_list, content=export_list(lock.product, target, name, where), location=where)
    linking = Link(
        label=LABEL,
        output=linked,
        kind="shared",
        configuration="target",
        objects=link.objects,
        libraries=link.libraries,
        flags=(*_for_any_file(link.flags), *lock.linkopts),
        platform_flags=toolchain.host_link_flags(files),
        scripts=(*link.scripts, files.export_list),
        side_outputs=tuple(side for side in (files.link_map, files.import_library) if side),
        location=where,
        archive=f"{library}.libraries.a" if link.lazy else "",
        members=link.lazy,
    )
    archive = [Archive(LABEL, linking.archive, link.lazy, linking.configuration, where)] if link.lazy else []
    actions: list[Action] = [written, *archive, linking]
    if split_debug:
        actions.append(
            Run(
                label=LABEL,
                mnemonic="Strip",
                argv=tuple(toolchain.strip_argv(linked, library)),
                inputs=(linked,),
                outputs=(library,),
                configuration="target",
                location=where,
            )
        )
    return HostPlan(tuple(actions), library, files.export_list, files.link_map, linked if split_debug else "", files.import_library)


def _for_any_file(flags: Iterable[str]) -> list[str]:
    """Return link options without those that hold for the one file that upstream links, such as a shared library that is a root: its name,
    its exports, where it looks for others, and that it has no symbols. The host has its own."""
    return [flag for flag in flags if not _OF_ONE_FILE.fullmatch(flag)]


def export_list(product: Product, target: Target, library: str, where: str) -> str:
    """Return the text of the export list of `product` in the form the target's linker reads.

    What is required must be there, by name. What is allowed may be absent, as a function that a header declares for other targets:
    it stands as a pattern that matches the one name, for Mach-O linkers refuse an absent name, and so does lld for ELF from 16 on
    (--no-undefined-version); neither minds a pattern without a match. A .def file has no patterns: what is allowed is exported there by
    the dllexport of its declaration.
    Raises BuildError for an empty export list: a host that exports nothing is never meant.
    """
    names = [name if name in product.required else as_pattern(name) for name in exported(product, where)]
    if target.format == "elf":
        return version_script(names)
    if target.format == "macho":
        return symbols_list(names)
    return module_definition(library, sorted(product.required))


def as_pattern(name: str) -> str:
    """Return the pattern that matches exactly `name`; a pattern as it is."""
    return name if name.endswith("*") else f"{name[:-1]}[{name[-1]}]"


def exported(product: Product, where: str) -> list[str]:
    """Return the names and trailing-`*` patterns of the export list, sorted. Raises BuildError where there are none, or for what
    is neither, such as a lone `*`."""
    names = sorted({*product.required, *product.allowed})
    if not names:
        raise BuildError("the product exports nothing", where=where, mend="list the C API in product.required or product.allowed")
    for name in names:
        if name.endswith("*") and (len(name) < _SHORTEST_PREFIX or name.startswith("_")):
            raise BuildError(f"{name!r} lets out more than a C API", where=where, mend="allow a longer prefix, or the names themselves")
        if not name.removesuffix("*").replace("_", "a").isalnum():
            raise BuildError(
                f"{name!r} is not a C symbol name or a prefix with a trailing *", where=where, mend="name the symbols to export"
            )
    return names
