"""Frameworks and XCFrameworks without Xcode: layout, property lists, module maps, and the libraries that may not go in."""

from __future__ import annotations

import plistlib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from litert_build.bundles.apple import bundle_version, framework, make_slice, module_map, universal, xcframework
from litert_build.bundles.archive import write_zip
from litert_build.bundles.layout import xcframework_archive
from litert_build.bundles.xcframework import verify_xcframework
from litert_build.errors import BuildError

from tests.unit.bundle_samples import elf, macho


def library(folder: Path, content: bytes, name: str = "libLiteRtLm.dylib") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def plist(content: object) -> dict[str, object]:
    assert isinstance(content, bytes)
    return dict(plistlib.loads(content))


def test_ios_framework_is_flat(tmp_path: Path) -> None:
    tree = framework("LiteRtLm", library(tmp_path, macho(minimum=(13, 0))), "ios", version="v0.18.0-2")
    assert sorted(tree.files) == ["LiteRtLm.framework/Info.plist", "LiteRtLm.framework/LiteRtLm"] and not tree.links
    info = plist(tree.files["LiteRtLm.framework/Info.plist"])
    assert info["CFBundleExecutable"] == "LiteRtLm" and info["CFBundlePackageType"] == "FMWK"
    assert info["CFBundleSupportedPlatforms"] == ["iPhoneOS"]
    assert (info["CFBundleShortVersionString"], info["MinimumOSVersion"]) == ("0.18.0", "15.0")


def test_the_property_list_never_says_less_than_the_library_needs(tmp_path: Path) -> None:
    tree = framework("LiteRtLm", library(tmp_path, macho(minimum=(16, 4))), "ios", version="g924e79c91542")
    info = plist(tree.files["LiteRtLm.framework/Info.plist"])
    assert (info["MinimumOSVersion"], info["CFBundleVersion"]) == ("16.4", "0.0.0")


