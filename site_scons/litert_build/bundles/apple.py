"""Owns frameworks and XCFrameworks: their folders, property lists and module maps, laid out without Xcode.

tree = framework("LiteRtLm", Path("libLiteRtLm.dylib"), "ios", version="0.18.0")
tree.files["LiteRtLm.framework/Info.plist"]

Sources: Apple's "Framework Bundles" (flat on iOS, versioned on macOS) and "Information Property List"; the XCFramework keys as
`xcodebuild -create-xcframework` writes them. Signing is the user's: it needs their certificate.
"""

from __future__ import annotations

import plistlib
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from packaging.version import InvalidVersion, Version

from litert_build.binaries.reader import read_binary
from litert_build.bundles.archive import Content
from litert_build.bundles.formats import check_library, read_format
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target

Platform = Literal["ios", "ios-sim", "macos"]

IDENTIFIER = "io.github.leehack.litert-lm-native"
# The least that a property list says: App Store tools refuse frameworks for older systems.
PLIST_FLOOR = Version("15.0")
_NAMES = {"ios": "ios", "ios-sim": "ios-simulator", "macos": "macos"}
_ROWS = {"ios": "ios-arm64", "ios-sim": "ios-arm64-sim", "macos": "macos-arm64"}
_SUPPORTED = {"ios": "iPhoneOS", "ios-sim": "iPhoneSimulator", "macos": "MacOSX"}
ARCH_NAMES = {"x64": "x86_64", "arm64": "arm64"}


@dataclass
class Tree:
    """A folder that is not on disk: path -> file or content, and path -> target of a symbolic link."""

    files: dict[str, Content] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def place(self, folder: str, other: Tree) -> None:
        """Add all of `other` under `folder`."""
        self.files |= {f"{folder}/{name}": content for name, content in other.files.items()}
        self.links |= {f"{folder}/{name}": target for name, target in other.links.items()}


def check_minimum(path: Path, platform: Platform) -> Version:
    """Return the minimum OS of a library for `platform`. Raises BuildError where it is built for another one, states none or several, or
    needs a newer OS than the target's row allows."""
    facts = read_binary(path)
    wanted = _NAMES[platform]
    if facts.platform != wanted:
        raise BuildError(f"is built for {facts.platform or 'no platform'}, not {wanted}", where=str(path), mend=f"build it for {wanted}")
    try:
        minimum = Version(facts.minimum_os)
    except InvalidVersion as error:
        raise BuildError(
            f"states {facts.minimum_os or 'no minimum OS'}", where=str(path), mend="link it with one -platform_version"
        ) from error
    limit = find_target(_ROWS[platform]).minimum_os_limit
    if minimum > Version(limit):
        raise BuildError(
            f"needs {wanted} {minimum}, above {limit}", where=str(path), mend=f"build it with a minimum OS of {limit} or lower"
        )
    return minimum


def bundle_version(tag: str) -> str:
    """Return a version that a property list may hold (three numbers) for a release tag; 0.0.0 where it names a commit."""
    match = re.match(r"v?(\d+\.\d+\.\d+)", tag)
    return match[1] if match else "0.0.0"


def framework(module: str, binary: Path, platform: Platform, *, version: str, headers: Mapping[str, Content] | None = None) -> Tree:
    """Return `<module>.framework` around a library. With `headers` it is a Clang module that exports them.

    Raises BuildError where the library is for another platform or needs a newer OS than the store's rules allow.
    """
    minimum = check_minimum(binary, platform)
    content: dict[str, Content] = {module: binary}
    if headers:
        umbrella = "".join(f"#include <{module}/{name}>\n" for name in sorted(headers))
        content |= {f"Headers/{name}": header for name, header in headers.items()}
        content[f"Headers/{module}.h"] = umbrella.encode()
        content["Modules/module.modulemap"] = module_map(module).encode()
    plist = "Resources/Info.plist" if platform == "macos" else "Info.plist"
    content[plist] = info_plist(module, platform, version, minimum)
    root = f"{module}.framework"
    if platform != "macos":
        return Tree({f"{root}/{name}": part for name, part in content.items()})
    tops = sorted({name.partition("/")[0] for name in content})
    links = {f"{root}/{top}": f"Versions/Current/{top}" for top in tops} | {f"{root}/Versions/Current": "A"}
    return Tree({f"{root}/Versions/A/{name}": part for name, part in content.items()}, links)


