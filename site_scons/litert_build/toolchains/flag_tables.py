"""Owns what is known of compiler and linker flags: their kinds, their other spelling, and which are dropped where, with the reason.

kind_of("-ffp-contract=off")       # 'codegen'

Sources: GCC manual "Option Summary", "Clang command line argument reference", MSVC "Compiler options listed alphabetically".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

Dialect = Literal["gcc", "clang", "zig", "mingw", "msvc", "clang-cl"]
Kind = Literal["define", "include", "warning", "standard", "optimize", "debug", "arch", "codegen", "language", "thread", "tool", "link"]

GNU: tuple[Dialect, ...] = ("gcc", "clang", "zig", "mingw")
CL: tuple[Dialect, ...] = ("msvc", "clang-cl")

# The dialect of each toolchain whose name is not one.
_DIALECT_OF: dict[str, Dialect] = {"ndk": "clang", "apple-clang": "clang"}
DIALECTS: dict[str, Dialect] = {**{name: name for name in (*GNU, *CL)}, **_DIALECT_OF}

# Flags whose value may be, or is, the next word.
WITH_ARGUMENT = frozenset(
    """
    -D -U -I -L -l -include -imacros -isystem -iquote -idirafter -isysroot -x -arch -framework -weak_framework -u -z -Xclang
    -Xlinker -Xassembler -Xpreprocessor -mllvm --param -force_load -target -undefined /I /D /U /FI
    """.split()
)  # fmt: skip

# The -f flags that one of the compilers knows, without `no-` and value; those of one compiler alone are marked.
_CODEGEN = """
    access-control aggressive-loop-optimizations aligned-allocation aligned-new associative-math asynchronous-unwind-tables
    bracket-depth builtin cf-protection char8_t common constexpr-cache-depth constexpr-depth constexpr-loop-limit
    constexpr-ops-limit coroutines data-sections debug-prefix-map delete-null-pointer-checks diagnostics-color
    diagnostics-show-option exceptions excess-precision expensive-optimizations extended-identifiers fast-math file-prefix-map
    finite-math-only float-store fp-contract fp-model freestanding function-sections gcse gnu89-inline hosted ident inline
    inline-functions instrument-functions ivopts jump-tables keep-inline-functions lax-vector-conversions lto macro-prefix-map
    math-errno max-errors merge-all-constants merge-constants message-length module-private-symbols ms-extensions
    new-inheriting-ctors no-builtin objc-arc objc-exceptions omit-frame-pointer openmp openmp-simd operator-names
    optimize-sibling-calls pack-struct PIC pic PIE pie peel-loops permissive plt prefetch-loop-arrays profile-generate profile-use
    random-seed reciprocal-math rename-registers reorder-blocks reorder-functions rounding-math rtti sanitize sanitize-recover
    schedule-insns semantic-interposition short-enums short-wchar signaling-nans signed-char signed-zeros sized-deallocation
    split-stack stack-check stack-clash-protection stack-protector stack-protector-all stack-protector-strong strict-aliasing
    strict-enums strict-overflow syntax-only tabstop template-backtrace-limit template-depth threadsafe-statics tls-model
    trapping-math tree-loop-distribute-patterns tree-slp-vectorize tree-vectorize unroll-loops unsafe-math-optimizations
    unsigned-char unwind-tables use-cxa-atexit vect-cost-model vectorize version visibility visibility-inlines-hidden vtable-verify
    wrapv zero-initialized-in-bss trivial-auto-var-init sjlj-exceptions test-coverage profile-arcs profile-correction
