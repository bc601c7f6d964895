"""Owns what makes a shared library a host, a format at a time: its name, its export list, its hardening, a map of what went in.

elf_host(HostFiles("libLiteRtLm.so", "out/libLiteRtLm.so.exports", "out/libLiteRtLm.so.map"))
"""

from __future__ import annotations

from dataclasses import dataclass

from litert_build.policy.targets import Target


@dataclass(frozen=True)
class HostFiles:
    """The names a host link needs: `soname` is the library's file name; the rest are exec paths. `link_map` is empty where the
    linker writes none, `import_library` on everything but Windows. `keep_symbols` leaves stripping to a later step."""

    soname: str
    export_list: str
    link_map: str = ""
    import_library: str = ""
    keep_symbols: bool = False


def elf_host(files: HostFiles) -> list[str]:
    """All but the export list is hidden and bound inside; nothing is undefined, nothing relocated in text (GNU ld manual, "Options")."""
    return [
        f"-Wl,-soname,{files.soname}",
        f"-Wl,--version-script,{files.export_list}",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--enable-new-dtags",
        "-Wl,-z,relro",
        "-Wl,-z,now",
        "-Wl,-z,defs",
        "-Wl,-z,text",
        "-Wl,-z,noexecstack",
        "-Wl,-Bsymbolic",
        "-Wl,--gc-sections",
        "-Wl,--build-id=sha1",
        *([f"-Wl,-Map,{files.link_map}"] if files.link_map else []),
    ]


def android_host(files: HostFiles, target: Target) -> list[str]:
    """ELF's, with pages of 16 KiB and the host in the global scope, where samplers that are opened later look symbols up."""
    pages = [f"-Wl,-z,{size}-page-size={target.page_size}" for size in ("max", "common")]
    return [*elf_host(files), *pages, "-Wl,-z,global"]


def mingw_host(files: HostFiles) -> list[str]:
    """The export list is a .def file, an input of the link; no time stamp is written (GNU ld manual, "Options specific to PE")."""
    return [
        files.export_list,
        f"-Wl,--out-implib,{files.import_library}",
        "-Wl,--no-insert-timestamp",
        "-Wl,--dynamicbase",
        "-Wl,--nxcompat",
        "-Wl,--high-entropy-va",
        "-Wl,--gc-sections",
        *([f"-Wl,-Map,{files.link_map}"] if files.link_map else []),
    ]


def macho_host(files: HostFiles) -> list[str]:
    """The arguments of ld64 itself; a driver passes each with -Xlinker or -Wl (ld(1))."""
    return [
        "-install_name",
        f"@rpath/{files.soname}",
        "-exported_symbols_list",
        files.export_list,
        "-rpath",
        "@loader_path",
        "-dead_strip",
        *(["-map", files.link_map] if files.link_map else []),
    ]


def cl_host(files: HostFiles) -> list[str]:
    """link.exe's: /Brepro in place of a time stamp, control flow guard, delay loads resolved by the linker's own helper."""
    return [
        f"/DEF:{files.export_list}",
        f"/IMPLIB:{files.import_library}",
        "/OPT:REF",
        "/OPT:ICF",
        "/Brepro",
        "/DYNAMICBASE",
        "/NXCOMPAT",
        "/HIGHENTROPYVA",
        "/GUARD:CF",
        "/INCREMENTAL:NO",
    ]


def version_script(names: list[str]) -> str:
    """ELF: exports `names`, hides the rest (GNU ld manual, "VERSION Command")."""
    return "{\n  global:\n" + "".join(f"    {name};\n" for name in names) + "  local:\n    *;\n};\n"


def module_definition(library: str, names: list[str]) -> str:
    """PE: exports `names`, which must be exact; a prefix pattern is served by dllexport in the sources, and the gate compares
    (Microsoft, "Module-Definition (.def) Files")."""
    return f"LIBRARY {library}\nEXPORTS\n" + "".join(f"    {name}\n" for name in names)


def symbols_list(names: list[str]) -> str:
    """Mach-O: exports `names`, each with the underscore that C names carry there (ld(1), -exported_symbols_list)."""
    return "".join(f"_{name}\n" for name in names)
