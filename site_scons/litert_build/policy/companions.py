"""Owns what ships beside the host library: companions by target and version, pinned overrides of them, the DirectX compiler pair.

[row.file for row in companions("linux-x64", "v0.18.0")]     # ['libGemmaModelConstraintProvider.so', 'libLiteRt.so', ...]

A companion is not built here: it comes prebuilt from upstream's tree, from upstream's release or from Microsoft's, and consumers preload
it. A lock that is no release of upstream (the sample, a checkout) has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

Source = Literal["prebuilt", "official", "dxc"]

UPSTREAM = "google-ai-edge/LiteRT-LM"
ACCELERATORS = ("gpu", "metal", "opencl", "webgpu")

# Upstream's names of its prebuilt/ folders. There is none for macos-x64.
PREBUILT_FOLDERS = {
    "android-arm64": "android_arm64",
    "android-x64": "android_x86_64",
    "ios-arm64": "ios_arm64",
    "ios-arm64-sim": "ios_sim_arm64",
    "linux-arm64": "linux_arm64",
    "linux-x64": "linux_x86_64",
    "macos-arm64": "macos_arm64",
    "windows-x64": "windows_x86_64",
}

LINUX = ("linux-x64", "linux-arm64")
ANDROID = ("android-arm64", "android-x64")
IOS = ("ios-arm64", "ios-arm64-sim")
MACOS = ("macos-arm64", "macos-x64")
WINDOWS = ("windows-x64",)


@dataclass(frozen=True)
class Companion:
    """One file (or `.framework` folder) of a bundle. It ships for versions from `since` up to and without `before`; empty is no bound.

    `source` says where it comes from: "prebuilt" is upstream's prebuilt/ folder, "official" an asset of upstream's release, "dxc" the
    pinned DirectX Shader Compiler archive. `sha256` is set where the bytes are pinned for every version.
    """

    file: str
    targets: tuple[str, ...]
    source: Source = "prebuilt"
    since: str = ""
    before: str = ""
    sha256: str = ""

    @property
    def accelerators(self) -> tuple[str, ...]:
        """The accelerators the file serves, in the manifest's words."""
        name = self.file.lower()
        found = tuple(word for word in ("metal", "opencl", "webgpu") if word in name)
        return found or (("gpu",) if "gpuaccelerator" in name else ())


@dataclass(frozen=True)
class Override:
    """One companion that is taken from another commit of upstream than the release's own, with the digest it must have."""

    target: str
    file: str
    since: str
    until: str
    commit: str
    sha256: str
    why: str

    @property
    def source_path(self) -> str:
        """The path in upstream's tree at `commit`."""
        return f"prebuilt/{PREBUILT_FOLDERS[self.target]}/{self.file}"

    @property
    def url(self) -> str:
        """Where the file is served as it is; the tree itself holds a Git LFS pointer."""
        return f"https://media.githubusercontent.com/media/{UPSTREAM}/{self.commit}/{self.source_path}"


@dataclass(frozen=True)
class Download:
    """One pinned archive that companions are taken from."""

    url: str
    sha256: str


# The repository of a lock that holds upstream's release assets, each a downloaded file of its own (`link_files`), and the asset by system.
OFFICIAL_REPOSITORY = "litert_lm_official"
OFFICIAL_ASSETS = {"ios": "CLiteRTLM.xcframework.zip", "macos": "CLiteRTLM_mac.xcframework.zip"}

DXC = Download(
    "https://github.com/microsoft/DirectXShaderCompiler/releases/download/v1.9.2602/dxc_2026_02_20.zip",
    "a1e89031421cf3c1fca6627766ab3020ca4f962ac7e2caa7fab2b33a8436151e",
)
DXC_MEMBERS = {
    "dxcompiler.dll": "bin/x64/dxcompiler.dll",
    "dxil.dll": "bin/x64/dxil.dll",
    "DXC-LICENSE-LLVM.txt": "LICENSE-LLVM.txt",
    "DXC-LICENSE-MIT.txt": "LICENSE-MIT.txt",
    "DXC-LICENSE-MS.txt": "LICENSE-MS.txt",
}


def _elf(targets: tuple[str, ...], *names: str, since: str = "") -> list[Companion]:
    return [Companion(f"lib{name}.so", targets, since=since) for name in names]


