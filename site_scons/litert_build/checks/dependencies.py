"""Owns the rules on what a library needs from outside: LiteRT itself, plug-ins, system libraries, the C++ runtime, search paths.

RULES["runtime-imports"].check(context).findings
"""

from __future__ import annotations

import dataclasses
import re
from fnmatch import fnmatchcase

from litert_build.binaries.facts import Evidence
from litert_build.checks.model import Context, Finding, Outcome
from litert_build.checks.registry import rule, with_facts

_RUNTIME = re.compile(r"(lib)?litert(\.|[a-z]*(accelerator|sampler))", re.IGNORECASE)
_PLUGIN = re.compile(
    r"(lib)?(LiteRt(Dispatch|CompilerPlugin)|GemmaModelConstraintProvider|webgpu_dawn|dxcompiler|dxil|CLiteRTLM)", re.IGNORECASE
)
_CORE = re.compile(r"(lib)?LiteRt\.(so|dll|dylib)$", re.IGNORECASE)
_CORE_FUNCTION = re.compile(r"LiteRt(?!Lm)[A-Z]")
_ARCHIVES = {
    "libc++": re.compile(r"libc\+\+(_static|abi|experimental)?\.a$|libc\+\+(abi)?\.lib$"),
    "libstdc++": re.compile(r"lib(std|sup)c\+\+(fs|exp)?\.a$"),
    "msvc": re.compile(r"(libcpmt|msvcprt)d?\d*\.lib$", re.IGNORECASE),
}


def base_name(library: str) -> str:
    """Return the file name of a needed library: Mach-O records whole install names."""
    return library.rsplit("/", 1)[-1]


def is_plugin(library: str) -> bool:
    """Return whether a file is one that a host loads: LiteRT itself, an accelerator, a sampler, a vendor's dispatch or compiler."""
    return is_runtime(library) or bool(_PLUGIN.match(base_name(library)))


def is_runtime(library: str) -> bool:
    """Return whether a library is LiteRT, a LiteRT accelerator or a sampler; the host itself (LiteRtLm) is not."""
    return bool(_RUNTIME.match(base_name(library)))


def listed(names: tuple[str, ...], empty: str = "nothing") -> str:
    """Return names as one short sentence part."""
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "") if names else empty


@rule(
    "runtime-imports",
    title="No import of LiteRT, an accelerator or a sampler",
    why="In static mode LiteRT is compiled into the host. A host that also loads a prebuilt core hands C++ objects to code built on "
    "another C++ runtime: external weights are lost on Linux, Windows crashes in an unordered_map lookup.",
    mend="link the static targets (link mode static) and drop the shared library from the link",
    modes=("static",),
    roles=("host",),
    example=with_facts(needed=("libLiteRt.so", "libc.so.6")),
)
def runtime_imports(context: Context) -> Outcome:
    facts = context.facts
    findings = [
        Finding(name, f"{kind} {name}", origin=context.blame(base_name(name)))
        for kind, names in ((_needed_word(context), facts.needed), ("delay import", facts.delay_needed))
        for name in dict.fromkeys(names)
        if is_runtime(name)
    ]
    if not findings:
        functions = sorted(symbol for symbol in facts.imports if _CORE_FUNCTION.match(facts.c_name(symbol.name)))
        findings += [
            Finding(facts.c_name(symbol.name), f"undefined, {symbol.binding}: any LiteRT that the process has loaded provides it")
            for symbol in functions[:6]
        ]
    if facts.format == "pe":
        known = {finding.subject.lower() for finding in findings}
        findings += [
            Finding(name, f"the text {name} in the file, as a delay import made by GNU dlltool leaves it")
            for name in facts.evidence.libraries
            if _CORE.match(name) and name.lower() not in known
        ]
    names = tuple(base_name(name) for name in (*facts.needed, *facts.delay_needed))
    return Outcome(f"needs {listed(names)}; none is LiteRT, an accelerator or a sampler", tuple(findings))


def _needed_word(context: Context) -> str:
    return {"elf": "DT_NEEDED", "pe": "import of", "macho": "load command of"}[context.facts.format]


