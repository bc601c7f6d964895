"""Companions put together from upstream's tree, its release assets, pinned overrides and the DirectX compiler."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from litert_build.binaries.reader import read_binary
from litert_build.bundles.apple import make_slice, xcframework
from litert_build.bundles.archive import write_zip
from litert_build.bundles.layout import TARGETS, check_inventory, layout
from litert_build.bundles.stage import normalise_elf, stage_companions
from litert_build.errors import BuildError
from litert_build.policy.companions import DXC, DXC_MEMBERS, PREBUILT_FOLDERS

from tests.unit.bundle_samples import LIBRARIES, elf, macho

TAG = "v0.18.0"


def upstream(folder: Path, target: str) -> Path:
    """The prebuilt folder of upstream for a target: libraries, never frameworks."""
    place = folder / "prebuilt" / PREBUILT_FOLDERS.get(target, "none")
    place.mkdir(parents=True)
    for row in layout(target, TAG).companions:
        if row.source == "prebuilt":
            module = row.file.removesuffix(".framework")
            (place / (row.file if module == row.file else f"lib{module}.dylib")).write_bytes(LIBRARIES[target])
    return folder / "prebuilt"


def assets(folder: Path) -> Path:
    """Upstream's release assets: XCFrameworks of its own library."""
    out = folder / "official"
    out.mkdir()
    for name, rows in {
        "CLiteRTLM": [("ios", "arm64", macho()), ("ios-sim", "arm64", macho(platform=7))],
        "CLiteRTLM_mac": [("macos", "arm64", macho(platform=1, minimum=(14, 0)))],
    }.items():
        slices = []
        for platform, arch, content in rows:
            (folder / platform).write_bytes(content)
            slices.append(make_slice(name, folder / platform, platform, arch, version=TAG))  # type: ignore[arg-type]
        tree = xcframework(name, slices)
        write_zip(out / f"{name}.xcframework.zip", tree.files, tree.links, epoch=0)
    return out


def fetcher(folder: Path, wanted: list[str]) -> object:
    def fetch(name: str, urls: Sequence[str], sha256: str) -> Path:
        wanted.append(f"{urls[0]} {sha256}")
        if urls[0] != DXC.url:
            (folder / "override").write_bytes(elf(183))
            return folder / "override"
        with zipfile.ZipFile(folder / "dxc.zip", "w") as archive:
            for member in DXC_MEMBERS.values():
                archive.writestr(member, member)
        return folder / "dxc.zip"

    return fetch


@pytest.mark.parametrize("target", TARGETS)
def test_every_target(tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litert_build.bundles.stage.normalise_elf", lambda path: None)
    wanted: list[str] = []
    prebuilt, official = upstream(tmp_path, target), assets(tmp_path)
    out = stage_companions(target, TAG, prebuilt=prebuilt, fetch=fetcher(tmp_path, wanted), output=tmp_path / "out", official=official)  # type: ignore[arg-type]
    rows = layout(target, TAG)
    found = [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()]
    host = (
        [f"{rows.host}/{part}" for part in (rows.host.removesuffix(".framework"), "Info.plist")] if rows.platform == "ios" else [rows.host]
    )
    check_inventory(rows, [*found, *host], str(out))
    assert bool(wanted) == (target.startswith("android") or target == "windows-x64")


def test_an_override_is_fetched_by_its_digest(tmp_path: Path) -> None:
    wanted: list[str] = []
    prebuilt = upstream(tmp_path, "android-arm64")
    out = stage_companions("android-arm64", TAG, prebuilt=prebuilt, fetch=fetcher(tmp_path, wanted), output=tmp_path / "out")  # type: ignore[arg-type]
    assert wanted == [
        "https://media.githubusercontent.com/media/google-ai-edge/LiteRT-LM/f73637c57f0940b53da184e0d5adfc52a4e55eef/"
        "prebuilt/android_arm64/libwebgpu_dawn.so 7282aacdb076ce89f0c9d93107a145b991b99eb1dfbd5b5746dd0d99466ab3c3"
    ]
    assert (out / "libwebgpu_dawn.so").read_bytes() == elf(183)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:77\nsize 5\n", "libLiteRt.so: a Git LFS pointer stands in place"),
        (elf(183), "libLiteRt.so: is ELF for arm64, not ELF for x64"),
        (None, "libLiteRt.so: cannot read: No such file"),
    ],
)
def test_prebuilts_that_are_none(tmp_path: Path, content: bytes | None, message: str) -> None:
    prebuilt = upstream(tmp_path, "linux-x64")
    file = prebuilt / "linux_x86_64" / "libLiteRt.so"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BuildError, match=message):
        stage_companions("linux-x64", TAG, prebuilt=prebuilt, fetch=fetcher(tmp_path, []), output=tmp_path / "out")  # type: ignore[arg-type]


def test_absent_assets_and_slices(tmp_path: Path) -> None:
    prebuilt, official = upstream(tmp_path, "ios-arm64-sim"), assets(tmp_path)
    args = {"prebuilt": prebuilt, "fetch": fetcher(tmp_path, []), "output": tmp_path / "out", "official": official}
    tree = xcframework("CLiteRTLM", [make_slice("CLiteRTLM", tmp_path / "ios", "ios", "arm64", version=TAG)])
    write_zip(official / "CLiteRTLM.xcframework.zip", tree.files, tree.links, epoch=0)
    with pytest.raises(BuildError, match=r"CLiteRTLM.xcframework.zip: has no slice for ios simulator"):
        stage_companions("ios-arm64-sim", TAG, **args)  # type: ignore[arg-type]
    (official / "CLiteRTLM.xcframework.zip").unlink()
    with pytest.raises(
        BuildError, match=r"CLiteRTLM.xcframework.zip: is absent\n  -> name its folder with official=, or let the lock fetch it"
    ):
        stage_companions("ios-arm64-sim", TAG, **args)  # type: ignore[arg-type]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is absent: apt-get install gcc")
def test_soname_and_runpath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "libx.so"
    argv = ["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(path)]
    subprocess.run([*argv, "-Wl,-soname,libx.so", "-Wl,-rpath,$ORIGIN"], check=True)
    before = hashlib.sha256(path.read_bytes()).digest()
    normalise_elf(path)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    subprocess.run([*argv, "-Wl,-rpath,/usr/local/lib"], check=True)
    if shutil.which("patchelf"):
        normalise_elf(path)
        assert (read_binary(path).soname, read_binary(path).runpath) == ("libx.so", ("$ORIGIN",))
    subprocess.run([*argv, "-Wl,-rpath,/usr/local/lib"], check=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"libx.so: has SONAME none and RUNPATH /usr/local/lib\n  -> apt-get install patchelf"):
        normalise_elf(path)
