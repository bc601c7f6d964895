"""Every rule: a sound library passes it, its own example breaks it, and docs/gate.md says what it says."""

from __future__ import annotations

import dataclasses
from datetime import date
from pathlib import Path

import pytest
from litert_build.binaries.facts import Evidence, Symbol
from litert_build.binaries.linkmap import LinkMap
from litert_build.checks.gate import check_context, release_policy, role_of
from litert_build.checks.model import Context, Waiver
from litert_build.checks.reference import reference
from litert_build.checks.registry import RULES, rule
from litert_build.checks.samples import example_context, sound
from litert_build.policy.exports import expected_signatures, required_exports
from litert_build.policy.targets import TARGETS, find_target

ROOT = Path(__file__).parents[2]


def with_facts(context: Context, **changes: object) -> Context:
    return dataclasses.replace(context, facts=dataclasses.replace(context.facts, **changes))  # type: ignore[arg-type]


def with_policy(context: Context, **changes: object) -> Context:
    return dataclasses.replace(context, policy=dataclasses.replace(context.policy, **changes))  # type: ignore[arg-type]


def broken(context: Context) -> dict[str, list[str]]:
    return {result.rule.id: [finding.subject for finding in result.open] for result in check_context(context).results if result.open}


def finding_of(context: Context, rule_id: str) -> str:
    (result,) = [result for result in check_context(context).results if result.rule.id == rule_id]
    return "\n".join(f"{finding.subject}: {finding.evidence}" for finding in result.open)


@pytest.mark.parametrize("target", ["linux-x64", "linux-arm64", "android-arm64", "windows-x64", "macos-arm64", "ios-arm64"])
def test_a_sound_library_passes_every_rule_of_its_platform(target: str) -> None:
    report = check_context(sound(target))
    assert report.passed, report.text
    assert report.text.splitlines()[0] == f"Validated in-process LiteRT linkage on {target}"


@pytest.mark.parametrize("name", list(RULES))
def test_the_example_of_a_rule_breaks_that_rule_and_nothing_breaks_without_it(name: str) -> None:
    assert broken(example_context(RULES[name], broken=False)) == {}
    assert name in broken(example_context(RULES[name]))


def test_the_reference_is_up_to_date() -> None:
    written = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    assert written == reference(), "run: PYTHONPATH=site_scons python -m litert_build.checks.reference docs/gate.md"


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two rules are called soname"):
        rule("soname")(lambda context: None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("needed", "runtime"),
    [
        ("libLiteRt.so", True),
        ("libLiteRtWebGpuAccelerator.so", True),
        ("libLiteRtTopKOpenClSampler.so", True),
        ("libLiteRtLm.so", False),
        ("liblitert_other.so", False),
    ],
)
def test_which_needed_libraries_are_the_runtime(needed: str, runtime: bool) -> None:
    context = with_facts(sound("linux-x64"), needed=(needed, "libc.so.6"))
    assert ("runtime-imports" in broken(context)) is runtime


def test_an_import_in_dynamic_mode_is_right_where_the_bundle_has_the_library() -> None:
    context = with_facts(with_policy(sound("linux-x64"), link_mode="dynamic", bundled=("libLiteRt.so",)), needed=("libLiteRt.so",))
    report = check_context(context)
    assert report.passed and report.text.startswith("Validated LiteRT linkage (dynamic mode) on linux-x64")


def test_the_delay_import_that_leaves_no_directory_is_found_by_its_name() -> None:
    evidence = Evidence({"libc++": ("@__1@std@@ in 97 names",)}, {}, ("KERNEL32.dll", "libLiteRt.dll"))
    context = with_facts(with_policy(sound("windows-x64"), version="v0.18.0"), evidence=evidence)
    assert "as a delay import made by GNU dlltool leaves it" in finding_of(context, "runtime-imports")


@pytest.mark.parametrize(("version", "caught"), [("v0.18.1", False), ("v0.19.0", True), ("v0.19.1", True), ("sample", True), ("", True)])
def test_the_name_to_dlopen_counts_from_0_19(version: str, caught: bool) -> None:
    evidence = Evidence({"libc++": ("St3__1 in 4 names",)}, {}, ("libLiteRt.so",))
    assert ("runtime-strings" in broken(with_facts(with_policy(sound("linux-x64"), version=version), evidence=evidence))) is caught


