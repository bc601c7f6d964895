"""The file lists that consumers rely on, held by golden files; UPDATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from litert_build.bundles.layout import TARGETS, check_inventory, layout, release_files
from litert_build.errors import BuildError
from litert_build.policy.companions import COMPANIONS, DXC_MEMBERS, OVERRIDES, companions, is_upstream_release, overrides

GOLDEN = Path(__file__).parent / "golden" / "bundles"


@pytest.mark.parametrize("version", ["v0.15.0", "v0.16.0", "v0.17.0", "v0.17.1", "v0.18.0", "v0.19.0"])
def test_file_lists_of_a_release(version: str) -> None:
    text = "".join(f"{member}\n" for target in TARGETS for member in layout(target, version).members)
    text += "".join(f"{name}\n" for name in release_files(version, version))
    file = GOLDEN / f"{version}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_a_development_build_has_no_official_assets() -> None:
    with_official, without = layout("ios-arm64", "v0.18.0"), layout("ios-arm64", "v0.18.0", official=False)
    assert set(with_official.files) - set(without.files) == {"CLiteRTLM.framework"}
    assert not [name for name in release_files("g924e79c91542", "v0.18.0", official=False) if "CLiteRTLM" in name or "official" in name]


def test_sources_that_are_not_upstreams_have_no_companions() -> None:
    assert layout("linux-x64", "").members == ("linux/x64/libLiteRtLm.so",)
    assert not is_upstream_release("sample")
    assert is_upstream_release("v0.19.1")
    assert is_upstream_release("g924e79c91542")


def test_accelerators_of_a_companion() -> None:
    rows = {row.file: row.accelerators for row in companions("android-arm64", "v0.18.0")}
    assert rows["libLiteRtGpuAccelerator.so"] == ("gpu",)
    assert rows["libLiteRtOpenClAccelerator.so"] == ("opencl",)
    assert rows["libwebgpu_dawn.so"] == ("webgpu",)
    assert rows["libGemmaModelConstraintProvider.so"] == ()


@pytest.mark.parametrize(
    ("target", "version", "count"),
    [("android-arm64", "v0.15.0", 2), ("android-x64", "v0.18.0", 1), ("android-x64", "v0.19.0", 0), ("linux-x64", "v0.18.0", 0)],
)
def test_overrides_by_version(target: str, version: str, count: int) -> None:
    assert len(overrides(target, version)) == count


def test_the_tables_agree() -> None:
    for row in OVERRIDES:
        assert any(row.file == other.file and row.target in other.targets for other in COMPANIONS)
    assert {row.file for row in COMPANIONS if row.source == "dxc"} == set(DXC_MEMBERS)
    assert all(row.sha256 for row in COMPANIONS if row.source == "dxc")
    assert all(target in TARGETS for row in COMPANIONS for target in row.targets)


def test_absent_and_extra_files_are_listed() -> None:
    found = [name for name in layout("windows-x64", "v0.18.0").files if name != "dxil.dll"] + ["notes.txt", "sub/LiteRtLm.dll"]
    with pytest.raises(BuildError) as caught:
        check_inventory(layout("windows-x64", "v0.18.0"), found, "folder")
    assert caught.value.notes == ("absent: dxil.dll", "extra: notes.txt", "extra: sub/LiteRtLm.dll")
    assert "folder: the files of the windows-x64 bundle are not those of its layout" in str(caught.value)


def test_a_framework_needs_its_binary_and_property_list() -> None:
    rows = layout("ios-arm64", "v0.18.0")
    names = [name.removesuffix(".framework") for name in rows.files]
    found = [f"{name}.framework/{part}" for name in names for part in (name, "Info.plist")]
    check_inventory(rows, [*found, "LiteRtLm.framework/PrivacyInfo.xcprivacy"], "")
    with pytest.raises(BuildError) as caught:
        check_inventory(rows, [*found[1:], "LiteRtLm.framework"], "")
    assert caught.value.notes == ("absent: CLiteRTLM.framework/CLiteRTLM", "extra: LiteRtLm.framework")


def test_one_file_too_many_is_enough() -> None:
    with pytest.raises(BuildError) as caught:
        check_inventory(layout("linux-x64", ""), ["libLiteRtLm.so", "libLiteRt.so"], "folder")
    assert caught.value.notes == ("extra: libLiteRt.so",)
