"""Upstream's release assets: locked with their digests, fetched by the bundles that hold them, and by nobody else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from litert_build.bundles.stage import stage_companions
from litert_build.errors import BuildError
from litert_build.policy.companions import official_assets
from litert_build.sources.lock import Lock
from litert_build.sources.lock_command import LockRequest, run_lock
from litert_build.sources.network import Network
from litert_build.sources.prebuilt import official_tree
from litert_build.sources.trees import materialize

from tests.loopback import Fault, Loopback
from tests.unit.test_bundles_stage import TAG, assets, fetcher, upstream
from tests.upstream_shape import UPSTREAM

RELEASE = TAG
PLACE = f"/{UPSTREAM}/releases/download/{RELEASE}"
IOS, MAC = "CLiteRTLM.xcframework.zip", "CLiteRTLM_mac.xcframework.zip"
LIBRARY = 'cc_library(name = "{}", srcs = ["x.cc"], visibility = ["//visibility:public"])\n'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    """A LiteRT-LM of one library, tagged, with both assets in its release."""
    (tmp_path / "github").mkdir()
    with Loopback(tmp_path / "github") as server:
        files = {"WORKSPACE": "", "c/BUILD": LIBRARY.format("engine"), "c/x.cc": ""}
        server.repository(UPSTREAM, files, tag=RELEASE)
        for name in ("stream_proxy", "asr"):
            bridge = tmp_path / "src/bridge" / name
            bridge.mkdir(parents=True)
            (bridge / "BUILD").write_text(LIBRARY.format(name))
            (bridge / "x.cc").write_text("")
        for asset in assets(tmp_path).iterdir():
            server.files[f"{PLACE}/{asset.name}"] = asset.read_bytes()
        yield server


def online(server: Loopback) -> Network:
    return Network(github=server.base, attempts=2, delay=0.01, timeout=10, token="")


def locked(server: Loopback, tmp_path: Path, *targets: str, ref: str = RELEASE, policy: str | None = None) -> tuple[Lock, str]:
    request = LockRequest(ref, root=tmp_path, targets=targets, policy=policy)
    text = run_lock(request, store=tmp_path / "store", network=online(server))
    return Lock.read(request.file), text


def test_assets_follow_the_targets() -> None:
    assert official_assets(("linux-x64", "android-arm64", "windows-x64"), RELEASE) == {}
    assert list(official_assets(("macos-x64", "ios-arm64", "ios-arm64-sim", "linux-x64"), RELEASE)) == [IOS, MAC]
    assert official_assets(("ios-arm64",), RELEASE) == {IOS: f"https://github.com{PLACE}/{IOS}"}


def test_the_lock_of_a_release_has_its_assets_and_says_what_it_trusted(server: Loopback, tmp_path: Path) -> None:
    lock, text = locked(server, tmp_path, "linux-x64", "ios-arm64", "macos-arm64")
    entry = lock.repositories["litert_lm_official"]
    digests = {name: hashlib.sha256(server.files[f"{PLACE}/{name}"]).hexdigest() for name in (IOS, MAC)}
    assert {name: (file.urls, file.sha256) for name, file in entry.link_files.items()} == {
        name: ((f"https://github.com{PLACE}/{name}",), digest) for name, digest in digests.items()
    }
    for name, digest in digests.items():
        assert f"litert_lm_official: sha256 {digest} of https://github.com{PLACE}/{name} was trusted on first use" in text


def test_targets_without_assets_ask_for_none(server: Loopback, tmp_path: Path) -> None:
    lock, _ = locked(server, tmp_path, "linux-x64", "android-arm64", "windows-x64")
    assert "litert_lm_official" not in lock.repositories
    assert not [path for _, path, _ in server.requests if "/releases/" in path]


@pytest.mark.parametrize("target", ["ios-arm64", "ios-arm64-sim", "macos-arm64"])
def test_a_bundle_takes_the_assets_from_the_lock(server: Loopback, tmp_path: Path, target: str) -> None:
    lock, _ = locked(server, tmp_path, "ios-arm64", "macos-arm64")
    asked = len(server.requests)
    sources = materialize(lock, store=tmp_path / "fresh", overlays_dir=tmp_path / "overlays", network=online(server))
    assert "litert_lm_official" not in sources
    assert not [path for _, path, _ in server.requests[asked:] if "/releases/" in path], "who builds no bundle does not fetch them"
    folder = official_tree(lock, store=tmp_path / "fresh", network=online(server))
    assert folder == official_tree(lock, store=tmp_path / "fresh", network=Network(offline=True))
    staged = _staged(tmp_path, target, folder)
    assert (staged / ("CLiteRTLM.framework/CLiteRTLM" if target.startswith("ios") else "libCLiteRTLM_mac.dylib")).is_file()


def _staged(tmp_path: Path, target: str, folder: Path | None) -> Path:
    prebuilt = upstream(tmp_path / "prebuilt", target)
    fetch: Any = fetcher(tmp_path, [])
    return stage_companions(target, RELEASE, prebuilt=prebuilt, fetch=fetch, output=tmp_path / "out", official=folder)


def test_what_upstream_did_not_publish_is_left_out_and_told(server: Loopback, tmp_path: Path) -> None:
    """v0.16.1 had no XCFrameworks."""
    del server.files[f"{PLACE}/{MAC}"]
    lock, text = locked(server, tmp_path, "ios-arm64", "macos-arm64")
    assert list(lock.repositories["litert_lm_official"].link_files) == [IOS]
    assert f"https://github.com{PLACE}/{MAC} does not exist: bundles that hold it need official=PATH" in text
    del server.files[f"{PLACE}/{IOS}"]
    lock, text = locked(server, tmp_path, "ios-arm64")
    assert "litert_lm_official" not in lock.repositories
    assert official_tree(lock, store=tmp_path / "store") is None


def test_a_server_that_fails_is_no_release_without_assets(server: Loopback, tmp_path: Path) -> None:
    server.faults[f"{PLACE}/{IOS}"] = [Fault(status=503), Fault(status=503)]
    with pytest.raises(BuildError, match=r"cannot fetch CLiteRTLM\.xcframework\.zip from any of its addresses") as caught:
        locked(server, tmp_path, "ios-arm64")
    assert "HTTP 503" in str(caught.value)
    server.faults[f"{PLACE}/{IOS}"] = [Fault(status=503)]
    assert IOS in locked(server, tmp_path, "ios-arm64")[0].repositories["litert_lm_official"].link_files


def test_a_development_identity_has_none(server: Loopback, tmp_path: Path) -> None:
    commit = locked(server, tmp_path, "ios-arm64")[0].commit
    lock, _ = locked(server, tmp_path, "ios-arm64", ref=f"g{commit[:12]}", policy=RELEASE)
    assert "litert_lm_official" not in lock.repositories


def test_other_bytes_under_a_locked_name_are_refused(server: Loopback, tmp_path: Path) -> None:
    lock, _ = locked(server, tmp_path, "ios-arm64")
    server.files[f"{PLACE}/{IOS}"] += b"republished"
    with pytest.raises(BuildError, match="has the wrong digest"):
        official_tree(lock, store=tmp_path / "fresh", network=replace(online(server), attempts=1))
