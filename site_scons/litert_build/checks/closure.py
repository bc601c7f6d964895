"""Owns the rules on how the libraries of one bundle fit together: whose symbols come from whom.

RULES["symbol-closure"].check(context).findings      # context.neighbours are the other libraries of the folder
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping

from litert_build.binaries.facts import BinaryFacts, Symbol
from litert_build.checks.dependencies import base_name, is_system, listed
from litert_build.checks.model import Context, Finding, Outcome
from litert_build.checks.registry import rule

_RUNTIME_SYMBOL = re.compile(
    r"_?_Z(?:GV|T[ISVTC]|T[hv]\w*?_)?(?:N[VKRO]*)?(?:S[tabsiod]|10__cxxabiv1)"  # std, its substitutions, the ABI library
    r"|_?_Z(?:nw|na|dl|da)[a-zP]|_?_ZT[IS]P?K?[a-z]\d*$"  # operators new and delete, typeinfo of built-in types
    r"|\?.*@std@@|\?\?(?:2|3|_U|_V)@"  # the same in Microsoft mangling
)
_RUNTIME_LIBRARY = re.compile(r"libc\+\+|libstdc\+\+|msvcp\d|vcruntime|concrt|libSystem|libgcc_s|libunwind", re.IGNORECASE)
_CXX = re.compile(r"_?_Z|\?")
_OURS = re.compile(r"LiteRt|TfLite|litert_|stream_proxy_|_Z|wgpu")
_SAMPLER = re.compile(r"(?:lib)?(LiteRtTopK\w+Sampler)\b")
_ACCELERATOR = re.compile(r"(?:lib)?LiteRt\w*Accelerator\b")
_SAMPLER_FUNCTIONS = (
    "Create", "Destroy", "SampleToIdAndScoreBuffer", "UpdateConfig", "CanHandleInput", "HandlesInput", "SetInputTensorsAndInferenceFunc",
)  # fmt: skip


def is_cxx(name: str) -> bool:
    """Return whether a symbol is a C++ one of the program's own, in Itanium or Microsoft mangling, not one of the C++ runtime."""
    return bool(_CXX.match(name)) and not _RUNTIME_SYMBOL.match(name)


def _with_import(symbol: Symbol) -> Callable[[Context], Context]:
    return lambda good: dataclasses.replace(good, facts=dataclasses.replace(good.facts, imports=(*good.facts.imports, symbol)))


@rule(
    "cxx-imports",
    title="No C++ symbol from another library",
    why="A C++ symbol that crosses a library boundary carries types across it: both sides must then come from one compiler with one "
    "standard library. Only the C++ runtime itself may satisfy a C++ import.",
    mend="link the definition into this library, or call it through a C function",
    example=_with_import(Symbol("_ZN6litert11EnvironmentC1Ev", "notype", "global")),
)
def cxx_imports(context: Context) -> Outcome:
    facts = context.facts
    has_runtime = any(_RUNTIME_LIBRARY.search(base_name(name)) for name in facts.needed)
    crossing = sorted(symbol for symbol in facts.imports if symbol.binding != "weak" and _crosses(symbol, has_runtime))
    findings = []
    for symbol in crossing[:12]:
        provider = symbol.library or _exporter(context.neighbours, symbol.name)
        findings.append(Finding(symbol.name, f"imported from {provider or 'no known library'}", origin=context.blame(symbol.name)))
    if len(crossing) > 12:
        findings.append(Finding(f"{len(crossing) - 12} more", "C++ symbols are imported too"))
    return Outcome("no C++ symbol is imported but from the C++ runtime", tuple(findings))


def _crosses(symbol: Symbol, has_runtime: bool) -> bool:
    """Return whether a C++ import comes from another library than a C++ runtime. One of the runtime's own symbols, as operator delete,
    crosses too where no runtime library is needed: then some other library, which leaks its copy, satisfies it."""
    if not _CXX.match(symbol.name):
        return False
    if symbol.library:
        return not _RUNTIME_LIBRARY.search(base_name(symbol.library))
    return is_cxx(symbol.name) or not has_runtime


def _exporter(neighbours: Mapping[str, BinaryFacts], name: str) -> str:
    return next((file for file, facts in neighbours.items() if name in facts.exported_names), "")


