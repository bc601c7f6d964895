"""The gate on real Mach-O files, linked by lld without an SDK: load commands, tries, fat files, re-exports, minimum versions."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.binaries.reader import read_binary
from litert_build.checks.gate import check_bundle, check_host
from litert_build.checks.model import GatePolicy
from litert_build.policy.targets import TARGETS

from tests.e2e.gate_tools import NAME, POLICY, run, verdict

TBD = """--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos, arm64-ios, arm64-ios-simulator ]
install-name: '{name}'
exports:
  - targets: [ arm64-macos, x86_64-macos, arm64-ios, arm64-ios-simulator ]
    symbols: [ {symbols} ]
...
"""
SOURCE = f"int {NAME}(void) {{ return 1; }}\n"
PLATFORMS = {
    "macos-arm64": ("arm64-apple-macos14", "arm64", "macos", "14.0"),
    "macos-x64": ("x86_64-apple-macos14", "x86_64", "macos", "14.0"),
    "ios-arm64": ("arm64-apple-ios15", "arm64", "ios", "15.0"),
    "ios-arm64-sim": ("arm64-apple-ios15-simulator", "arm64", "ios-simulator", "15.0"),
}


def stub(folder: Path, install_name: str, *symbols: str) -> str:
    """Write the text stub of a dynamic library, as SDKs hold them."""
    path = folder / (install_name.rsplit("/", 1)[1] + ".tbd")
    path.write_text(TBD.format(name=install_name, symbols=", ".join(symbols or ("_unused",))))
    return str(path)


def link(folder: Path, target: str, *flags: str, source: str = SOURCE, minimum: str = "", out: str = "libLiteRtLm.dylib") -> Path:
    triple, arch, own, version = PLATFORMS[target]
    (folder / "host.c").write_text(source)
    run(folder, "clang", f"--target={triple}", "-O1", "-c", "host.c", "-o", "host.o")
    system = [stub(folder, "/usr/lib/libSystem.B.dylib", "dyld_stub_binder"), stub(folder, "/usr/lib/libc++.1.dylib", "__Znwm")]
    build = ("-dylib", "-arch", arch, "-platform_version", own, minimum or version, minimum or version, "-install_name", f"@rpath/{out}")
    run(folder, "ld64.lld", *build, "-o", out, "host.o", *system, *flags)
    return folder / out


@pytest.mark.parametrize("target", list(PLATFORMS))
def test_a_sound_library_passes(tmp_path: Path, target: str) -> None:
    report = check_host(link(tmp_path, target), TARGETS[target], POLICY)
    assert report.passed, report.text
    assert report.text.startswith(f"Validated in-process LiteRT linkage on {target}")


def test_an_import_of_libLiteRt_is_named(tmp_path: Path) -> None:
    core = stub(tmp_path, "@rpath/libLiteRt.dylib", "_LiteRtCreate")
    source = "int LiteRtCreate(void);\n" + SOURCE.replace("return 1", "return LiteRtCreate()")
    file = link(tmp_path, "macos-arm64", core, source=source)
    assert verdict(file, "macos-arm64")["runtime-imports"] == ["@rpath/libLiteRt.dylib"]
    (symbol,) = [symbol for symbol in read_binary(file).imports if symbol.name == "_LiteRtCreate"]
    assert symbol.library == "@rpath/libLiteRt.dylib"


@pytest.mark.parametrize("flag", ["-weak_library", "-reexport_library", "-needed_library"])
def test_every_kind_of_load_command_counts(tmp_path: Path, flag: str) -> None:
    file = link(tmp_path, "macos-arm64", flag, stub(tmp_path, "@rpath/libLiteRt.dylib", "_LiteRtCreate"))
    found = verdict(file, "macos-arm64")
    assert found["runtime-imports"] == ["@rpath/libLiteRt.dylib"]
    assert ("own-exports" in found) is (flag == "-reexport_library")


def test_a_bare_name_is_no_system_library(tmp_path: Path) -> None:
    file = link(tmp_path, "macos-arm64", "-needed_library", stub(tmp_path, "x/libfoo.dylib"))
    assert verdict(file, "macos-arm64")["needed-libraries"] == ["x/libfoo.dylib"]


def test_an_extra_export_and_an_export_list(tmp_path: Path) -> None:
    source = SOURCE + "int litert_lm_dump(void) { return 2; }\n"
    assert verdict(link(tmp_path, "macos-arm64", source=source), "macos-arm64") == {"only-exports": ["litert_lm_dump"]}
    assert verdict(link(tmp_path, "macos-arm64", "-exported_symbol", f"_{NAME}", source=source), "macos-arm64") == {}


def test_a_name_in_the_symbol_table_but_not_in_the_trie_is_no_export(tmp_path: Path) -> None:
    file = link(tmp_path, "macos-arm64", "-unexported_symbol", f"_{NAME}")
    assert NAME.encode() in file.read_bytes()
    assert verdict(file, "macos-arm64")["required-exports"] == [NAME]


def test_an_alias_of_another_librarys_function_is_no_export_of_its_own(tmp_path: Path) -> None:
    core = stub(tmp_path, "@rpath/libcore.dylib", f"_{NAME}")
    source = "int unused_here(void) { return 3; }\n"
    file = link(tmp_path, "macos-arm64", "-reexport_library", core, source=source)
    found = verdict(file, "macos-arm64", GatePolicy(required=(NAME,), allowed=("unused_here",), bundled=("libcore.dylib",)))
    assert found == {"required-exports": [NAME], "own-exports": ["libcore.dylib"]}


@pytest.mark.parametrize(
    ("target", "minimum", "built_for", "text"),
    [
        ("ios-arm64", "26.2", "", "26.2: minimum OS 26.2, the limit for ios-arm64 is 16.4"),
        ("ios-arm64", "13.0", "macos-arm64", "macos: built for macos, not ios"),
        ("ios-arm64", "15.0", "ios-arm64-sim", "ios-simulator: built for ios-simulator, not ios"),
        ("macos-arm64", "15.2", "", "15.2: minimum OS 15.2, the limit for macos-arm64 is 14.0"),
    ],
)
def test_a_wrong_platform_or_minimum_is_named_with_its_limit(tmp_path: Path, target: str, minimum: str, built_for: str, text: str) -> None:
    file = link(tmp_path, built_for or target, minimum=minimum)
    assert text in check_host(file, TARGETS[target], POLICY).text


def test_the_constraint_provider_is_named_on_ios(tmp_path: Path) -> None:
    provider = stub(tmp_path, "@rpath/libGemmaModelConstraintProvider.dylib", "_LiteRtLmGemmaModelConstraintProvider_Create")
    source = "int LiteRtLmGemmaModelConstraintProvider_Create(void);\n" + SOURCE.replace(
        "return 1", "return LiteRtLmGemmaModelConstraintProvider_Create()"
    )
    found = verdict(link(tmp_path, "ios-arm64", provider, source=source), "ios-arm64")
    assert found["constraint-provider"] == [
        "@rpath/libGemmaModelConstraintProvider.dylib",
        "_LiteRtLmGemmaModelConstraintProvider_Create",
    ]


def test_a_fat_file_is_read_by_the_slice_of_the_target_and_refused_as_a_host(tmp_path: Path) -> None:
    arm = link(tmp_path, "macos-arm64", out="arm.dylib")
    link(tmp_path, "macos-x64", out="x64.dylib", source=SOURCE + "int only_x64(void) { return 4; }\n")
    run(tmp_path, "llvm-lipo", "-create", "arm.dylib", "x64.dylib", "-output", "fat.dylib")
    assert read_binary(tmp_path / "fat.dylib", "x64").exported_names == {NAME, "only_x64"}
    assert read_binary(tmp_path / "fat.dylib", "arm64").exports == read_binary(arm).exports
    (tmp_path / "fat.dylib").rename(tmp_path / "libLiteRtLm.dylib")
    assert verdict(tmp_path / "libLiteRtLm.dylib", "macos-arm64")["architecture"] == ["x64, arm64"]
    assert "Mach-O arm64" in str(verdict(arm, "macos-x64")["architecture"])


def test_a_search_path_outside_the_bundle_is_named(tmp_path: Path) -> None:
    assert verdict(link(tmp_path, "macos-arm64", "-rpath", "/opt/lib", "-rpath", "@loader_path"), "macos-arm64") == {
        "runpath": ["/opt/lib"]
    }


@pytest.mark.parametrize("flag", ["-fixup_chains", "-no_fixup_chains"])
def test_imports_are_the_same_by_either_kind_of_fixups(tmp_path: Path, flag: str) -> None:
    core = stub(tmp_path, "@rpath/libcore.dylib", "_weak_one", "_strong_one")
    source = "__attribute__((weak_import)) int weak_one(void); int strong_one(void);\n" + SOURCE.replace(
        "return 1", "return weak_one ? weak_one() : strong_one()"
    )
    facts = read_binary(link(tmp_path, "macos-arm64", core, flag, source=source))
    found = {symbol.name: (symbol.binding, symbol.library) for symbol in facts.imports if symbol.name.endswith("_one")}
    assert found == {"_weak_one": ("weak", "@rpath/libcore.dylib"), "_strong_one": ("global", "@rpath/libcore.dylib")}


def test_a_map_of_ld64_names_the_object(tmp_path: Path) -> None:
    file = link(tmp_path, "macos-arm64", "-map", "host.map", source=SOURCE + "int litert_lm_dump(void) { return 2; }\n")
    report = check_host(file, TARGETS["macos-arm64"], POLICY, tmp_path / "host.map")
    (result,) = [result for result in report.results if result.open]
    assert [(finding.subject, finding.origin) for finding in result.open] == [("litert_lm_dump", ("host.o",))]


@pytest.mark.parametrize(("built", "wanted"), [("macos-x64", "ios-arm64"), ("ios-arm64-sim", "ios-arm64"), ("ios-arm64", "ios-arm64-sim")])
def test_a_framework_slice_of_another_platform_or_architecture_is_refused(tmp_path: Path, built: str, wanted: str) -> None:
    framework = tmp_path / "LiteRtLm.framework"
    framework.mkdir()
    link(tmp_path, built, out="LiteRtLm").rename(framework / "LiteRtLm")
    right, wrong = (check_bundle(framework, TARGETS[target], POLICY) for target in (built, wanted))
    assert [report.passed for report in right] == [True]
    assert [report.passed for report in wrong] == [False]
    assert "built for" in wrong[0].text or "asks for Mach-O arm64 shared library" in wrong[0].text


def test_a_plugin_framework_may_use_what_the_host_framework_exports(tmp_path: Path) -> None:
    for name, flags, source in (
        ("LiteRtLm", [], SOURCE + "int LiteRtCreate(void) { return 1; }\n"),
        (
            "LiteRtMetalAccelerator",
            ["-undefined", "dynamic_lookup"],
            "int LiteRtCreate(void); int LiteRtAcceleratorImpl(void) { return LiteRtCreate(); }\n",
        ),
    ):
        (tmp_path / "bundle" / f"{name}.framework").mkdir(parents=True)
        link(tmp_path, "ios-arm64", *flags, source=source, out=name).rename(tmp_path / "bundle" / f"{name}.framework" / name)
    policy = GatePolicy(required=(NAME,), allowed=("LiteRtCreate",), version="v0.19.1")
    assert [(report.name, report.passed) for report in check_bundle(tmp_path / "bundle", TARGETS["ios-arm64"], policy)] == [
        ("LiteRtLm.framework/LiteRtLm", True),
        ("LiteRtMetalAccelerator.framework/LiteRtMetalAccelerator", True),
    ]
    (tmp_path / "bundle" / "LiteRtLm.framework" / "LiteRtLm").unlink()
    (report,) = check_bundle(tmp_path / "bundle", TARGETS["ios-arm64"], policy)
    assert "_LiteRtCreate: undefined in no needed library" in report.text