@rule(
    "runtime-strings",
    title="No name of the LiteRT library to dlopen",
    why="A host that names libLiteRt can still load it at run time, past every import table. From v0.19 no code path may.",
    mend="build without the loader of the shared LiteRT: its label is behind litert_runtime_link_mode_dynamic",
    modes=("static",),
    roles=("host",),
    since="v0.19",
    example=with_facts(evidence=Evidence({"libstdc++": ("needs libstdc++.so.6",)}, {}, ("libLiteRt.so",))),
)
def runtime_strings(context: Context) -> Outcome:
    found = tuple(name for name in context.facts.evidence.libraries if _CORE.match(name))
    findings = tuple(Finding(name, f"the text {name} stands in the file", origin=context.blame(name)) for name in found)
    plugins = tuple(name for name in context.facts.evidence.libraries if is_runtime(name) and not _CORE.match(name))
    return Outcome(f"no text libLiteRt.*; plug-ins named for dlopen: {listed(plugins, 'none')}", findings)


@rule(
    "cxx-runtime",
    title="Exactly one C++ runtime",
    why="Two C++ standard libraries in one file give one type two layouts, one exception two owners. A file that shows no runtime "
    "at all proves nothing, so it fails too.",
    mend="compile every C++ object of the host with one compiler and one standard library, linked once",
    example=with_facts(
        evidence=Evidence(
            {"libc++": ("St3__1 in 412 names",), "libstdc++": ("needs libstdc++.so.6",)}, {"libc++": "the text 'libc++abi: '"}
        )
    ),
)
def cxx_runtime(context: Context) -> Outcome:
    evidence = context.facts.evidence
    families = {name: list(reasons) for name, reasons in evidence.families.items()}
    for archive in context.link_map.archives if context.link_map else ():
        for family, pattern in _ARCHIVES.items():
            if pattern.search(base_name(archive)):
                families.setdefault(family, []).append(f"link map: {archive}")
    if not families:
        if context.policy.role == "companion":
            return Outcome("no C++ runtime: a companion may be plain C")
        absent = Finding("none", "no trace of libstdc++, libc++ or the MSVC STL in names, texts or needed libraries")
        return Outcome("indeterminate", (dataclasses.replace(absent, mend="keep the link map (-Wl,-Map) as evidence of a stripped file"),))
    if len(families) > 1:
        return Outcome(
            f"{len(families)} C++ runtimes: {', '.join(families)}",
            tuple(Finding(name, "; ".join(reasons), origin=_runtime_origin(context, name)) for name, reasons in families.items()),
        )
    family = next(iter(families))
    needed = [reason for reason in families[family] if reason.startswith("needs ")]
    static = [reason for name, reason in evidence.providers.items() if name == family]
    if needed and static:
        return Outcome(f"{family} twice: static and dynamic", (Finding(family, f"{needed[0]}, and inside: {static[0]}"),))
    return Outcome(f"{family}{', static' if static else ''}: {families[family][0]}")


def _other_core(good: Context) -> Context:
    core = dataclasses.replace(
        good.facts, file=good.facts.file.with_name("libLiteRt.so"), evidence=Evidence({"libstdc++": ("St7__cxx11 in 97 names",)})
    )
    policy = dataclasses.replace(good.policy, link_mode="dynamic", bundled=("libLiteRt.so",))
    facts = dataclasses.replace(good.facts, needed=("libLiteRt.so", *good.facts.needed))
    return dataclasses.replace(good, facts=facts, policy=policy, neighbours={"libLiteRt.so": core})


@rule(
    "runtime-boundary",
    title="The LiteRT library it needs is of the same C++ runtime",
    why="LiteRT-LM hands weights to LiteRT by writing C++ members of an options struct. Where host and core are built on two standard "
    "libraries, that write lands elsewhere: the weights are lost, or the process dies in an unordered_map.",
    mend="link LiteRT statically into the host (link mode static), or build both with one compiler and one standard library",
    roles=("host",),
    example=_other_core,
)
def runtime_boundary(context: Context) -> Outcome:
    needed = [base_name(name) for name in (*context.facts.needed, *context.facts.delay_needed) if is_runtime(name)]
    known = {name: facts for name in dict.fromkeys(needed) if (facts := context.neighbour(name))}
    own = context.facts.evidence.families
    findings = tuple(
        Finding(name, f"{name} is built on {_families(facts.evidence)}, {context.facts.file.name} on {_families(context.facts.evidence)}")
        for name, facts in known.items()
        if set(facts.evidence.families) != set(own)
    )
    return Outcome("no LiteRT library is needed" if not needed else f"{listed(tuple(known), 'none at hand')} on the same runtime", findings)