""".split()
_CLANG_CODEGEN = frozenset(
    """
    ansi-escape-codes blocks caret-diagnostics color-diagnostics denormal-fp-math diagnostics-absolute-paths emulated-tls
    error-limit experimental-library experimental-new-constant-interpreter force-emit-vtables honor-infinities honor-nans
    implicit-module-maps module-map-file module-maps modules modules-cache-path mrecip ms-compatibility
    relaxed-template-template-args slp-vectorize split-machine-functions standalone-debug virtual-function-elimination
    whole-program-vtables constant-cfstrings coverage-mapping profile-instr-generate profile-instr-use
    """.split()
)  # fmt: skip
_GCC_CODEGEN = frozenset(("canonical-system-headers", "implicit-templates", "ipa-cp", "ipa-sra", "tree-pre", "weak"))
CODEGEN = frozenset(_CODEGEN) | _CLANG_CODEGEN | _GCC_CODEGEN

_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("define", r"[-/][DU].+|-Xpreprocessor|-Wp,.+"),
    ("include", r"-I.*|/I.*|/FI.*|-include|-imacros|-isystem.*|-iquote.*|-idirafter.*|-isysroot|-nostdinc(\+\+)?|/external:.+|/X"),
    (
        "link",
        r"-Wl,.+|-Xlinker|-[lL].+|-framework|-weak_framework|-u|-z|-rdynamic|-shared|-static(-lib\w+(\+\+)?)?|-s|-force_load|-nodefaultlibs",
    ),
    (
        "link",
        r"-no-pie|-pie|-nostdlib(\+\+)?|-fuse-ld=.+|-undefined|-headerpad\w*|-u\w+|[-/](DEBUG|OPT|DEFAULTLIB|NODEFAULTLIB|DELAYLOAD|WHOLEARCHIVE|INCLUDE|SUBSYSTEM|defaultlib|ignore)(:.+)?",
    ),
    ("link", r"/(guard|DYNAMICBASE|NXCOMPAT|LARGEADDRESSAWARE|STACK|HEAP|FORCE|EXPORT|DEF|MACHINE|Brepro|INCREMENTAL)(:.+)?"),
    ("tool", r"-Wa,.+|-Xassembler|-Xclang|-mllvm|--param(=.+)?|-pipe|-no-canonical-prefixes|/nologo|/bigobj|/Zm\d+|/MP\d*|/FS"),
    ("warning", r"-W[A-Za-z].*|-w|--?pedantic(-errors)?|-Wno-.*|/W[0-4X]|/WX-|/Wall|/w[deo14]\d+|/w"),
    ("standard", r"-std=.+|-ansi|/std:.+|/Zc:.+|/experimental:.+|/permissive-?|/Za|/Ze|[-/]utf-8|/source-charset:.+|/execution-charset:.+"),
    ("optimize", r"-O[0-3sgz]?|-Ofast|/O[12dstxb]\d?|/Oy-?|/Oi-?|/Gy-?|/Gw-?|/d2.+|/GL-?|/Ob\d"),
    ("debug", r"-g([0-3]|gdb|dwarf-[2-5]|line-tables-only|column-info|split-dwarf|z)?|-gno-.+|/Z[7iI]"),
    ("arch", r"-m[a-z0-9].*|/arch:.+|/favor:.+|-arch|-target|--target=.+"),
    ("codegen", r"/EH\w+-?c?-?|/GR-?|/GS-?|/fp:.+|/M[DT]d?|/Gd|/Zl|/guard:.+|/Qspectre|/openmp.*|/GF|/Zp\d*|/bigobj"),
    ("language", r"-x[\w+-]*|-ObjC(\+\+)?|/T[CP]|-E"),
    ("thread", r"-pthread"),
    ("tool", r"/clang:.+"),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
_CODEGEN_FLAG = re.compile(r"-f(?:no-)?([\w-]+?)(?:=.*|-\d+)?")


@cache
def kind_of(flag: str) -> Kind | None:
    """Return the kind of a flag's first word, or None where no compiler is known to take it."""
    codegen = _CODEGEN_FLAG.fullmatch(flag)
    if codegen and codegen.group(1) in CODEGEN:
        return "codegen"
    return next((kind for kind, pattern in _COMPILED if pattern.fullmatch(flag)), None)


@dataclass(frozen=True)
class Drop:
    """Flags that are left out for some dialects on purpose, and why that is right."""

    pattern: str
    dialects: tuple[Dialect, ...]
    reason: str

    def covers(self, flag: str, dialect: Dialect) -> bool:
        return dialect in self.dialects and re.fullmatch(self.pattern, flag) is not None


_CLANG_WARNINGS = (
    r"thread-safety.*|self-assign.*|shorten-64-to-32|documentation.*|everything|inconsistent-missing-override|heterogeneous-.*|"
    r"bitfield-enum-conversion|c\+\+\d+.*-extensions|deprecated-this-capture|gnu-.*|header-hygiene|invalid-constexpr|loop-analysis|"
    r"tautological-.*|unreachable-code.*|range-loop-analysis|string-conversion|unguarded-availability.*|unused-private-field|move"
)
_PE_RULES = "the export list alone says what a DLL exports"

