"""Verification of an archive alone: what it finds, and that no changed byte gets past it."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import tarfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from litert_build.bundles.archive import write_tar_gz
from litert_build.bundles.bundle import BundleResult, make_bundle
from litert_build.bundles.verify import VerifyReport, gate_policy, verify_bundle
from litert_build.errors import BuildError

from tests.unit.bundle_samples import elf, lenient, sample_request


def verify(archive: Path) -> VerifyReport:
    return verify_bundle(archive, lenient)


@pytest.fixture
def bundle(tmp_path: Path) -> BundleResult:
    return make_bundle(sample_request(tmp_path))


def alone(bundle: BundleResult, folder: Path) -> Path:
    """The archive without its neighbours."""
    folder.mkdir()
    return Path(shutil.copy(bundle.archive, folder))


def test_a_bundle_verifies_with_and_without_its_neighbours(bundle: BundleResult, tmp_path: Path) -> None:
    report = verify(bundle.archive)
    assert report.text.splitlines() == [
        "Verified litert-lm-native-runtime-linux-x64-sample.tar.gz",
        "  ok  container: canonical gzip and tar, 1 files",
        "  ok  manifest: schema 2, no field contradicts another",
        "  ok  sums: 1 files",
        "  ok  inventory: 1 files of linux-x64 at sample",
        "  ok  gate: linux/x64/libLiteRtLm.so",
        "  ok  manifest.json: agrees",
        "  ok  SHA256SUMS: 3 sums",
    ]
    assert verify(alone(bundle, tmp_path / "alone")).lines == report.lines[:5]


def test_a_changed_byte_at_any_of_200_places(bundle: BundleResult, tmp_path: Path) -> None:
    archive = alone(bundle, tmp_path / "alone")
    good = archive.read_bytes()
    places = random.Random(200)
    for _ in range(200):
        place = places.randrange(len(good))
        bad = bytearray(good)
        bad[place] ^= places.randrange(1, 256)
        archive.write_bytes(bad)
        with pytest.raises(BuildError) as caught:
            verify(archive)
        assert caught.value.where.endswith(archive.name) and caught.value.mend, place


@pytest.mark.parametrize("keep", [0, 5, 10, 11, 300, -9, -1])
def test_truncated(bundle: BundleResult, tmp_path: Path, keep: int) -> None:
    archive = alone(bundle, tmp_path / "alone")
    archive.write_bytes(archive.read_bytes()[:keep])
    with pytest.raises(BuildError, match=r"is truncated|its gzip header is another|is damaged"):
        verify(archive)


def test_bytes_behind_the_end(bundle: BundleResult, tmp_path: Path) -> None:
    archive = alone(bundle, tmp_path / "alone")
    archive.write_bytes(archive.read_bytes() + gzip.compress(b"more"))
    with pytest.raises(BuildError, match=r"holds bytes behind its end"):
        verify(archive)


def repack(bundle: BundleResult, archive: Path, members: dict[str, Path | bytes], manifest: dict[str, Any] | None = None) -> None:
    text = json.dumps(manifest) if manifest else bundle.manifest.read_text()
    write_tar_gz(archive, members, epoch=0, comment=text)


HOST = "linux/x64/libLiteRtLm.so"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({HOST: elf(), "linux/x64/extra.so": elf()}, "not those of the manifest\n    extra: linux/x64/extra.so"),
        ({"linux/x64/other.so": elf()}, "not those of the manifest\n    absent: linux/x64/libLiteRtLm.so\n    extra: linux/x64/other.so"),
        ({HOST: elf(body=b"changed")}, "other bytes than the manifest says\n    linux/x64/libLiteRtLm.so"),
    ],
)
def test_packed_with_other_members(bundle: BundleResult, tmp_path: Path, members: dict[str, Path | bytes], message: str) -> None:
    archive = alone(bundle, tmp_path / "alone")
    repack(bundle, archive, members)
    with pytest.raises(BuildError, match=message):
        verify(archive)


def test_packed_by_another_tool(bundle: BundleResult, tmp_path: Path) -> None:
    archive = alone(bundle, tmp_path / "alone")
    with (
        gzip.open(archive, "wb") as packed,
        tarfile.open(fileobj=packed, mode="w", pax_headers={"comment": bundle.manifest.read_text()}) as tar,
    ):
        info = tarfile.TarInfo(HOST)
        info.size, info.uid = len(elf()), 1000
        tar.addfile(info, io.BytesIO(elf()))
    with pytest.raises(BuildError, match=r"is no archive of this project: its gzip header is another"):
        verify(archive)


def test_other_owners_under_our_gzip_header(bundle: BundleResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = alone(bundle, tmp_path / "alone")
    monkeypatch.setattr("litert_build.bundles.archive.MODE", 0o755)
    repack(bundle, archive, {HOST: elf()})
    monkeypatch.undo()
    with pytest.raises(BuildError, match=r"was packed by something else: owners, modes, dates or order differ"):
        verify(archive)


def test_a_link_in_place_of_a_library(bundle: BundleResult, tmp_path: Path) -> None:
    archive = alone(bundle, tmp_path / "alone")
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"comment": bundle.manifest.read_text()}) as tar:
        info = tarfile.TarInfo(HOST)
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(info)
    packed = bytearray(gzip.compress(raw.getvalue(), mtime=0))
    packed[8:10] = b"\x00\xff"
    archive.write_bytes(packed)
    with pytest.raises(BuildError, match=r"not those of the manifest\n    absent: .*\n    extra: linux/x64/libLiteRtLm.so"):
        verify(archive)


def test_a_manifest_without_schema(bundle: BundleResult, tmp_path: Path) -> None:
    archive = alone(bundle, tmp_path / "alone")
    repack(bundle, archive, {HOST: elf()}, {"schemaVersion": 1})
    with pytest.raises(BuildError, match=r"the manifest breaks schema 2"):
        verify(archive)


def test_another_name(bundle: BundleResult) -> None:
    other = bundle.archive.with_name("litert-lm-native-runtime-linux-x64-v9.9.9.tar.gz")
    bundle.archive.rename(other)
    with pytest.raises(BuildError, match=r"holds the bundle of linux-x64 sample, which its name does not say"):
        verify(other)


def test_neighbours_that_say_something_else(bundle: BundleResult) -> None:
    text, sums = bundle.manifest.read_text(), bundle.sums.read_text()
    edited = json.loads(text)
    edited["artifacts"][0]["sha256"] = "0" * 64
    bundle.manifest.write_text(json.dumps(edited))
    with pytest.raises(
        BuildError, match=r"manifest.json: does not say what the archive's own manifest says\n    bin/linux/x64/libLiteRtLm.so"
    ):
        verify(bundle.archive)
    bundle.manifest.write_bytes(b"\xff\xfe")
    with pytest.raises(BuildError, match=r"manifest.json: the manifest is not valid JSON"):
        verify(bundle.archive)
    bundle.manifest.write_text(text.replace('"stream', ' "stream', 1))
    with pytest.raises(BuildError, match=r"SHA256SUMS: does not list these with their sums\n    manifest.json"):
        verify(bundle.archive)
    bundle.manifest.write_text(text)
    bundle.sums.write_text(sums.replace(sums[:64], "0" * 64))
    with pytest.raises(BuildError, match=r"does not list these with their sums\n    bin/linux"):
        verify(bundle.archive)


def test_a_library_that_fails_the_gate(bundle: BundleResult) -> None:
    def failing(folder: Path, target: Any, policy: Any) -> Any:
        return [SimpleNamespace(name="libLiteRtLm.so", passed=False, text="Rejected\n  BROKEN imports")]

    with pytest.raises(
        BuildError, match=r"libLiteRtLm.so of the linux-x64 bundle does not pass the gate\n    Rejected\n      BROKEN imports"
    ):
        verify_bundle(bundle.archive, failing)


def test_a_gate_that_looks_away_is_no_pass(bundle: BundleResult) -> None:
    with pytest.raises(BuildError, match=r"the gate did not look at every library\n    libLiteRtLm.so"):
        verify_bundle(bundle.archive, lambda *_: [])


def test_the_gate_is_asked_what_the_manifest_records(tmp_path: Path) -> None:
    checks = dict(sample_request(tmp_path).gate)
    checks["rules"][0] |= {"status": "waived", "waived": [{"subject": "libm.so.6", "reason": "because", "until": "2001-01-01"}]}
    content = make_bundle(sample_request(tmp_path, gate=checks)).content
    policy = gate_policy(content, "linux-x64")
    assert policy.required == ("litert_lm_engine_create", "litert_lm_asr_abi_version")
    assert (policy.role, policy.link_mode, policy.bundled) == ("host", "static", ("libLiteRtLm.so",))
    (waiver,) = policy.waivers
    assert waiver.covers("imports", "libm.so.6", "linux-x64") and policy.today <= waiver.until


def test_a_clock_in_1970(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = make_bundle(sample_request(tmp_path)).archive.read_bytes()
    monkeypatch.setattr(time, "time", lambda: 3600.0)
    then = make_bundle(sample_request(tmp_path))
    assert then.archive.read_bytes() == now
    verify(then.archive)


def test_absent_archive(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"x.tar.gz: cannot read: No such file"):
        verify(tmp_path / "x.tar.gz")
