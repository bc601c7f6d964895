"""Bundles made of small files: what comes out, and everything that stops one before anything is written."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from litert_build.binaries.facts import BinaryFacts
from litert_build.bundles.bundle import make_bundle
from litert_build.bundles.layout import TARGETS, layout
from litert_build.bundles.manifest import check_manifest
from litert_build.errors import BuildError
from litert_build.policy.companions import Override
from litert_build.policy.targets import find_target

from tests.unit.bundle_samples import COMMIT, elf, fill, lenient, lock_file, macho, pe, pin_nothing, sample_request


@pytest.fixture
def unpinned(monkeypatch: pytest.MonkeyPatch) -> None:
    pin_nothing(monkeypatch)


def test_the_samples_bundle(tmp_path: Path) -> None:
    result = make_bundle(sample_request(tmp_path))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "SHA256SUMS",
        "litert-lm-native-runtime-linux-x64-sample.tar.gz",
        "manifest.json",
    ]
    content = json.loads(result.manifest.read_text())
    assert content == result.content
    assert content["abi"] == {"upstreamC": "c/engine.h", "streamProxyCallback": 2, "asrBridge": 1}
    assert content["build"]["linux-x64"]["glibcFloor"] == "2.17"
    assert content["platforms"][0]["artifactPaths"] == ["bin/linux/x64/libLiteRtLm.so"]


@pytest.mark.parametrize("name", TARGETS)
def test_a_release_for_every_target(tmp_path: Path, name: str, unpinned: None) -> None:
    companions = fill(tmp_path / "companions", layout(name, "v0.18.0"))
    lock = lock_file(tmp_path, "v0.18.0", COMMIT)
    request = sample_request(tmp_path, find_target(name), lock=lock, tag="v0.18.0-1", companions=companions, native_commit="1" * 40)
    content = make_bundle(request, lenient).content
    assert content["release"] == {"tag": "v0.18.0-1", "channel": "stable", "kind": "rebuild", "rebuild": 1, "githubPrerelease": True}
    assert content["upstream"]["developmentIdentity"] == "g924e79c91542"
    assert content["platforms"][0]["platform"] == name.partition("-")[0]
    files = {path.split("/", 3)[3].partition("/")[0] for path in content["platforms"][0]["artifactPaths"]}
    assert files == set(layout(name, "v0.18.0").files)


def test_bytes_do_not_depend_on_folder_umask_or_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for name, umask, zone in (("one", 0o022, "UTC"), ("two ü", 0o077, "Asia/Tokyo")):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        before = os.umask(umask)
        try:
            (tmp_path / name).mkdir()
            result = make_bundle(sample_request(tmp_path / name))
        finally:
            os.umask(before)
        results.append([path.read_bytes() for path in (result.archive, result.manifest, result.sums)])
    assert results[0] == results[1]


def test_source_date_epoch_dates_the_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = make_bundle(sample_request(tmp_path)).archive.read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert make_bundle(sample_request(tmp_path)).archive.read_bytes() != plain


def refuse(tmp_path: Path, message: str, **changes: Any) -> BuildError:
    request = sample_request(tmp_path, **changes)
    with pytest.raises(BuildError, match=message) as caught:
        make_bundle(request, lenient)
    assert not request.output.exists() or not list(request.output.iterdir())
    return caught.value


def test_a_failed_gate(tmp_path: Path) -> None:
    make_bundle(sample_request(tmp_path))
    failed = {"passed": False, "rules": [{"id": "imports", "status": "failed"}, {"id": "soname", "status": "passed"}]}
    error = refuse(tmp_path, "libLiteRtLm.so: the host did not pass its checks", gate=failed)
    assert error.notes == ("failed: imports",)
    refuse(tmp_path, "the host was not checked", gate={})


def test_checks_of_another_file(tmp_path: Path) -> None:
    other = {"passed": True, "target": "linux-x64", "file": "old.so", "facts": {"bytes": 1}, "rules": []}
    refuse(tmp_path, "the checks are of another file: old.so for linux-x64, 1 bytes", gate=other)


def test_a_host_that_was_edited_after_its_checks_and_kept_its_size(tmp_path: Path) -> None:
    request = sample_request(tmp_path)
    content = request.host.read_bytes()
    request.host.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(BuildError, match=r"libLiteRtLm.so: the host was changed after its checks\n    sha256 [0-9a-f]{64}\n    checked"):
        make_bundle(request)
    assert not request.output.exists() or not list(request.output.iterdir())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:ab12\nsize 130\n",
            "a Git LFS pointer stands in place of the library\n    oid sha256:ab12",
        ),
        (elf(183), "is ELF for arm64, not ELF for x64"),
        (elf(kind=2), "is ELF of type 2 for x64, not ELF"),
        (pe(), "is PE for x64, not ELF for x64"),
        (macho(), "is Mach-O for arm64, not ELF"),
        (elf()[:-3], "is truncated: 68 bytes of at least 71"),
        (b"", "is no library: it starts with nothing"),
        (b"\x7fELF\x02", "is no library: it starts with 7f 45 4c 46 02"),
        (b"<html>not found</html>", "is no library: it starts with 3c 68"),
    ],
)
def test_a_host_that_is_no_library_of_the_target(tmp_path: Path, content: bytes, message: str) -> None:
    request = sample_request(tmp_path)
    request.host.write_bytes(content)
    gate = request.gate | {"facts": {"bytes": len(content)}}
    with pytest.raises(BuildError, match=message):
        make_bundle(type(request)(**{**vars(request), "gate": gate}))
    assert not list(request.output.iterdir()) if request.output.exists() else True


def test_absent_host(tmp_path: Path) -> None:
    request = sample_request(tmp_path)
    request.host.unlink()
    with pytest.raises(BuildError, match=r"libLiteRtLm.so: the checks are of another file|cannot read"):
        make_bundle(request, lenient)


def test_a_companion_beside_the_sample_is_extra(tmp_path: Path) -> None:
    (tmp_path / "companions").mkdir()
    (tmp_path / "companions" / "libLiteRt.so").write_bytes(elf())
    refuse(tmp_path, "not those of its layout\n    extra: libLiteRt.so", companions=tmp_path / "companions")


def test_a_host_among_the_companions(tmp_path: Path) -> None:
    (tmp_path / "companions").mkdir()
    (tmp_path / "companions" / "libLiteRtLm.so").write_bytes(elf())
    refuse(tmp_path, "libLiteRtLm.so lies among the companions", companions=tmp_path / "companions")


def release(tmp_path: Path, name: str = "linux-x64", ref: str = "v0.18.0", **changes: Any) -> dict[str, Any]:
    companions = fill(tmp_path / "companions", layout(name, ref))
    return {"target": find_target(name), "lock": lock_file(tmp_path, ref, COMMIT), "tag": ref, "companions": companions, **changes}


def test_absent_companions(tmp_path: Path) -> None:
    changes = release(tmp_path)
    (tmp_path / "companions" / "libwebgpu_dawn.so").unlink()
    error = refuse(tmp_path, "the files of the linux-x64 bundle are not those of its layout", **changes)
    assert error.notes == ("absent: libwebgpu_dawn.so",)


def test_a_companion_that_is_a_pointer(tmp_path: Path) -> None:
    changes = release(tmp_path)
    (tmp_path / "companions" / "libLiteRt.so").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:77\nsize 5\n")
    refuse(
        tmp_path,
        "libLiteRt.so: a Git LFS pointer stands.*\n    oid sha256:77\n    size 5\n  -> fetch the object with git lfs pull",
        **changes,
    )


def test_a_pinned_companion_with_other_bytes(tmp_path: Path) -> None:
    changes = release(tmp_path, "android-arm64")
    error = refuse(tmp_path, "libwebgpu_dawn.so has other bytes than the pinned ones", **changes)
    assert error.notes[1] == "pinned 7282aacdb076ce89f0c9d93107a145b991b99eb1dfbd5b5746dd0d99466ab3c3"


def test_a_lock_without_a_commit(tmp_path: Path) -> None:
    refuse(tmp_path, "the lock of v0.18.0 names no commit", lock=lock_file(tmp_path, "v0.18.0"), tag="v0.18.0")


def test_a_development_ref_without_rules(tmp_path: Path) -> None:
    ref = "g924e79c91542"
    refuse(
        tmp_path,
        "g924e79c91542.json: the lock of g924e79c91542 names no release whose rules hold",
        lock=lock_file(tmp_path, ref, COMMIT),
        tag=ref,
    )


def test_the_callback_abi_must_be_what_the_function_returns(tmp_path: Path) -> None:
    refuse(tmp_path, r"callback_abi_version\(\) returns 1, but litert_lm_stream_chunk_get_text is exported", stream_abi=1)


def test_the_abis_must_be_those_of_the_release(tmp_path: Path, unpinned: None) -> None:
    changes = release(tmp_path)
    bare = BinaryFacts(tmp_path / "host", 1, "elf", "x64", "shared")
    error = refuse(tmp_path, "breaks schema 2", facts=bare, **changes)
    assert error.notes == (
        "abi.streamProxyCallback: 1, but the function returns 2 from v0.18.0",
        "abi.asrBridge: None at v0.18.0; the bridge is in from v0.16.0",
    )


@pytest.mark.parametrize(
    ("edit", "note"),
    [
        (lambda m: m.pop("abi"), "manifest: 'abi' is a required property"),
        (lambda m: m["artifacts"][0].update(sha256="xyz"), "artifacts.0.sha256: 'xyz' does not match"),
        (lambda m: m["artifacts"][0].update(path="../x"), "artifacts.0.path: '../x' does not match"),
        (lambda m: m["release"].update(tag="other"), "platforms.linux-x64.releaseAsset: "),
        (lambda m: m["platforms"][0].update(accelerators=["gpu"]), "platforms.linux-x64.accelerators: "),
        (lambda m: m["platforms"][0]["artifactPaths"].append("bin/linux/x64/x.so"), "bin/linux/x64/x.so is no artifact"),
        (lambda m: m["artifacts"].append(m["artifacts"][0]), "artifacts: a path is listed twice"),
        (lambda m: m["capabilities"].update(asr=False), "capabilities.asr: contradicts"),
        (lambda m: m["build"]["linux-x64"]["gate"].update(passed=False), "build.linux-x64.gate.passed: True was expected"),
        (lambda m: m.update(extra=1), "'extra' was unexpected"),
    ],
)
def test_a_manifest_edited_by_hand(tmp_path: Path, edit: Any, note: str) -> None:
    content = json.loads(json.dumps(make_bundle(sample_request(tmp_path)).content))
    edit(content)
    with pytest.raises(BuildError, match=r"manifest.json: the manifest breaks schema 2") as caught:
        check_manifest(content, "manifest.json")
    assert any(note in line for line in caught.value.notes), caught.value.notes


def test_override_paths() -> None:
    row = Override("android-x64", "libwebgpu_dawn.so", "v0.15.0", "v0.18.0", "0" * 40, "0" * 64, "")
    assert row.source_path == "prebuilt/android_x86_64/libwebgpu_dawn.so"
    assert find_target("linux-x64").library == "libLiteRtLm.so"