COMPANIONS: tuple[Companion, ...] = (
    *_elf(LINUX + ANDROID, "GemmaModelConstraintProvider", "LiteRtTopKWebGpuSampler", "LiteRtWebGpuAccelerator"),
    # Dawn was inside the accelerator before.
    *_elf(LINUX + ANDROID, "webgpu_dawn", since="v0.14.0"),
    *_elf(LINUX, "LiteRt"),
    *_elf(ANDROID, "LiteRtGpuAccelerator", "LiteRtOpenClAccelerator", "LiteRtTopKOpenClSampler"),
    Companion("libGemmaModelConstraintProvider.dylib", ("macos-arm64",)),
    Companion("libLiteRt.dylib", ("macos-arm64",)),
    Companion("libLiteRtMetalAccelerator.dylib", ("macos-arm64",)),
    Companion("libLiteRtTopKMetalSampler.dylib", ("macos-arm64",)),
    Companion("libLiteRtTopKWebGpuSampler.dylib", ("macos-arm64",)),
    Companion("libLiteRtWebGpuAccelerator.dylib", ("macos-arm64",)),
    Companion("libwebgpu_dawn.dylib", ("macos-arm64",), since="v0.14.0"),
    Companion("libCLiteRTLM_mac.dylib", MACOS, source="official"),
    Companion("CLiteRTLM.framework", IOS, source="official"),
    Companion("LiteRtMetalAccelerator.framework", IOS, since="v0.16.0"),
    Companion("LiteRtTopKMetalSampler.framework", IOS, since="v0.16.0"),
    Companion("GemmaModelConstraintProvider.framework", IOS, before="v0.17.0"),
    Companion("libGemmaModelConstraintProvider.dll", WINDOWS),
    Companion("libLiteRt.dll", WINDOWS),
    Companion("libLiteRtTopKWebGpuSampler.dll", WINDOWS),
    Companion("libLiteRtWebGpuAccelerator.dll", WINDOWS),
    Companion("libwebgpu_dawn.dll", WINDOWS, since="v0.14.0"),
    Companion("webgpu_dawn.dll", WINDOWS, since="v0.18.0"),
    # Dawn opens the pair by name; dxil.dll signs what dxcompiler.dll makes, and each ships under its own licence.
    Companion("dxcompiler.dll", WINDOWS, "dxc", "v0.17.0", sha256="b86a738ece4c05dbe2d9bbb29668a2ccb28a0740773c9b027cdc61e8d07b4d75"),
    Companion("dxil.dll", WINDOWS, "dxc", "v0.17.0", sha256="058f2f52a680c38b223a5615b7df969def21f77e577562e5099d971dede992de"),
    Companion("DXC-LICENSE-LLVM.txt", WINDOWS, "dxc", "v0.17.0", sha256="729615317e28dd03907e46f0fc3b5e88f7853cee61d1a1471d2749335516b46f"),
    Companion("DXC-LICENSE-MIT.txt", WINDOWS, "dxc", "v0.17.0", sha256="903df5512f7d02609fed0c780a9b704f5a3eeb6e4d84ebe42a29845c81899a3c"),
    Companion("DXC-LICENSE-MS.txt", WINDOWS, "dxc", "v0.17.0", sha256="734f72f239fe7b07b4c7203f294c1a7ce27095687278bab7e56d630d7c672963"),
)

_DAWN_COMMIT = "f73637c57f0940b53da184e0d5adfc52a4e55eef"
_DAWN_WHY = "the release's own Dawn loses the Vulkan device on Mali-G715"
_SAMPLER_COMMIT = "8bee4dddc3794958b4bdd8a3a4ba75bcb71f6fbb"
_SAMPLER_WHY = "the release's own OpenCL sampler lacks functions of the sampler API"

OVERRIDES: tuple[Override, ...] = (
    Override(
        "android-arm64", "libLiteRtTopKOpenClSampler.so", "v0.15.0", "v0.15.0", _SAMPLER_COMMIT,
        "4404dc68786460602685cab62ddfa29035e9cfc38bb4550dec15abaaa1302a82", _SAMPLER_WHY,
    ),
    Override(
        "android-x64", "libLiteRtTopKOpenClSampler.so", "v0.15.0", "v0.15.0", _SAMPLER_COMMIT,
        "747ca5ed6a175fb4c2854ccee1d6ad97f11fe14d9e0d2b0c1710e1435376d51e", _SAMPLER_WHY,
    ),
    Override(
        "android-arm64", "libwebgpu_dawn.so", "v0.15.0", "v0.18.0", _DAWN_COMMIT,
        "7282aacdb076ce89f0c9d93107a145b991b99eb1dfbd5b5746dd0d99466ab3c3", _DAWN_WHY,
    ),
    Override(
        "android-x64", "libwebgpu_dawn.so", "v0.15.0", "v0.18.0", _DAWN_COMMIT,
        "fcfb9a0b902f7dd3f81f01295f381c10b22a2d5774f95ee0db813f284a0ab087", _DAWN_WHY,
    ),
)  # fmt: skip


def is_upstream_release(ref: str) -> bool:
    """Whether `ref` names sources of upstream: a release tag vX.Y.Z or a development identity g<12 hex>."""
    return bool(re.fullmatch(r"v\d+\.\d+\.\d+|g[0-9a-f]{12}", ref))


def companions(target: str, compatibility: str, *, official: bool = True) -> tuple[Companion, ...]:
    """Return the companions of `target` for the rules of release `compatibility` (vX.Y.Z), by file name; none where it is empty.

    `official` is False for a development build: upstream's release assets exist for a tag only.
    """
    if not compatibility:
        return ()
    version = Version(compatibility)
    rows = [
        row
        for row in COMPANIONS
        if target in row.targets
        and (not row.since or version >= Version(row.since))
        and (not row.before or version < Version(row.before))
        and (official or row.source != "official")
    ]
    return tuple(sorted(rows, key=lambda row: row.file))


def official_assets(targets: Iterable[str], release: str) -> dict[str, str]:
    """Return the assets of upstream's release vX.Y.Z that companions of the targets are taken from: file name -> address."""
    systems = {target.partition("-")[0] for target in targets if any(row.source == "official" for row in companions(target, release))}
    found = (OFFICIAL_ASSETS[system] for system in sorted(systems))
    return {name: f"https://github.com/{UPSTREAM}/releases/download/{release}/{name}" for name in found}


def overrides(target: str, compatibility: str) -> tuple[Override, ...]:
    """Return the overrides that hold for `target` at release `compatibility`."""
    if not compatibility:
        return ()
    version = Version(compatibility)
    return tuple(row for row in OVERRIDES if row.target == target and Version(row.since) <= version <= Version(row.until))