@pytest.mark.parametrize(
    ("families", "providers", "verdict"),
    [
        ({"libc++": ("St3__1",)}, {}, ""),
        ({"libc++": ("needs libc++_shared.so",)}, {}, ""),
        ({"libc++": ("St3__1", "needs libc++.so.1")}, {"libc++": "abi"}, "libc++: needs libc++.so.1, and inside: abi"),
        ({"libstdc++": ("needs libstdc++.so.6",)}, {"libstdc++": "terminate"}, "libstdc++: needs libstdc++.so.6, and inside: terminate"),
        ({"libc++": ("a",), "msvc": ("b",)}, {}, "libc++: a\nmsvc: b"),
        ({}, {}, "none: no trace of libstdc++, libc++ or the MSVC STL in names, texts or needed libraries"),
    ],
)
def test_one_runtime_and_once(families: dict[str, tuple[str, ...]], providers: dict[str, str], verdict: str) -> None:
    assert finding_of(with_facts(sound("linux-x64"), evidence=Evidence(families, providers)), "cxx-runtime") == verdict


def test_the_link_map_is_evidence_of_a_runtime_where_the_file_shows_none() -> None:
    silent = with_facts(sound("linux-x64"), evidence=Evidence())
    static = LinkMap(("host.o", "/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++.a(functexcept.o)"))
    assert "cxx-runtime" not in broken(dataclasses.replace(silent, link_map=static))
    both = LinkMap((*static.inputs, "/usr/lib/llvm-19/lib/libc++.a(string.cpp.o)"))
    text = finding_of(dataclasses.replace(silent, link_map=both), "cxx-runtime")
    assert "libstdc++: link map: /usr/lib/gcc" in text and "libc++: link map: /usr/lib/llvm-19/lib/libc++.a" in text


def test_a_companion_without_cxx_passes_where_a_host_fails_closed() -> None:
    context = with_facts(sound("linux-x64"), evidence=Evidence())
    assert "cxx-runtime" in broken(context)
    assert "cxx-runtime" not in broken(with_policy(context, role="companion"))


@pytest.mark.parametrize("path", ["", "/usr/lib", "$ORIGIN/../lib", "lib", "$ORIGINAL"])
def test_a_search_path_outside_the_folder_is_named(path: str) -> None:
    assert broken(with_facts(sound("linux-x64"), runpath=(path,)))["runpath"] == [path or "(empty)"]


def test_the_swift_runtime_of_the_system_is_no_foreign_search_path() -> None:
    assert broken(with_facts(sound("macos-arm64"), runpath=("/usr/lib/swift", "@loader_path"))) == {}


def test_a_bundled_library_needs_a_runpath_that_leads_to_it() -> None:
    context = with_facts(
        with_policy(sound("linux-x64"), link_mode="dynamic", bundled=("libLiteRt.so",)), needed=("libLiteRt.so",), runpath=()
    )
    assert finding_of(context, "runpath") == "$ORIGIN: libLiteRt.so stands in the bundle, but no RUNPATH leads there"


def test_many_extra_exports_are_counted_by_namespace() -> None:
    extra = tuple(Symbol(f"_ZN4absl{index}xE", "func") for index in range(30)) + tuple(Symbol(f"_ZNSt3__1{i}", "func") for i in range(3))
    context = with_facts(sound("linux-x64"), exports=(*sound("linux-x64").facts.exports, *extra))
    assert finding_of(context, "only-exports").splitlines()[-1] == "21 more: 33 in all, by namespace: absl 30, std 3"


def test_what_is_allowed_by_a_trailing_star_is_no_extra_export() -> None:
    facts = sound("linux-x64").facts
    context = with_facts(sound("linux-x64"), exports=(*facts.exports, Symbol("stream_proxy_create")))
    assert broken(context) == {"only-exports": ["stream_proxy_create"]}
    assert broken(with_policy(context, allowed=("stream_proxy_*",))) == {}


def test_apple_spells_c_names_with_an_underscore() -> None:
    context = with_facts(sound("macos-arm64"), exports=(Symbol("litert_lm_engine_create"),))
    assert broken(context) == {}
    assert broken(with_facts(context, exports=(Symbol("__ZN4absl1xE"), Symbol("_litert_lm_engine_create"))))["only-exports"] == [
        "_ZN4absl1xE"
    ]


def test_blame_names_the_object_and_the_labels_that_lead_to_it() -> None:
    source = "bazel-out/k8-opt/bin/c/_objs/debug/dump.pic.o"
    context = with_policy(
        with_facts(sound("linux-x64"), exports=(*sound("linux-x64").facts.exports, Symbol("litert_lm_dump"))),
        dependency_path=lambda name: ["//c:engine", "//c:debug"] if name == source else [],
    )
    text = check_context(dataclasses.replace(context, link_map=LinkMap((source,), {"litert_lm_dump": (source,)}))).text
    assert f"from {source}" in text and "from label: //c:engine -> //c:debug" in text


def test_a_needed_library_is_blamed_on_the_input_of_that_name() -> None:
    context = with_facts(sound("linux-x64"), needed=("libLiteRt.so",))
    linked = dataclasses.replace(context, link_map=LinkMap(("external/litert/prebuilt/libLiteRt.so",)))
    assert "from external/litert/prebuilt/libLiteRt.so" in check_context(linked).text