DROPS: tuple[Drop, ...] = (
    Drop(rf"-W(error=)?({_CLANG_WARNINGS})", ("gcc", "mingw"), "clang's warning; gcc refuses the name"),
    Drop(r"-f(no-)?(" + "|".join(sorted(_CLANG_CODEGEN)) + r")(=.*)?", ("gcc", "mingw"), "clang's flag; gcc refuses the name"),
    Drop(r"-f(no-)?(" + "|".join(sorted(_GCC_CODEGEN)) + r")(=.*)?", ("clang", "zig"), "gcc's flag; clang refuses the name"),
    Drop(r"-mtune=generic", ("zig",), "zig tunes for the CPU of its target triple, which is the generic one"),
    Drop(r"-fPI[CE]|-fpi[ce]", ("mingw", *CL), "all code of PE is position independent"),
    Drop(r"-fvisibility.*", ("mingw", *CL), _PE_RULES),
    Drop(r"/w[deo14]\d+", GNU, "the number of an MSVC warning"),
    Drop(r"/Zc:.+|/permissive-|[-/]utf-8|/nologo|/Zm\d+|/MP\d*|/FS|/X", GNU, "gcc and clang behave so without it"),
    Drop(r"/bigobj", ("gcc", "clang", "zig"), "ELF, Mach-O and lld's COFF have no such limit"),
    Drop(r"/d2.+|/Oy-|/Oi-?|/GS-?|/Gd|/experimental:c11atomics", GNU, "tunes the MSVC compiler alone"),
    Drop(r"/d2.+|/experimental:c11atomics|/Zm\d+|/MP\d*|/FS", ("clang-cl",), "tunes the MSVC compiler alone"),
    Drop(r"/M[DT]d?", GNU, "the target's runtime policy links the runtime"),
    Drop(r"-pthread|-pipe|-fno-canonical-system-headers|-no-canonical-prefixes", CL, "nothing to do: threads and paths need no flag"),
    Drop(r"-W.*|--?pedantic(-errors)?", ("msvc",), "gcc's warning names mean nothing to MSVC"),
    Drop(
        r"-m(sse[\d.a-z]*|ssse3|aes|pclmul|popcnt|crc32|f16c|fma|bmi2?|lzcnt|rdrnd|prfchw)",
        ("msvc",),
        "MSVC has every intrinsic without a flag",
    ),
    Drop(r"-m(tune|cpu)=.+|-march=(armv8-a|x86-64)", ("msvc",), "the architecture's baseline"),
    Drop(
        r"-fno-omit-frame-pointer|-fstack-protector(-strong)?|-fno-math-errno|-fno-strict-aliasing", ("msvc",), "MSVC behaves so on 64 bits"
    ),
    Drop(r"-fno-(trapping-math|fast-math|rounding-math)|-fno-semantic-interposition", ("msvc",), "MSVC's default"),
    Drop(r"-g0|-O", ("msvc",), "MSVC's default"),
)

# gcc's spelling -> cl's. Functions take the match.
Spelling = str | Callable[[re.Match[str]], str]
GNU_TO_CL: tuple[tuple[str, Spelling], ...] = (
    (r"-D(.+)", r"/D\1"),
    (r"-U(.+)", r"/U\1"),
    (r"-(?:I|iquote|isystem|idirafter)(.+)", r"/I\1"),
    (r"-include(.+)", r"/FI\1"),
    (r"-std=(?:c|gnu)\+\+(14|17|20)", r"/std:c++\1"),
    (r"-std=(?:c|gnu)\+\+(?:2a)", "/std:c++20"),
    (r"-std=(?:c|gnu)\+\+(?:23|2b|26)", "/std:c++latest"),
    (r"-std=(?:c|gnu)(?:11|99|90|89)", "/std:c11"),
    (r"-std=(?:c|gnu)(?:17|18)", "/std:c17"),
    (r"-w", "/w"),
    (r"-Werror", "/WX"),
    (r"-O0|-Og", "/Od"),
    (r"-O[23]|-Ofast", "/O2"),
    (r"-O[1sz]", "/O1"),
    (r"-g(?:[123]|gdb|dwarf-\d)?", "/Z7"),
    (r"-ffunction-sections", "/Gy"),
    (r"-fdata-sections", "/Gw"),
    (r"-fno-exceptions", "/EHs-c-"),
    (r"-fexceptions", "/EHsc"),
    (r"-f(no-)?rtti", lambda found: "/GR-" if found.group(1) else "/GR"),
    (r"-ffast-math", "/fp:fast"),
    (r"-ffp-contract=off", "/fp:precise"),
    (r"-mavx2", "/arch:AVX2"),
    (r"-mavx", "/arch:AVX"),
    (r"-mavx512\w+", "/arch:AVX512"),
    (r"-fsigned-char|-funsigned-char", lambda found: "/J" if "unsigned" in found.group(0) else ""),
)
CL_TO_GNU: tuple[tuple[str, Spelling], ...] = (
    (r"/D(.+)", r"-D\1"),
    (r"/U(.+)", r"-U\1"),
    (r"/I(.+)", r"-I\1"),
    (r"/FI(.+)", r"-include\1"),
    (r"/std:c\+\+latest", "-std=c++23"),
    (r"/std:(c(?:\+\+)?\d+)", r"-std=\1"),
    (r"/W0|/w", "-w"),
    (r"/W[1-4]|/Wall", "-Wall"),
    (r"/WX", "-Werror"),
    (r"/WX-", "-Wno-error"),
    (r"/Od", "-O0"),
    (r"/O1|/Os", "-Os"),
    (r"/O2|/Ox|/Ot", "-O2"),
    (r"/Gy", "-ffunction-sections"),
    (r"/Gw", "-fdata-sections"),
    (r"/EHs?c?", "-fexceptions"),
    (r"/EHs-c-", "-fno-exceptions"),
    (r"/GR", "-frtti"),
    (r"/GR-", "-fno-rtti"),
    (r"/fp:fast", "-ffast-math"),
    (r"/fp:(?:precise|strict)", "-ffp-contract=off"),
    (r"/arch:AVX512", "-mavx512f"),
    (r"/arch:(AVX2?)", lambda found: f"-m{found.group(1).lower()}"),
    (r"/Z[7i]", "-g"),
    (r"/clang:(.+)", r"\1"),
    (r"/bigobj", "-Wa,-mbig-obj"),
)

