"""Whole releases: assembled from the bundles of all targets, planned, and refused."""

from __future__ import annotations

import json
import plistlib
import shutil
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from litert_build.binaries.facts import BinaryFacts, Symbol
from litert_build.bundles.apple import universal
from litert_build.bundles.bundle import BundleRequest, make_bundle
from litert_build.bundles.formats import read_format
from litert_build.bundles.layout import TARGETS, layout, release_files
from litert_build.bundles.publish import ReleasePlan, assemble, release_plan, remote_tags
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target

from tests.unit.bundle_samples import COMMIT, TOOLCHAIN, fill, lenient, lock_file, macho, pin_nothing, sample_request

TAG = "v0.18.0"
PROBES = (Symbol("litert_lm_asr_abi_version"), Symbol("litert_lm_stream_chunk_get_text"))
NEWER = BinaryFacts(Path("host"), 71, "elf", "x64", "shared", version_needs={"libc.so.6": ("GLIBC_2.36",)}, exports=PROBES)


def request(folder: Path, target: str) -> BundleRequest:
    work = folder / "work" / target
    work.mkdir(parents=True)
    companions = fill(work / "companions", layout(target, TAG))
    (work / "companions").mkdir(exist_ok=True)
    made = sample_request(
        work, find_target(target), lock=lock_file(work, TAG, COMMIT), tag=TAG, companions=companions, native_commit="1" * 40
    )
    return replace(made, output=folder / "bundles" / target, toolchain=replace(made.toolchain, name=made.target.release_toolchain))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundles of all targets, a folder each, and what is assembled of them."""
    folder = tmp_path_factory.mktemp("release")
    with pytest.MonkeyPatch.context() as patch:
        pin_nothing(patch)
        for target in TARGETS:
            make_bundle(request(folder, target), lenient)
    (folder / "official").mkdir()
    (folder / "official" / "CLiteRTLM.xcframework.zip").write_bytes(b"PK")
    assemble(folder / "bundles", TAG, folder / "bundles" / "assembled", official=folder / "official", headers={"engine.h": b""})
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(built / "bundles", tmp_path / "bundles"))


def plan(folder: Path, tag: str = TAG, published: tuple[str, ...] = ("v0.17.0",), commit: str = COMMIT) -> ReleasePlan:
    with pytest.MonkeyPatch.context() as patch:
        pin_nothing(patch)
        return release_plan(folder, tag, published=published, upstream={TAG: commit}, gate=lenient)


def test_a_whole_release(built: Path, tmp_path: Path) -> None:
    made = plan(built / "bundles")
    assert sorted([*made.files, "manifest.json", "SHA256SUMS"]) == list(release_files(TAG, TAG))
    lines = made.text.splitlines()
    assert lines[0] == f"Release v0.18.0 (stable upstream) of google-ai-edge/LiteRT-LM v0.18.0 {COMMIT}"
    assert lines[-1] == "Nothing was uploaded." and len(lines) == len(made.files) + 2
    made.write(tmp_path)
    content = json.loads((tmp_path / "manifest.json").read_text())
    assert [f"{row['platform']}-{row['arch']}" for row in content["platforms"]] == list(TARGETS) == list(content["build"])
    assert {row["path"] for row in content["artifacts"] if row["runtime"] == "archive"} == {
        f"dist/{name}" for name in made.files if "-runtime-" not in name
    }
    sums = (tmp_path / "SHA256SUMS").read_text()
    assert all(f"  {name}\n" in sums for name in [*made.files, "manifest.json", "bin/linux/x64/libLiteRtLm.so"])


def test_assembling_again_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    again = assemble(built / "bundles", TAG, tmp_path, official=built / "official", headers={"engine.h": b""})
    for path in again:
        assert path.read_bytes() == (built / "bundles" / "assembled" / path.name).read_bytes()


def test_what_is_assembled(built: Path) -> None:
    made = built / "bundles" / "assembled"
    with tarfile.open(made / "litert-lm-native-prebuilts-v0.18.0.tar.gz") as tar:
        names = tar.getnames()
    assert "linux/x64/libLiteRt.so" in names and "ios/arm64/LiteRtMetalAccelerator.framework/Info.plist" in names
    assert not [name for name in names if "LiteRtLm" in name or "CLite" in name or "dxil" in name]
    with zipfile.ZipFile(made / "litert-lm-native-apple-LiteRtLm-xcframework-v0.18.0.zip") as archive:
        root = "LiteRtLm.xcframework"
        info = plistlib.loads(archive.read(f"{root}/Info.plist"))
        assert [row["LibraryIdentifier"] for row in info["AvailableLibraries"]] == ["ios-arm64", "ios-arm64-simulator"]
        assert f"{root}/ios-arm64/LiteRtLm.framework/Modules/module.modulemap" in archive.namelist()
        assert archive.read(f"{root}/ios-arm64/LiteRtLm.framework/LiteRtLm") == macho()
    with zipfile.ZipFile(made / "litert-lm-native-apple-CLiteRTLMMac-xcframework-v0.18.0.zip") as archive:
        inner = "CLiteRTLMMac.xcframework/macos-arm64_x86_64/CLiteRTLMMac.framework"
        found = read_format(archive.read(f"{inner}/Versions/A/CLiteRTLMMac")[:4096])
        assert found and sorted(found.arches) == ["arm64", "x64"]
        assert archive.read(f"{inner}/Versions/Current") == b"A"


def test_two_libraries_of_one_architecture_are_not_universal() -> None:
    with pytest.raises(BuildError, match=r"one thin library an architecture"):
        universal([macho(), macho(platform=7)])
    with pytest.raises(BuildError, match=r"one thin library an architecture"):
        universal([macho(), universal([macho()])])


def test_a_partial_matrix(folder: Path) -> None:
    shutil.rmtree(folder / "windows-x64")
    with pytest.raises(
        BuildError, match=r"the matrix of v0.18.0 is partial: 8 of 9 targets\n    absent: litert-lm-native-runtime-windows-x64"
    ):
        plan(folder)


def test_absent_archives(folder: Path) -> None:
    (folder / "assembled" / "litert-lm-native-prebuilts-v0.18.0.tar.gz").unlink()
    with pytest.raises(
        BuildError, match=r"files of release v0.18.0 are absent\n    litert-lm-native-prebuilts-v0.18.0.tar.gz\n  -> run scons"
    ):
        plan(folder)


def test_two_releases_of_one_name(folder: Path) -> None:
    shutil.copytree(folder / "linux-x64", folder / "again")
    with pytest.raises(BuildError, match=r"two files are named litert-lm-native-runtime-linux-x64-v0.18.0.tar.gz"):
        plan(folder)


def test_a_target_that_is_not_released(folder: Path) -> None:
    (folder / "litert-lm-native-runtime-windows-arm64-v0.18.0.tar.gz").write_bytes(b"")
    made = plan(folder)
    assert "  not part of a release: litert-lm-native-runtime-windows-arm64-v0.18.0.tar.gz\nNothing was uploaded." in made.text
    assert len(made.files) == len(release_files(TAG, TAG)) - 2


def test_a_published_name(folder: Path) -> None:
    with pytest.raises(BuildError, match=r"release v0.18.0 exists: a published release never changes"):
        plan(folder, published=("v0.18.0",))
    with pytest.raises(BuildError, match=r"would go back: v0.19.0"):
        plan(folder, published=("v0.19.0",))


def test_a_moved_tag(folder: Path) -> None:
    with pytest.raises(BuildError, match=f"upstream's tag v0.18.0 moved\n    built {COMMIT}\n    now {'2' * 40}"):
        plan(folder, commit="2" * 40)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"native_commit": "2" * 40}, "the bundles of android-arm64 and linux-x64 are of different releases\n    native"),
        ({"lock": "0" * 40}, "are of different releases\n    upstream.commit\n    upstream.developmentIdentity"),
        ({"local_trees": ["litert_lm"]}, "are not for publishing\n    linux-x64: local trees litert_lm"),
        ({"link_mode_override": "dynamic"}, "linux-x64: link mode dynamic"),
        ({"toolchain": TOOLCHAIN}, "linux-x64: built by gcc, but releases are built by zig"),
        ({"facts": NEWER}, "linux-x64: needs glibc 2.36, above 2.28"),
    ],
)
def test_one_bundle_that_differs(folder: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    made = request(tmp_path, "linux-x64")
    if "lock" in changes:
        changes = {"lock": lock_file(tmp_path, TAG, changes["lock"])}
    with pytest.MonkeyPatch.context() as patch:
        pin_nothing(patch)
        make_bundle(replace(made, **changes, output=folder / "linux-x64"), lenient)
    with pytest.raises(BuildError, match=message):
        plan(folder)


def test_a_damaged_bundle(folder: Path) -> None:
    path = folder / "linux-x64" / "litert-lm-native-runtime-linux-x64-v0.18.0.tar.gz"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BuildError, match=r"linux-x64-v0.18.0.tar.gz: is truncated"):
        plan(folder)


def test_upstreams_assets_must_be_there(built: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"official=: upstream's release assets are absent"):
        assemble(built / "bundles", TAG, tmp_path)


def test_tags_of_a_repository(tmp_path: Path) -> None:
    def git(*argv: str) -> str:
        setting = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        return subprocess.run(["git", *setting, *argv], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    git("tag", "light")
    git("tag", "-a", "heavy", "-m", "annotated")
    head = git("rev-parse", "HEAD")
    assert remote_tags(str(tmp_path)) == {"light": head, "heavy": head}
    with pytest.raises(BuildError, match=r"nowhere: cannot list the tags"):
        remote_tags(str(tmp_path / "nowhere"))