@rule(
    "symbol-closure",
    title="Every undefined symbol has a provider",
    why="A plug-in whose LiteRt* symbols nobody exports fails at dlopen, on the user's machine and only when the GPU is asked for.",
    mend="ship the library that exports them, name it in DT_NEEDED, or let the host export them",
    example=_with_import(Symbol("LiteRtCreateEnvironment", "func", "global")),
)
def symbol_closure(context: Context) -> Outcome:
    missing = sorted(symbol for symbol in context.facts.imports if symbol.binding != "weak" and not _provided(context, symbol))
    findings = []
    for symbol in missing[:12]:
        provider = _exporter(context.neighbours, context.facts.c_name(symbol.name))
        from_where = f"of {symbol.library}" if symbol.library else "in no needed library"
        findings.append(
            Finding(
                symbol.name,
                f"undefined {from_where}; "
                + (f"{provider} exports it, but is not needed here" if provider else "no file of the bundle exports it"),
                origin=context.blame(symbol.name),
            )
        )
    if len(missing) > 12:
        findings.append(Finding(f"{len(missing) - 12} more", listed(tuple(symbol.name for symbol in missing[12:]))))
    return Outcome(f"all {len(context.facts.imports)} undefined symbols have a provider", tuple(findings))


def _provided(context: Context, symbol: Symbol) -> bool:
    """Return whether a symbol comes from the system, a library this one needs, or the host.

    What the system exports is unknown here; a symbol with a recorded library or version is taken on that word. An ELF symbol without
    either may come from a needed system library without versions, so there only names of the project's own kinds count as missing. A
    library that neither the system nor the bundle has is the business of rule needed-libraries.
    """
    facts, name = context.facts, context.facts.c_name(symbol.name)
    if name in facts.exported_names:
        return True
    if symbol.library:
        neighbour = context.neighbour(symbol.library)
        return neighbour is None or _exports(context, neighbour, name, 8)
    needed = {library: context.neighbour(library) for library in facts.needed}
    if any(neighbour is not None and _exports(context, neighbour, name, 8) for neighbour in needed.values()):
        return True
    if context.host is not None and name in context.host.exported_names:
        return True
    silent = [library for library, neighbour in needed.items() if neighbour is None and library not in facts.version_needs]
    if any(not is_system(context, library) for library in silent):
        return True
    return facts.format == "elf" and bool(silent) and not _OURS.match(name)


def _exports(context: Context, library: BinaryFacts, name: str, depth: int) -> bool:
    """Return whether `library`, or one it needs or re-exports within the bundle, exports `name`."""
    if name in library.exported_names:
        return True
    inner = (context.neighbour(needed) for needed in library.needed)
    return depth > 0 and any(facts is not None and facts is not library and _exports(context, facts, name, depth - 1) for facts in inner)


def host_symbols(companions: Iterable[BinaryFacts]) -> tuple[str, ...]:
    """Return the LiteRt* functions that companions import and that none of them exports: what the host must export for them."""
    libraries = list(companions)
    exported = {name for facts in libraries for name in facts.exported_names}
    imported = {name for facts in libraries for name in facts.imported_names if name.startswith("LiteRt")}
    return tuple(sorted(imported - exported))


@rule(
    "entry-points",
    title="Samplers and accelerators export all their entry points",
    why="The host looks each of them up after dlopen; a sampler with three of its seven functions falls back to the CPU or crashes.",
    mend="take the plug-in of the same upstream commit, or rebuild it with all entry points exported",
    roles=("companion",),
    example=lambda good: dataclasses.replace(
        good,
        facts=dataclasses.replace(
            good.facts,
            file=good.facts.file.with_name("libLiteRtTopKWebGpuSampler.so"),
            exports=(Symbol("LiteRtTopKWebGpuSampler_Create", "func"),),
        ),
    ),
)
def entry_points(context: Context) -> Outcome:
    name = context.facts.file.name
    if match := _SAMPLER.match(name):
        needed = tuple(f"{match[1]}_{function}" for function in _SAMPLER_FUNCTIONS)
    else:
        needed = ("LiteRtAcceleratorImpl",) if _ACCELERATOR.match(name) else ()
    missing = [function for function in needed if function not in context.facts.exported_names]
    findings = tuple(Finding(function, "not exported") for function in missing)
    return Outcome(f"{len(needed)} entry points exported" if needed else "no plug-in", findings)