def test_required_registrations_need_a_link_map() -> None:
    context = with_policy(sound("linux-x64"), registrations={"gpu/registration.pic.o": "//gpu:webgpu"})
    assert finding_of(context, "registrations") == "link map: no link map shows what was linked"
    assert broken(dataclasses.replace(context, link_map=LinkMap(("gpu/registration.pic.o",)))) == {}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"minimum_os": "26.2"}, "26.2: minimum OS 26.2, the limit for ios-arm64 is 16.4"),
        ({"platform": "macos"}, "macos: built for macos, not ios"),
        ({"minimum_os": ""}, "none: the minimum OS is missing or ambiguous"),
        ({"minimum_os": "13.0 and 15.0"}, "13.0 and 15.0: the minimum OS is missing or ambiguous"),
    ],
)
def test_minimum_os_of_an_ios_library(changes: dict[str, str], text: str) -> None:
    assert finding_of(with_facts(sound("ios-arm64"), **changes), "minimum-os") == text


def test_the_simulator_is_another_platform() -> None:
    device = dataclasses.replace(sound("ios-arm64"), target=find_target("ios-arm64-sim"))
    assert finding_of(device, "minimum-os") == "ios: built for ios, not ios-simulator"


@pytest.mark.parametrize("place", ["needed", "file"])
def test_the_constraint_provider_is_found_in_each_place(place: str) -> None:
    name = "@rpath/libGemmaModelConstraintProvider.dylib"
    context = sound("ios-arm64")
    if place == "needed":
        context = with_facts(context, needed=(*context.facts.needed, name))
    else:
        context = dataclasses.replace(context, neighbours={"GemmaModelConstraintProvider": context.facts})
    assert "constraint-provider" in broken(context)
    assert "constraint-provider" not in broken(with_policy(context, version="v0.16.1"))


@pytest.mark.parametrize("order", [[], ["CreateGpuEnvironmentOptions"], ["LoadOpenCL", "CreateGpuEnvironmentOptions"]])
def test_a_missing_call_is_as_bad_as_a_wrong_order(order: list[str]) -> None:
    assert "gpu-teardown-order" in broken(dataclasses.replace(sound("android-arm64"), call_order=lambda _: order))


def test_a_fat_host_and_a_foreign_architecture_are_refused() -> None:
    assert "a fat file" in finding_of(with_facts(sound("macos-arm64"), slices=("arm64", "x64")), "architecture")
    assert broken(with_facts(sound("macos-arm64"), arch="x64"))["architecture"] == ["Mach-O x64 shared library"]


@pytest.mark.parametrize(
    ("symbol", "crosses"),
    [
        ("_ZN6litert11EnvironmentC1Ev", True),
        ("?Run@Engine@litert@@QEAAXXZ", True),
        ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1Ev", False),
        ("_ZTVN10__cxxabiv120__si_class_type_infoE", False),
        ("_ZThn16_NSt14basic_iostreamIwSt11char_traitsIwEED0Ev", False),
        ("_Znwm", False),
        ("_ZTIPKc", False),
        ("??2@YAPEAX_K@Z", False),
        ("?_Xlength_error@std@@YAXPEBD@Z", False),
        ("malloc", False),
    ],
)
def test_which_imports_cross_the_library_boundary_as_cxx(symbol: str, crosses: bool) -> None:
    runtime = with_facts(sound("linux-x64"), imports=(Symbol(symbol),), needed=("libstdc++.so.6",))
    assert ("cxx-imports" in broken(runtime)) is crosses
    assert ("cxx-imports" in broken(with_facts(sound("linux-x64"), imports=(Symbol(symbol),)))) is (symbol != "malloc")


def test_a_recorded_library_says_whether_a_runtime_symbol_crosses() -> None:
    for library, crosses in (("libstdc++.so.6", False), ("libLiteRt.so", True)):
        context = with_facts(sound("linux-x64"), imports=(Symbol("_ZdlPv", "func", "global", "V1", library),))
        assert ("cxx-imports" in broken(context)) is crosses


def test_a_weak_cxx_import_may_stay_undefined() -> None:
    assert broken(with_facts(sound("linux-x64"), imports=(Symbol("_ZN6litert4hookEv", "func", "weak"),))) == {}


def waived(until: date) -> Context:
    waiver = Waiver("bind-now", "upstream links lazily, issue 12", until, target="linux-*")
    return with_policy(with_facts(sound("linux-x64"), bind_now=False), waivers=(waiver,))


