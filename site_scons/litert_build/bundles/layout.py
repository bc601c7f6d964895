"""Owns the layout of bundles: archive and module names, and which files a bundle of a target and version holds.

layout("linux-x64", "v0.18.0").members     # ('linux/x64/libGemmaModelConstraintProvider.so', ..., 'linux/x64/libLiteRtLm.so', ...)

Consumers rely on these names; tests/unit/golden/bundles holds them for v0.16 to v0.18.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.version import Version

from litert_build.errors import BuildError
from litert_build.policy.companions import Companion, companions

PACKAGE = "litert-lm-native"
TARGETS = (
    "android-arm64", "android-x64", "ios-arm64", "ios-arm64-sim", "linux-arm64", "linux-x64", "macos-arm64", "macos-x64", "windows-x64",
)  # fmt: skip
HOSTS = {
    "android": "libLiteRtLm.so",
    "ios": "LiteRtLm.framework",
    "linux": "libLiteRtLm.so",
    "macos": "libLiteRtLm.dylib",
    "windows": "LiteRtLm.dll",
}
XCFRAMEWORKS = ("CLiteRTLM", "CLiteRTLMMac", "LiteRtLm")
XCFRAMEWORKS_FROM_0_16 = ("LiteRtMetalAccelerator", "LiteRtTopKMetalSampler")


@dataclass(frozen=True)
class Layout:
    """What a bundle of one target holds: the host and its companions, all in the archive's one folder `<platform>/<arch>`."""

    platform: str
    arch: str
    host: str
    companions: tuple[Companion, ...]

    @property
    def folder(self) -> str:
        return f"{self.platform}/{self.arch}"

    @property
    def files(self) -> tuple[str, ...]:
        """The names in the folder, sorted: files, and `.framework` folders."""
        return tuple(sorted([self.host, *(row.file for row in self.companions)]))

    @property
    def members(self) -> tuple[str, ...]:
        """The paths in the archive; a `.framework` stands for what is in it."""
        return tuple(f"{self.folder}/{name}" for name in self.files)

    def owner(self, inner: str) -> str:
        """Return which of `files` the path `inner` (relative to the folder) belongs to, or the empty string."""
        top = inner.partition("/")[0]
        if top not in self.files or (top.endswith(".framework") != ("/" in inner)):
            return ""
        return top


def layout(target: str, compatibility: str, *, official: bool = True, host: str = "") -> Layout:
    """Return the layout of `target` under the rules of release `compatibility`; only the host where that is empty.

    `host` is the file name of a host that is not upstream's.
    """
    platform, _, arch = target.partition("-")
    return Layout(platform, arch, host or HOSTS[platform], companions(target, compatibility, official=official))


def library_in(name: str) -> str:
    """Return the path of the library in a name of a layout: the name itself, or the binary in a framework."""
    return f"{name}/{name.removesuffix('.framework')}" if name.endswith(".framework") else name


def check_inventory(rows: Layout, found: Iterable[str], where: str) -> None:
    """Raise BuildError that lists what `found` (paths relative to the folder) lacks of the layout and what it has beyond it."""
    owners: dict[str, str] = {inner: rows.owner(inner) for inner in found}
    absent = [name for name in rows.files if name not in owners.values()]
    absent += [
        f"{name}/{part}"
        for name in rows.files
        if name.endswith(".framework") and name not in absent
        for part in (name.removesuffix(".framework"), "Info.plist")
        if f"{name}/{part}" not in owners
    ]
    extra = [inner for inner, owner in owners.items() if not owner]
    if absent or extra:
        raise BuildError(
            f"the files of the {rows.platform}-{rows.arch} bundle are not those of its layout",
            where=where,
            notes=[*(f"absent: {name}" for name in sorted(absent)), *(f"extra: {name}" for name in sorted(extra))],
            mend="add the absent files and remove the extra ones; policy/companions.py says what ships with which version",
        )


def runtime_archive(target: str, tag: str) -> str:
    return f"{PACKAGE}-runtime-{target}-{tag}.tar.gz"


def sdk_archive(target: str, tag: str) -> str:
    return f"{PACKAGE}-sdk-{target}-{tag}.tar.gz"


def sidecars(target: str, tag: str) -> tuple[str, str, str]:
    """Return the names of bill of materials, NOTICE and provenance of one bundle."""
    stem = f"{PACKAGE}-runtime-{target}-{tag}"
    return f"{stem}.cdx.json", f"{stem}.NOTICE.txt", f"{stem}.intoto.json"


def bundle_files(target: str, tag: str) -> tuple[str, ...]:
    """Return the names of all files of one bundle, the runtime archive first; frameworks have no SDK archive."""
    sdk = () if target.startswith("ios") else (sdk_archive(target, tag),)
    return (runtime_archive(target, tag), "manifest.json", "SHA256SUMS", *sdk, *sidecars(target, tag))


def xcframework_archive(module: str, tag: str) -> str:
    return f"{PACKAGE}-apple-{module}-xcframework-{tag}.zip"


def xcframework_modules(compatibility: str) -> tuple[str, ...]:
    """Return the modules that ship as XCFrameworks under the rules of release `compatibility`."""
    return XCFRAMEWORKS + (XCFRAMEWORKS_FROM_0_16 if Version(compatibility) >= Version("v0.16.0") else ())


def release_files(tag: str, compatibility: str, *, official: bool = True) -> tuple[str, ...]:
    """Return the names of all files of a whole release, sorted."""
    names = [runtime_archive(target, tag) for target in TARGETS]
    names += [
        xcframework_archive(module, tag) for module in xcframework_modules(compatibility) if official or not module.startswith("CLite")
    ]
    names += [f"{PACKAGE}-prebuilts-{tag}.tar.gz", "manifest.json", "SHA256SUMS"]
    names += [f"{PACKAGE}-official-assets-{tag}.tar.gz"] if official else []
    return tuple(sorted(names))
