"""The platform table, its names and the page made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.policy import targets
from litert_build.policy.refs import apply_policy
from litert_build.policy.targets import TARGETS, find_target
from litert_build.reports.targets import targets_markdown, targets_text
from litert_build.sources.lock import Lock, Product
from litert_build.toolchains import TOOLCHAINS, runners
from litert_build.toolchains.flags import check
from litert_build.toolchains.runners import require_cpu, run_argv

ROOT = Path(__file__).parents[2]
WRAPPER = {
    "linux-x64", "linux-arm64", "windows-x64", "macos-arm64", "macos-x64", "ios-arm64", "ios-arm64-sim", "android-arm64", "android-x64",
}  # fmt: skip


def test_the_table_has_the_wrappers_nine_targets_and_windows_on_arm() -> None:
    assert set(TARGETS) == WRAPPER | {"windows-arm64"}
    assert TARGETS["windows-arm64"].note == "no companions upstream"


def test_no_name_means_two_targets() -> None:
    names = [name for row in TARGETS.values() for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", TARGETS.values(), ids=lambda row: row.name)
def test_a_row_is_consistent(row: targets.Target) -> None:
    assert set(row.toolchains) <= set(TOOLCHAINS)
    assert row.release_toolchain in row.toolchains
    assert row.constraints[0] == f"@platforms//os:{row.os}"
    assert row.library.endswith({"elf": ".so", "pe": ".dll", "macho": ".dylib"}[row.format])
    check((*row.flags.copts, *row.flags.cxxopts, *row.flags.conlyopts))


def test_only_android_asks_for_pages_of_16_kib() -> None:
    assert {row.os for row in TARGETS.values() if row.page_size == 16384} == {"android"}


@pytest.mark.parametrize(("alias", "name"), [("linux_x86_64", "linux-x64"), ("arm64-v8a", "android-arm64"), ("darwin-x64", "macos-x64")])
def test_an_alias_finds_its_row(alias: str, name: str) -> None:
    assert find_target(alias).name == name


def test_an_unknown_target_names_the_nearest() -> None:
    with pytest.raises(BuildError) as caught:
        find_target("linux-x46")
    assert str(caught.value) == "target=: unknown target 'linux-x46'\n  -> did you mean linux-x64?"


@pytest.mark.parametrize(
    ("machine", "target", "toolchain"),
    [
        (("linux", "x64"), "linux-x64", "gcc"),
        (("linux", "x64"), "linux-arm64", "zig"),
        (("linux", "x64"), "windows-x64", "zig"),
        (("linux", "arm64"), "linux-arm64", "gcc"),
        (("windows", "x64"), "windows-arm64", "msvc"),
        (("macos", "arm64"), "macos-x64", "apple-clang"),
        (("linux", "x64"), "ios-arm64", "apple-clang"),
    ],
)
def test_the_default_toolchain_follows_the_machine(
    monkeypatch: pytest.MonkeyPatch, machine: tuple[str, str], target: str, toolchain: str
) -> None:
    monkeypatch.setattr(targets, "this_machine", lambda: machine)
    assert find_target(target).default_toolchain == toolchain


def test_docs_are_generated_from_the_table() -> None:
    assert (ROOT / "docs/targets.md").read_text(encoding="utf-8") == targets_markdown(list(TARGETS.values()))


def test_the_printed_table_has_a_line_a_target() -> None:
    assert [line.split()[0] for line in targets_text(TARGETS.values()).splitlines()] == ["target", *TARGETS]


def test_a_cpu_without_avx2_cannot_run_what_is_compiled_for_it() -> None:
    with pytest.raises(BuildError, match="this machine's CPU lacks avx2, which linux-x64 is compiled for"):
        require_cpu(find_target("linux-x64"), frozenset({"sse4_2", "avx"}))
    require_cpu(find_target("linux-x64"), frozenset({"avx2"}))


def test_a_run_on_a_cpu_without_avx2_is_refused_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "this_machine", lambda: ("linux", "x64"))
    monkeypatch.setattr(runners, "_cpu_flags", lambda: frozenset({"sse4_2", "avx"}))
    with pytest.raises(BuildError) as caught:
        run_argv(find_target("linux-x64"), "smoke")
    assert str(caught.value) == (
        "target=: this machine's CPU lacks avx2, which linux-x64 is compiled for\n"
        "  -> build here, and run the smoke test on a machine that has it"
    )


def test_a_target_without_a_runner_says_where_it_runs() -> None:
    with pytest.raises(BuildError, match="ios-arm64 cannot be run on this machine") as caught:
        run_argv(find_target("ios-arm64"), "smoke")
    assert caught.value.mend == "run it on ios arm64"


def test_a_release_is_built_with_the_flags_of_its_target() -> None:
    lock = Lock(Path("a.json"), "v0.19.1", "v0.19.1", "m", {}, (), Product("host"), policy="v0.19.1", copts=("-DMINE",))
    applied = apply_policy(lock, "linux-x64")
    assert applied.copts[-2:] == ("-mavx2", "-DMINE")
    assert applied.cxxopts == ("-std=c++20",)
    assert apply_policy(lock, "linux-arm64").defines["litert_enable_ynnpack"] == "true"
    assert "-mavx2" not in apply_policy(lock, "linux-arm64").copts