def test_a_waiver_is_printed_and_lets_pass_until_its_last_day() -> None:
    report = check_context(waived(date(2026, 12, 1)))
    assert report.passed
    assert "waived  bind-now" in report.text and "waived until 2026-12-01: upstream links lazily, issue 12" in report.text
    assert '"until": "2026-12-01"' in report.to_json()


def test_a_waiver_that_ended_no_longer_counts() -> None:
    report = check_context(waived(date(2026, 11, 30)))
    assert not report.passed
    assert "a waiver for this ended on 2026-11-30: upstream links lazily, issue 12" in report.text


def test_a_waiver_covers_only_its_rule_and_subject() -> None:
    waiver = Waiver("only-exports", "kept for one release", date(2027, 1, 1), subject="litert_*")
    context = with_policy(
        with_facts(sound("linux-x64"), exports=(Symbol("litert_x"), Symbol("absl_x"), Symbol("litert_lm_engine_create"))), waivers=(waiver,)
    )
    assert broken(context) == {"only-exports": ["absl_x"]}


def test_the_glibc_ceiling_orders_versions_as_numbers() -> None:
    needs = {"libc.so.6": ("GLIBC_2.2.5", "GLIBC_2.9", "GLIBC_2.28", "GLIBC_2.30", "GLIBC_PRIVATE")}
    context = with_facts(with_policy(sound("linux-x64"), glibc_ceiling="2.28"), version_needs=needs)
    assert broken(context) == {"glibc-ceiling": ["GLIBC_2.30"]}
    assert broken(with_policy(context, glibc_ceiling="")) == {}


def test_each_release_asks_for_the_functions_of_those_before_it() -> None:
    counts = [len(required_exports(version)) for version in ("v0.13.1", "v0.14.0", "v0.15.0", "v0.16.0", "v0.19.1", "sample")]
    assert counts == [8, 28, 32, 49, 49, 49]
    assert expected_signatures("v0.17.1") == {}
    assert expected_signatures("v0.18.1")["litert_lm_engine_create"] == "ptr(ptr)"
    assert expected_signatures("v0.19.0")["litert_lm_engine_create"] == "i32(ptr, ptr)"
    assert expected_signatures("v0.19.0")["litert_lm_input_data_delete"] == "void(ptr)"


def test_roles_by_name() -> None:
    linux, ios = TARGETS["linux-x64"], TARGETS["ios-arm64"]
    assert [role_of(name, linux) for name in ("libLiteRtLm.so", "libLiteRt.so", "libwebgpu_dawn.so", "liblitert-lm.so")] == [
        "host", "companion", "companion", "host",
    ]  # fmt: skip
    assert [role_of(name, ios) for name in ("LiteRtLm", "LiteRtMetalAccelerator")] == ["host", "companion"]


def test_the_report_is_the_same_bytes_twice_and_holds_no_path() -> None:
    context = with_facts(sound("linux-x64"), file=Path("/somewhere/libLiteRtLm.so"))
    assert check_context(context).to_json() == check_context(context).to_json()
    assert "/somewhere" not in check_context(context).to_json()


def test_no_applicable_rule_is_no_pass() -> None:
    report = dataclasses.replace(check_context(sound("linux-x64")), results=())
    assert not report.passed


def test_a_release_policy_takes_its_ceiling_from_the_target() -> None:
    assert release_policy("v0.19.1", TARGETS["linux-x64"]).glibc_ceiling == "2.28"


def test_windows_compares_library_names_without_case() -> None:
    context = with_policy(sound("windows-x64"), link_mode="dynamic", bundled=("LIBLITERT.DLL",))
    context = with_facts(
        context, needed=("libLiteRt.dll", "kernel32.DLL"), imports=(Symbol("LiteRtCreate", "func", library="libLiteRt.dll"),)
    )
    core = dataclasses.replace(context.facts, needed=(), exports=(Symbol("LiteRtCreate", "func"),), imports=())
    assert broken(dataclasses.replace(context, neighbours={"LibLiteRt.DLL": core})) == {}
    other = dataclasses.replace(core, exports=())
    assert broken(dataclasses.replace(context, neighbours={"LibLiteRt.DLL": other})) == {"symbol-closure": ["LiteRtCreate"]}


def test_a_rejected_host_is_still_called_by_its_own_name() -> None:
    assert broken(with_facts(sound("linux-x64"), file=Path("libLiteRtLm.so.rejected"))) == {}


@pytest.mark.parametrize(("version", "found"), [("", True), ("@@LM_1", True), ("LM_1", False)])
def test_a_required_function_is_found_by_name_in_its_default_version_alone(version: str, found: bool) -> None:
    context = with_facts(sound("linux-x64"), exports=(Symbol("litert_lm_engine_create", "func", version=version),))
    text = "" if found else "litert_lm_engine_create: exported in version LM_1 alone, which is not its default"
    assert finding_of(context, "required-exports") == text