def info_plist(module: str, platform: Platform, version: str, minimum: Version) -> bytes:
    """Return Info.plist of a framework."""
    values: dict[str, object] = {
        "CFBundleDevelopmentRegion": "en",
        "CFBundleExecutable": module,
        "CFBundleIdentifier": f"{IDENTIFIER}.{module}",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleName": module,
        "CFBundlePackageType": "FMWK",
        "CFBundleShortVersionString": bundle_version(version),
        "CFBundleSupportedPlatforms": [_SUPPORTED[platform]],
        "CFBundleVersion": bundle_version(version),
    }
    if platform == "macos":
        values["LSMinimumSystemVersion"] = str(minimum)
    else:
        values["MinimumOSVersion"] = str(max(PLIST_FLOOR, minimum))
    return plistlib.dumps(values)


def module_map(module: str) -> str:
    """Return the module map of a framework whose umbrella header is named after it (Clang "Modules", module map language)."""
    return f'framework module {module} {{\n  umbrella header "{module}.h"\n  export *\n  module * {{ export * }}\n}}\n'


@dataclass(frozen=True)
class Slice:
    """One platform of an XCFramework: its framework, and the architectures of the binary in it."""

    platform: Platform
    arches: tuple[str, ...]
    tree: Tree

    @property
    def identifier(self) -> str:
        """The folder of the slice, as Xcode names it: `ios-arm64_x86_64-simulator`."""
        system, _, variant = self.platform.partition("-")
        arches = "_".join(ARCH_NAMES[arch] for arch in sorted(self.arches))
        return f"{system}-{arches}" + ("-simulator" if variant else "")


def make_slice(
    module: str, binary: Path, platform: Platform, arch: str, *, version: str, headers: Mapping[str, Content] | None = None
) -> Slice:
    """Return one slice. Raises BuildError where the binary holds another architecture or platform than the slice is named after."""
    check_library(binary, platform.partition("-")[0], arch)
    return library_slice(module, [binary], platform, version=version, headers=headers)


def library_slice(
    module: str, binaries: Sequence[Path], platform: Platform, *, version: str, headers: Mapping[str, Content] | None = None
) -> Slice:
    """Return the slice of all `binaries`, one an architecture or one universal file (which may be given for each architecture)."""
    contents = list(dict.fromkeys(path.read_bytes() for path in binaries))
    tree = framework(module, binaries[0], platform, version=version, headers=headers)
    for path in binaries[1:]:
        check_minimum(path, platform)
    content = contents[0] if len(contents) == 1 else universal(contents)
    tree.files |= {name: content for name, part in tree.files.items() if part == binaries[0]}
    found = read_format(content[:4096])
    return Slice(platform, found.arches if found else (), tree)


def universal(thin: Sequence[bytes]) -> bytes:
    """Return a universal library of thin Mach-O ones, one an architecture, aligned to 16 KiB (mach-o/fat.h). Raises BuildError where two
    are of one architecture, or one is not thin."""
    cpus = [struct.unpack_from("<II", content, 4) for content in thin if content[:4] == b"\xcf\xfa\xed\xfe"]
    if len(set(cpus)) != len(thin):
        raise BuildError("a universal library needs one thin library an architecture", mend="give each architecture once")
    offset, header, body = 1 << 14, struct.pack(">II", 0xCAFEBABE, len(thin)), b""
    for (cpu, subtype), content in sorted(zip(cpus, thin, strict=True)):
        header += struct.pack(">5I", cpu, subtype, offset + len(body), len(content), 14)
        body += content + bytes(-len(content) % (1 << 14))
    return header.ljust(offset, b"\0") + body


def xcframework(module: str, slices: Sequence[Slice]) -> Tree:
    """Return `<module>.xcframework` of `slices`. Raises BuildError where two slices are of one platform, or there is none."""
    identifiers = [part.identifier for part in slices]
    if not slices or len({part.platform for part in slices}) != len(slices):
        raise BuildError(f"{module}.xcframework needs one slice a platform, not {identifiers or 'none'}", mend="name each platform once")
    tree, root = Tree(), f"{module}.xcframework"
    for part in slices:
        tree.place(f"{root}/{part.identifier}", part.tree)
    libraries = [_library(module, part) for part in sorted(slices, key=lambda part: part.identifier)]
    tree.files[f"{root}/Info.plist"] = plistlib.dumps(
        {"AvailableLibraries": libraries, "CFBundlePackageType": "XFWK", "XCFrameworkFormatVersion": "1.0"}
    )
    return tree


def _library(module: str, part: Slice) -> dict[str, object]:
    system, _, variant = part.platform.partition("-")
    inner = f"{module}.framework/Versions/A/{module}" if part.platform == "macos" else f"{module}.framework/{module}"
    entry: dict[str, object] = {
        "BinaryPath": inner,
        "LibraryIdentifier": part.identifier,
        "LibraryPath": f"{module}.framework",
        "SupportedArchitectures": [ARCH_NAMES[arch] for arch in sorted(part.arches)],
        "SupportedPlatform": system,
    }
    return entry | ({"SupportedPlatformVariant": "simulator"} if variant else {})
