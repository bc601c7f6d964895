"""C++ runtimes and symbols of every binding, in libraries linked for the test by GNU ld and by lld."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.binaries.linkmap import LinkMap
from litert_build.binaries.reader import read_binary
from litert_build.checks.gate import check_host
from litert_build.policy.targets import TARGETS

from tests.e2e.gate_tools import NAME, POLICY, SOURCE, run, tool, verdict

LIBCXX_ARCHIVES = ("-nostdlib++", "-Wl,--push-state,-Bstatic", "-lc++", "-lc++abi", "-Wl,--pop-state")
COMMON = ("-fPIC", "-shared", "-O1", "-Wl,-soname,libLiteRtLm.so,-z,now,--version-script=exports.map,-Map,host.map")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exports.map").write_text(f"{{ global: {NAME}; local: *; }};")
    (tmp_path / "host.cc").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("linker", ["lld", "bfd"])
def test_static_libcxx_is_one_runtime(folder: Path, linker: str) -> None:
    run(folder, "clang++", "-stdlib=libc++", *_linker(linker), *COMMON, "host.cc", *LIBCXX_ARCHIVES, "-lm", "-o", "libLiteRtLm.so")
    found = verdict(folder / "libLiteRtLm.so", "linux-x64", link_map=folder / "host.map")
    assert found in ({}, {"needed-libraries": ["libgcc_s.so.1"]})
    assert list(read_binary(folder / "libLiteRtLm.so").evidence.families) == ["libc++"]


@pytest.mark.parametrize("linker", ["lld", "bfd"])
@pytest.mark.parametrize("stripped", [False, True])
def test_static_libcxx_beside_libstdcxx_names_both(folder: Path, linker: str, stripped: bool) -> None:
    (folder / "core.cc").write_text(SOURCE.replace(NAME, "core_create"))
    run(folder, "clang++", "-stdlib=libc++", "-fPIC", "-O1", "-c", "core.cc")
    run(folder, "g++", "-fPIC", "-O1", "-c", "host.cc")
    strip = ["-Wl,-s"] if stripped else []
    objects = ("-Wl,-u,core_create", "core.o", "host.o", *_search(), "-l:libc++.a", "-l:libc++abi.a", "-lstdc++", "-lm")
    run(folder, "clang++", "-stdlib=libstdc++", *_linker(linker), *COMMON, *strip, *objects, "-o", "libLiteRtLm.so")
    assert verdict(folder / "libLiteRtLm.so", "linux-x64")["cxx-runtime"] == ["libc++", "libstdc++"]
    text = check_host(folder / "libLiteRtLm.so", TARGETS["linux-x64"], POLICY, folder / "host.map").text
    assert "needs libstdc++.so.6" in text and "link map: " in text and "libc++.a" in text


def _linker(name: str) -> list[str]:
    return [f"--ld-path={tool('ld.lld')}"] if name == "lld" else ["-fuse-ld=bfd"]


def _search() -> list[str]:
    return [f"-L{path}" for path in ("/usr/lib/llvm-19/lib",) if Path(path).is_dir()]


@pytest.mark.parametrize("linker", ["lld", "bfd"])
def test_a_link_map_of_either_linker_names_object_and_archive(folder: Path, linker: str) -> None:
    (folder / "dump.c").write_text("int litert_lm_dump(void) { return 1; }")
    (folder / "use.c").write_text("int litert_lm_dump(void); int litert_lm_other(void) { return litert_lm_dump(); }")
    run(folder, "gcc", "-fPIC", "-c", "dump.c", "use.c")
    run(folder, "ar", "rcs", "libdump.a", "dump.o")
    (folder / "exports.map").write_text(f"{{ global: {NAME}; litert_lm_*; local: *; }};")
    run(
        folder,
        "clang++",
        *_linker(linker),
        *COMMON,
        "-static-libstdc++",
        "-static-libgcc",
        "host.cc",
        "use.o",
        "libdump.a",
        "-o",
        "libLiteRtLm.so",
    )
    found = LinkMap.read(folder / "host.map")
    assert found.sources("litert_lm_other") == ("use.o",)
    assert found.sources("litert_lm_dump")[0].startswith("libdump.a")
    assert "libdump.a" in found.archives and any(name.endswith("libstdc++.a") for name in found.archives)
    report = check_host(folder / "libLiteRtLm.so", TARGETS["linux-x64"], POLICY, folder / "host.map")
    (result,) = [result for result in report.results if result.open]
    assert [(finding.subject, finding.origin[0][:9]) for finding in result.open] == [
        ("litert_lm_dump", "libdump.a"),
        ("litert_lm_other", "use.o"),
    ]


BINDINGS = """
#include <string>
extern "C" {
int plain_function() { return 0; }
__attribute__((weak)) int weak_function() { return 1; }
int plain_object = 2;
thread_local int plain_tls = 3;
static int chosen() { return 4; }
int (*resolve())() { return chosen; }
int indirect_function() __attribute__((ifunc("resolve")));
int old_function() { return 5; }
int new_function() { return 6; }
__asm__(".symver old_function, versioned@V1");
__asm__(".symver new_function, versioned@@V2");
}
template <class T> struct Counter { static int count; };
template <class T> int Counter<T>::count = 7;
template struct Counter<std::string>;
"""


def test_symbols_of_every_kind_and_binding_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "kinds.cc").write_text(BINDINGS)
    (tmp_path / "exports.map").write_text("V1 { global: *; }; V2 { global: *; } V1;")
    run(tmp_path, "g++", "-fPIC", "-shared", "kinds.cc", "-Wl,--version-script=exports.map", "-o", "libkinds.so")
    found = {(symbol.name, symbol.version): (symbol.kind, symbol.binding) for symbol in read_binary(tmp_path / "libkinds.so").exports}
    by_name = {name: kinds for (name, _), kinds in found.items()}
    assert by_name["plain_function"] == ("func", "global")
    assert by_name["weak_function"] == ("func", "weak")
    assert by_name["plain_object"] == ("object", "global")
    assert by_name["plain_tls"] == ("tls", "global")
    assert by_name["indirect_function"] == ("ifunc", "global")
    assert [kinds for name, kinds in by_name.items() if name.startswith("_ZN7Counter")] == [("object", "unique")]
    assert ("versioned", "V1") in found and ("versioned", "@@V2") in found


def test_hidden_visibility_alone_leaves_unique_template_statics(folder: Path) -> None:
    (folder / "host.cc").write_text(SOURCE + UNIQUE)
    flags = [flag.replace(",--version-script=exports.map", "") for flag in COMMON]
    run(
        folder,
        "g++",
        *flags,
        "-fvisibility=hidden",
        "-static-libstdc++",
        "-static-libgcc",
        "-Wl,--exclude-libs,ALL",
        "host.cc",
        "-o",
        "libLiteRtLm.so",
    )
    found = verdict(folder / "libLiteRtLm.so", "linux-x64")
    assert set(found) == {"only-exports"} and found["only-exports"]
    bindings = {symbol.name: symbol.binding for symbol in read_binary(folder / "libLiteRtLm.so").exports}
    assert {bindings[name] for name in found["only-exports"]} <= {"unique", "weak"}


UNIQUE = """
template <class T> struct __attribute__((visibility("default"))) Counter { static int count; };
template <class T> int Counter<T>::count = 7;
int* counted() { return &Counter<std::string>::count; }
"""


def test_a_local_symbol_of_the_required_name_is_no_export(folder: Path) -> None:
    (folder / "exports.map").write_text("{ local: *; };")
    run(folder, "g++", *COMMON, "-static-libstdc++", "-static-libgcc", "host.cc", "-o", "libLiteRtLm.so")
    assert NAME.encode() in (folder / "libLiteRtLm.so").read_bytes()
    assert verdict(folder / "libLiteRtLm.so", "linux-x64") == {"required-exports": [NAME]}


def test_a_newer_glibc_symbol_is_named_with_its_object(folder: Path) -> None:
    run(folder, "g++", *COMMON, "-static-libstdc++", "-static-libgcc", "host.cc", "-o", "libLiteRtLm.so")
    ceiling = type(POLICY)(required=(NAME,), version="v0.19.1", glibc_ceiling="2.17")
    found = verdict(folder / "libLiteRtLm.so", "linux-x64", ceiling)
    assert set(found) == {"glibc-ceiling"} and all(version.startswith("GLIBC_2.") for version in found["glibc-ceiling"])
    assert "needed of libc.so.6 by " in check_host(folder / "libLiteRtLm.so", TARGETS["linux-x64"], ceiling).text


def test_a_cxx_import_from_another_library_is_named(folder: Path) -> None:
    (folder / "core.cc").write_text("#include <string>\nnamespace litert { int Run(const std::string& text) { return (int)text.size(); } }")
    run(folder, "g++", "-fPIC", "-shared", "core.cc", "-o", "libcore.so", "-Wl,-soname,libcore.so")
    (folder / "host.cc").write_text(SOURCE + 'namespace litert { int Run(const std::string&); }\nint use() { return litert::Run("x"); }\n')
    run(folder, "g++", *COMMON, "-static-libstdc++", "-static-libgcc", "host.cc", "-Wl,-u,_Z3usev", "./libcore.so", "-o", "libLiteRtLm.so")
    found = verdict(folder / "libLiteRtLm.so", "linux-x64")
    assert found["needed-libraries"] == ["libcore.so"]
    assert [name[:14] for name in found["cxx-imports"]] == ["_ZN6litert3Run"]


def test_a_dropped_registration_is_named_by_its_label(folder: Path) -> None:
    (folder / "register.cc").write_text("struct R { R(); }; static R r; R::R() {}")
    run(folder, "g++", "-fPIC", "-c", "register.cc")
    run(folder, "ar", "rcs", "libregister.a", "register.o")
    policy = type(POLICY)(required=(NAME,), version="v0.19.1", registrations={"register.o": "//gpu:webgpu_registration"})
    base = (*COMMON, "-static-libstdc++", "-static-libgcc", "host.cc", "-o", "libLiteRtLm.so")
    run(folder, "g++", *base, "libregister.a")
    assert verdict(folder / "libLiteRtLm.so", "linux-x64", policy, folder / "host.map") == {"registrations": ["//gpu:webgpu_registration"]}
    run(folder, "g++", *base, "register.o")
    assert verdict(folder / "libLiteRtLm.so", "linux-x64", policy, folder / "host.map") == {}


@pytest.mark.parametrize("runtime", ["libc++", "libstdc++"])
def test_a_core_on_another_runtime_is_refused_with_both_named(folder: Path, runtime: str) -> None:
    """The bug behind the project: host and core share C++ members of a struct, but not the standard library that lays them out."""
    (folder / "core.cc").write_text(SOURCE.replace(NAME, "LiteRtCreateOptions"))
    static = LIBCXX_ARCHIVES if runtime == "libc++" else ("-static-libstdc++",)
    (folder / "core.map").write_text("{ global: LiteRt*; local: *; };")
    flags = (f"-stdlib={runtime}", "-fPIC", "-shared", "-O1", "-Wl,-soname,libLiteRt.so,--version-script=core.map")
    run(folder, "clang++", *flags, "core.cc", *static, "-o", "libLiteRt.so")
    (folder / "host.cc").write_text(
        SOURCE + 'extern "C" int LiteRtCreateOptions(const char*);\nextern "C" int use() { return LiteRtCreateOptions("x"); }'
    )
    base = (*COMMON, "-static-libstdc++", "-static-libgcc", "host.cc", "-Wl,-u,use,-rpath,$ORIGIN", "libLiteRt.so")
    (folder / "out").mkdir()
    run(folder, "g++", *base, "-o", "out/libLiteRtLm.so")
    policy = type(POLICY)("dynamic", required=(NAME,), version="v0.18.0", bundled=("libLiteRt.so",))
    found = verdict(folder / "out" / "libLiteRtLm.so", "linux-x64", policy, folder / "host.map")
    assert found == ({"runtime-boundary": ["libLiteRt.so"]} if runtime == "libc++" else {})
    text = check_host(folder / "out" / "libLiteRtLm.so", TARGETS["linux-x64"], policy, folder / "host.map").text
    assert runtime == "libstdc++" or ("libLiteRt.so is built on libc++ (" in text and "libLiteRtLm.so on libstdc++ (" in text)
    assert verdict(folder / "out" / "libLiteRtLm.so", "linux-x64")["runtime-imports"] == ["libLiteRt.so"]


def test_an_operator_that_a_core_leaks_is_no_runtime_of_the_host(folder: Path) -> None:
    (folder / "core.cc").write_text(SOURCE.replace(NAME, "LiteRtCreateOptions"))
    run(folder, "g++", "-fPIC", "-shared", "core.cc", "-static-libstdc++", "-o", "libLiteRt.so", "-Wl,-soname,libLiteRt.so")
    run(folder, "g++", *COMMON, "libLiteRt.so", "-static-libstdc++", "-static-libgcc", "host.cc", "libLiteRt.so", "-o", "libLiteRtLm.so")
    found = verdict(folder / "libLiteRtLm.so", "linux-x64")
    assert "_ZdlPv" in str(found["cxx-imports"])
    assert "imported from libLiteRt.so" in check_host(folder / "libLiteRtLm.so", TARGETS["linux-x64"], POLICY).text
