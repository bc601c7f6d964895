"""What each release of upstream asks for, row by row of the table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.options import Options
from litert_build.policy.refs import RULES, apply_policy, overridden_link_mode, ref_policy, release_version
from litert_build.policy.targets import TARGETS
from litert_build.sources.console import console, network_of
from litert_build.sources.lock import Lock
from litert_build.sources.lock_command import request_of
from packaging.version import Version

ALWAYS = {"resolve_symbols_in_exec": "false"}
CAPI = {**ALWAYS, "litert_link_capi_so": "true"}
DYNAMIC = {**ALWAYS, "litert_runtime_link_mode": "dynamic"}
CHUNKS = {"litert_lm_stream_chunk_api": "true"}


@pytest.mark.parametrize(
    ("release", "target", "link_mode", "defines"),
    [
        ("v0.12.0", "linux-x64", "dynamic", CAPI),
        ("v0.13.1", "macos-arm64", "dynamic", CAPI),
        ("v0.14.0", "linux-x64", "static", CAPI),
        ("v0.15.0", "windows-x64", "static", CAPI),
        ("v0.16.0", "linux-arm64", "dynamic", DYNAMIC),
        ("v0.18.0", "windows-x64", "dynamic", DYNAMIC),
        ("v0.18.0-2", "windows-x64", "dynamic", DYNAMIC),
        ("v0.16.1", "android-arm64", "static", CAPI),
        ("v0.18.0", "macos-arm64", "static", CAPI),
        ("v0.17.0", "ios-arm64", "static", {**CAPI, "LITERT_LM_FST_CONSTRAINTS_DISABLED": "1"}),
        ("v0.16.1", "ios-arm64", "static", CAPI),
        *(("v0.19.1", target, "static", CAPI) for target in TARGETS if not target.startswith("ios")),
        ("v0.25.0", "linux-x64", "static", CAPI),
        ("v1.0.0", "windows-x64", "static", CAPI),
    ],
)
def test_link_mode_and_defines(release: str, target: str, link_mode: str, defines: dict[str, str]) -> None:
    policy = ref_policy(release, target)
    chunks = CHUNKS if release_version(release) >= Version("0.15") else {}
    assert (policy.link_mode, policy.defines, policy.overridden) == (link_mode, {**defines, **chunks}, "")


@pytest.mark.parametrize(("release", "count"), [("v0.13.0", 8), ("v0.14.0", 28), ("v0.15.0", 32), ("v0.16.0", 49), ("v0.19.1", 49)])
def test_required_exports_are_cumulative(release: str, count: int) -> None:
    required = ref_policy(release, "linux-x64").required
    assert (len(required), len(set(required))) == (count, count)
    assert required[:8] == ref_policy("v0.12.0", "android-x64").required


def test_the_bridge_and_the_roots_follow_the_release() -> None:
    old, chunks, speech, merged = (ref_policy(release, "linux-x64") for release in ("v0.14.0", "v0.15.0", "v0.16.1", "v0.17.0"))
    assert [(policy.callback_abi, policy.asr) for policy in (old, chunks, speech, merged)] == [(1, False), (2, False), (2, True), (2, True)]
    assert old.roots == ("//c:engine", "@litert_lm_native//stream_proxy", "//schema/capabilities")
    assert merged.roots == ("//c:engine", "@litert_lm_native//stream_proxy", "@litert_lm_native//asr")
    assert set(speech.roots) == {*old.roots, *merged.roots}


def test_every_release_and_target_has_exactly_one_link_mode() -> None:
    for minor in range(12, 25):
        for target in TARGETS:
            ref_policy(f"v0.{minor}.0", target)
            modes = [rule for rule in RULES if rule.link_mode and TARGETS[target].os in rule.os and f"0.{minor}.0" in _set(rule.versions)]
            assert len(modes) == 1, (minor, target)


def _set(versions: str) -> set[str]:
    from packaging.specifiers import SpecifierSet

    return {f"0.{minor}.0" for minor in range(12, 25) if SpecifierSet(versions).contains(Version(f"0.{minor}.0"))}


def test_another_link_mode_is_noted() -> None:
    policy = ref_policy("v0.19.1", "linux-x64", link_mode="dynamic")
    assert (policy.link_mode, policy.defines, policy.overridden) == ("dynamic", {**DYNAMIC, **CHUNKS}, "static")
    assert ref_policy("v0.18.0", "linux-x64", link_mode="static").defines == {**CAPI, **CHUNKS}
    assert ref_policy("v0.13.0", "linux-x64", link_mode="static").defines == ALWAYS
    assert ref_policy("v0.19.1", "linux-x64", link_mode="none").defines == {**ALWAYS, **CHUNKS, "litert_runtime_link_mode": "none"}
    assert ref_policy("v0.19.1", "linux-x64", link_mode="static").overridden == ""
    with pytest.raises(BuildError, match=r"v0\.19\.1 has no link mode 'shared'"):
        ref_policy("v0.19.1", "linux-x64", link_mode="shared")


@pytest.mark.parametrize(
    ("release", "message"),
    [("0.19.1", "'0.19.1' is no release of upstream"), ("main", "is no release"), ("v0.11.0", "v0.11.0 is older than the rules reach")],
)
def test_what_is_no_release(release: str, message: str) -> None:
    with pytest.raises(BuildError) as caught:
        ref_policy(release, "linux-x64")
    assert message in str(caught.value)


def test_versions_compare_as_versions() -> None:
    assert release_version("v0.9999.0") > release_version("v0.19.1") > release_version("v0.19.0-native.3")


def test_a_lock_takes_what_its_policy_adds(tmp_path: Path) -> None:
    data = {
        "schema": 1,
        "ref": "v0.18.0",
        "policy": "v0.18.0",
        "main": "m",
        "repositories": {"m": {"path": "."}},
        "roots": ["//c:engine"],
        "defines": {"resolve_symbols_in_exec": "true"},
        "product": {"kind": "host", "required": ["mine", "stream_proxy_create"]},
    }
    (tmp_path / "l.json").write_text(json.dumps(data))
    lock = Lock.read(tmp_path / "l.json")
    linux = apply_policy(lock, "linux-x64")
    assert (linux.link_mode, linux.defines) == ("dynamic", {**DYNAMIC, **CHUNKS, "resolve_symbols_in_exec": "true"})
    assert linux.roots[:2] == ("//c:engine", "@litert_lm_native//stream_proxy")
    assert linux.product.required[-1] == "mine"
    assert linux.product.required.count("stream_proxy_create") == 1
    assert apply_policy(lock, "macos-arm64").link_mode == "static"
    assert apply_policy(lock, "linux-x64", link_mode="static").link_mode == "static"


@pytest.mark.parametrize(
    ("policy", "target", "chosen", "override"),
    [
        ("v0.18.0", "linux-x64", "static", "static"),
        ("v0.18.0", "linux-x64", "dynamic", ""),
        ("v0.18.0", "linux-x64", "", ""),
        ("v0.18.0", "macos-arm64", "static", ""),
        ("v0.18.0", "macos-arm64", "dynamic", "dynamic"),
        ("v0.19.1", "linux-x64", "static", ""),
        ("", "linux-x64", "static", ""),
        ("", "linux-x64", "none", "none"),
    ],
)
def test_only_a_link_mode_that_is_not_the_rules_own_overrides(policy: str, target: str, chosen: str, override: str) -> None:
    lock = replace(Lock.read(Path("third_party/refs/sample.json")), policy=policy)
    assert overridden_link_mode(lock, target, chosen) == override


def options(**values: str) -> Options:
    given = {
        "ref": "v0.19.1",
        "offline": "no",
        "github": "",
        "mirror": "",
        "commit": "",
        "policy": "",
        "against": "",
        "targets": "",
        "skip": "",
        "static_gpu": "off",
    }
    return Options({**given, **values})


def test_the_command_line_becomes_a_request_and_a_network(tmp_path: Path) -> None:
    network = network_of(options(github="http://here", mirror="http://one,http://two", offline="yes"))
    assert (network.offline, network.github, network.mirrors) == (True, "http://here", ("http://one", "http://two"))
    assert network_of(options()).github == "https://github.com"
    request = request_of(options(targets="linux-x86_64", skip="a,b"), tmp_path)
    assert (request.targets, request.skip, request.policy) == (("linux-x64",), ("a", "b"), None)
    assert request.file == tmp_path / "third_party/refs/v0.19.1.json"
    assert len(request_of(options(), tmp_path).targets) == 6
    with pytest.raises(BuildError, match="unknown target 'linux-x65'"):
        request_of(options(targets="linux-x65"), tmp_path)


def test_progress_is_shown_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    console()("absl", "fetch", 1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    show = console()
    show("absl", "fetch", 1_000_000, 2_000_000)
    show("absl", "fetch", 1_000_001, 2_000_000)
    show("absl", "fetch", 2_000_000, 2_000_000)
    assert capsys.readouterr().err == "\r\x1b[Kfetch absl 1.0 of 2.0 MB\r\x1b[Kfetch absl 2.0 of 2.0 MB\n"