def _families(evidence: Evidence) -> str:
    return " and ".join(f"{name} ({reasons[0]})" for name, reasons in evidence.families.items()) or "no known runtime"


def _runtime_origin(context: Context, family: str) -> tuple[str, ...]:
    """Return the first objects of the link that use a family: by the libraries' own inline namespaces."""
    if context.link_map is None:
        return ()
    marks = {"libc++": ("St3__", "std::__1::", "6__ndk1"), "libstdc++": ("St7__cxx11", "std::__cxx11::")}.get(family, ())
    first = context.link_map.first_with(marks)
    return () if first is None else (first, *context.label_path(first))


@rule(
    "needed-libraries",
    title="Every needed library is the system's or in the bundle",
    why="A library that neither the target's system nor the bundle has makes the load fail on the user's machine, not on ours.",
    mend="link it statically, add it to the bundle, or add it to the target's system_libraries where every such system has it",
    example=with_facts(needed=("libfoo.so.3", "libc.so.6")),
)
def needed_libraries(context: Context) -> Outcome:
    names = tuple(dict.fromkeys((*context.facts.needed, *context.facts.delay_needed)))
    findings = tuple(
        Finding(name, f"{_needed_word(context)} {name}", origin=context.blame(base_name(name)))
        for name in names
        if not is_system(context, name) and not context.is_bundled(name)
    )
    return Outcome(f"{len(names)} needed libraries, all of the system or the bundle", findings)


def is_system(context: Context, library: str) -> bool:
    """Return whether the target's row lists `library`; rows take wildcards, and Windows compares without case."""
    fold = str.lower if context.facts.format == "pe" else str
    return any(fnmatchcase(fold(library), fold(pattern)) for pattern in context.target.system_libraries)


@rule(
    "runpath",
    title="Search paths stay within $ORIGIN",
    why="A RUNPATH outside the library's own folder loads whatever lies there on the user's machine, or leaks the builder's paths.",
    mend="link with -Wl,-rpath,$ORIGIN and --enable-new-dtags, and with no other -rpath",
    formats=("elf", "macho"),
    example=with_facts(runpath=("$ORIGIN", "third_party/swiftshader")),
)
def runpath(context: Context) -> Outcome:
    facts = context.facts
    paths = (*facts.rpath, *facts.runpath)
    findings = [
        Finding(path or "(empty)", f"{word} {path or 'an empty entry, which means the current directory'}")
        for word, entries in (("RPATH", facts.rpath), ("RUNPATH", facts.runpath))
        for path in dict.fromkeys(entries)
        if not _inside(path) and not (facts.format == "macho" and path.startswith(("/usr/lib/", "/System/")))
    ]
    bundled = [name for name in facts.needed if context.is_bundled(name)]
    if facts.format == "elf" and context.target.os == "linux" and bundled and "$ORIGIN" not in paths:
        findings.append(Finding("$ORIGIN", f"{bundled[0]} stands in the bundle, but no RUNPATH leads there"))
    return Outcome(f"RUNPATH {listed(paths, 'none')}", tuple(findings))


def _inside(path: str) -> bool:
    for root in ("$ORIGIN", "${ORIGIN}", "@loader_path", "@executable_path", "@rpath"):
        if path == root or path.startswith(root + "/"):
            return ".." not in path.split("/")
    return False


@rule(
    "soname",
    title="SONAME is the file name",
    why="What is linked against the library records its SONAME; another name, or none, is not found or is loaded twice.",
    mend="link with -Wl,-soname,<file name> (-install_name @rpath/<file name> for Apple)",
    formats=("elf", "macho"),
    example=with_facts(soname=""),
)
def soname(context: Context) -> Outcome:
    facts = context.facts
    found = base_name(facts.soname)
    if found == facts.file.name.removesuffix(".rejected") or (not found and context.policy.role == "companion"):
        return Outcome(f"SONAME {facts.soname or 'none'}")
    return Outcome(f"SONAME {facts.soname or 'none'}", (Finding(facts.soname or "(none)", f"the file is called {facts.file.name}"),))