# How a linker is driven: the format it writes, and whose options the driver takes.
LinkDialect = Literal["elf", "android", "pe-gnu", "macho", "cl"]


@dataclass(frozen=True)
class LinkDrop:
    """Link options that are left out for some targets on purpose, and why that is right."""

    pattern: str
    dialects: tuple[LinkDialect, ...]
    reason: str

    def covers(self, flag: str, dialect: LinkDialect) -> bool:
        return dialect in self.dialects and re.fullmatch(self.pattern, flag) is not None


_NOT_ELF: tuple[LinkDialect, ...] = ("pe-gnu", "macho", "cl")
LINK_DROPS: tuple[LinkDrop, ...] = (
    LinkDrop(r"-l(pthread|rt)|-pthread", ("android",), "part of bionic's libc"),
    LinkDrop(r"-l(rt|dl)|-rdynamic", ("pe-gnu",), "part of the Windows API"),
    LinkDrop(r"-l(rt|dl|m|pthread)|-pthread|-rdynamic", ("macho", "cl"), "part of libSystem and of the Windows API"),
    LinkDrop(
        r"-l(c\+\+(abi|_static|_shared)?|stdc\+\+|gcc|gcc_s|unwind)",
        ("elf", "android", *_NOT_ELF),
        "the runtime policy links the one C++ runtime",
    ),
    LinkDrop(r"-static(-libgcc|-libstdc\+\+)?|-stdlib=.+", ("elf", "android", *_NOT_ELF), "the runtime policy links the one C++ runtime"),
    LinkDrop(
        r"-Wl,(-z,.+|--(no-)?undefined|--gc-sections|-Bsymbolic.*|--as-needed|--no-as-needed|--version-script.+|-soname.+|-rpath.+)",
        _NOT_ELF,
        "ELF's",
    ),
    LinkDrop(r"-Wl,(--build-id.*|--hash-style=.+|--export-dynamic|-E|--exclude-libs.+|--icf=.+|-O\d)", _NOT_ELF, "ELF's"),
    LinkDrop(r"-Wl,-undefined,dynamic_lookup|-undefined", ("elf", "android", "pe-gnu", "cl", "macho"), "a host has nothing undefined"),
    LinkDrop(
        r"-framework|-weak_framework|-headerpad\w*|-Wl,-(dead_strip|exported_symbols_list.*|install_name.*)|-ObjC",
        ("elf", "android", "pe-gnu", "cl"),
        "Mach-O's",
    ),
    LinkDrop(
        r"[-/](DEBUG|OPT|SUBSYSTEM|ignore|INCREMENTAL|DEFAULTLIB|defaultlib|DELAYLOAD)(:.+)?",
        ("elf", "android", "pe-gnu", "macho"),
        "link.exe's",
    ),
)