def test_macos_framework_is_versioned(tmp_path: Path) -> None:
    binary = library(tmp_path, macho(platform=1, minimum=(14, 0)))
    tree = framework("CLiteRTLMMac", binary, "macos", version="v0.18.0", headers={"engine.h": b"int x;"})
    root = "CLiteRTLMMac.framework"
    assert tree.links == {
        f"{root}/Versions/Current": "A",
        f"{root}/CLiteRTLMMac": "Versions/Current/CLiteRTLMMac",
        f"{root}/Headers": "Versions/Current/Headers",
        f"{root}/Modules": "Versions/Current/Modules",
        f"{root}/Resources": "Versions/Current/Resources",
    }
    assert plist(tree.files[f"{root}/Versions/A/Resources/Info.plist"])["LSMinimumSystemVersion"] == "14.0"
    assert tree.files[f"{root}/Versions/A/Headers/CLiteRTLMMac.h"] == b"#include <CLiteRTLMMac/engine.h>\n"
    assert tree.files[f"{root}/Versions/A/Modules/module.modulemap"] == module_map("CLiteRTLMMac").encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (macho(minimum=(26, 2)), "libLiteRtLm.dylib: needs ios 26.2, above 16.4"),
        (macho(platform=1), "libLiteRtLm.dylib: is built for macos, not ios"),
        (macho(platform=7), "is built for ios-simulator, not ios"),
        (macho(platform=99), "is built for platform 99, not ios"),
        (macho()[:20], "malformed binary"),
    ],
)
def test_a_library_that_no_store_takes(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        framework("LiteRtLm", library(tmp_path, content), "ios", version="v0.18.0")


def test_xcframework_of_three_platforms(tmp_path: Path) -> None:
    rows = [("ios", "arm64", 2, (15, 0)), ("ios-sim", "arm64", 7, (15, 0)), ("macos", "x64", 1, (14, 0))]
    slices = []
    for platform, arch, number, minimum in rows:
        cpu = 0x01000007 if arch == "x64" else 0x0100000C
        binary = library(tmp_path, macho(cpu, number, minimum), platform)
        slices.append(make_slice("LiteRtLm", binary, platform, arch, version="v0.18.0", headers={"engine.h": b""}))  # type: ignore[arg-type]
    tree = xcframework("LiteRtLm", slices)
    info = plist(tree.files["LiteRtLm.xcframework/Info.plist"])
    assert (info["CFBundlePackageType"], info["XCFrameworkFormatVersion"]) == ("XFWK", "1.0")
    libraries = info["AvailableLibraries"]
    assert isinstance(libraries, list)
    assert [row["LibraryIdentifier"] for row in libraries] == ["ios-arm64", "ios-arm64-simulator", "macos-x86_64"]
    assert libraries[1]["SupportedPlatformVariant"] == "simulator" and "SupportedPlatformVariant" not in libraries[0]
    assert libraries[2]["BinaryPath"] == "LiteRtLm.framework/Versions/A/LiteRtLm"
    out = tmp_path / xcframework_archive("LiteRtLm", "v0.18.0")
    write_zip(out, tree.files, tree.links, epoch=0)
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
        for row in libraries:
            assert f"LiteRtLm.xcframework/{row['LibraryIdentifier']}/{row['BinaryPath']}" in archive.namelist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (macho(cpu=0x01000007), "is Mach-O for x64, not Mach-O for arm64"),
        (macho(kind=2), "is Mach-O of type 2"),
        (elf(183), "is ELF for arm64, not Mach-O"),
    ],
)
def test_a_slice_of_another_architecture_than_its_name(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        make_slice("LiteRtLm", library(tmp_path, content), "ios", "arm64", version="v0.18.0")


def test_slices_of_one_platform(tmp_path: Path) -> None:
    one = make_slice("LiteRtLm", library(tmp_path, macho()), "ios", "arm64", version="v0.18.0")
    with pytest.raises(BuildError, match=r"needs one slice a platform, not \['ios-arm64', 'ios-arm64'\]"):
        xcframework("LiteRtLm", [one, one])
    with pytest.raises(BuildError, match=r"needs one slice a platform, not none"):
        xcframework("LiteRtLm", [])


@pytest.mark.parametrize(("tag", "version"), [("v0.18.0", "0.18.0"), ("v0.18.0-3", "0.18.0"), ("sample", "0.0.0"), ("", "0.0.0")])
def test_versions_that_a_property_list_may_hold(tag: str, version: str) -> None:
    assert bundle_version(tag) == version


def zipped(folder: Path, name: str = "ios-arm64", **changes: object) -> Path:
    """An XCFramework archive of one slice, with `changes` to its listing; `binary=` replaces the library, `name` the slice's folder."""
    tree = xcframework("LiteRtLm", [make_slice("LiteRtLm", library(folder, macho()), "ios", "arm64", version="v0.18.0")])
    root = "LiteRtLm.xcframework"
    files = {path.replace("/ios-arm64/", f"/{name}/"): content for path, content in tree.files.items()}
    info = plist(files[f"{root}/Info.plist"])
    info["AvailableLibraries"][0].update({"LibraryIdentifier": name, **{key: value for key, value in changes.items() if key != "binary"}})  # type: ignore[index]
    files[f"{root}/Info.plist"] = plistlib.dumps(info)
    if "binary" in changes:
        files[f"{root}/{name}/LiteRtLm.framework/LiteRtLm"] = changes["binary"]  # type: ignore[assignment]
    out = folder / xcframework_archive("LiteRtLm", "v0.18.0")
    write_zip(out, files, epoch=0)
    return out


def test_an_archive_of_slices_verifies(tmp_path: Path) -> None:
    report = verify_xcframework(zipped(tmp_path))
    assert report.text == "Verified litert-lm-native-apple-LiteRtLm-xcframework-v0.18.0.zip\n  ok  ios-arm64: minimum OS 16.0"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"binary": macho(cpu=0x01000007)}, "is Mach-O for x64, not Mach-O for arm64"),
        ({"name": "ios-x86_64"}, "ios-x86_64/LiteRtLm.framework/LiteRtLm: holds arm64, but is listed for arm64"),
        ({"binary": universal([macho(), macho(cpu=0x01000007)])}, "holds arm64, x64, but is listed for arm64"),
        ({"binary": macho(platform=1)}, "is built for macos, not ios"),
        ({"binary": macho(minimum=(26, 2))}, "needs ios 26.2, above 16.4"),
        ({"binary": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"}, "a Git LFS pointer stands in place"),
        ({"BinaryPath": "LiteRtLm.framework/Other"}, "has no library, or is of an unknown platform"),
        ({"SupportedPlatform": "tvos"}, "has no library, or is of an unknown platform"),
    ],
)
def test_slices_that_are_not_what_they_are_listed_for(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BuildError, match=message):
        verify_xcframework(zipped(tmp_path, **changes))


def test_archives_that_are_no_xcframework(tmp_path: Path) -> None:
    out = tmp_path / "x.zip"
    write_zip(out, {"a/b": b""}, epoch=0)
    with pytest.raises(BuildError, match=r"x.zip: holds no XCFramework"):
        verify_xcframework(out)
    write_zip(out, {"../b": b""}, epoch=0)
    with pytest.raises(BuildError, match=r"\.\./b leaves the archive"):
        verify_xcframework(out)
    write_zip(out, {"X.xcframework/Info.plist": plistlib.dumps({})}, epoch=0)
    with pytest.raises(BuildError, match=r"has a property list without 'AvailableLibraries'"):
        verify_xcframework(out)
    write_zip(out, {"X.xcframework/Info.plist": plistlib.dumps({"AvailableLibraries": []}), "X.xcframework/stray/x": b""}, epoch=0)
    with pytest.raises(BuildError, match=r"holds files of no listed slice\n    X.xcframework/stray/x"):
        verify_xcframework(out)
    out.write_bytes(out.read_bytes()[:50])
    with pytest.raises(BuildError, match=r"is damaged"):
        verify_xcframework(out)
