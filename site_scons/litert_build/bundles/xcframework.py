"""Owns the second look at an XCFramework archive: that each slice holds what its name and its property list say.

print(verify_xcframework(Path("litert-lm-native-apple-LiteRtLm-xcframework-v0.18.0.zip")).text)
"""

from __future__ import annotations

import plistlib
import stat
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from litert_build.bundles.apple import ARCH_NAMES, Platform, check_minimum
from litert_build.bundles.formats import check_library, read_format
from litert_build.errors import BuildError

REMAKE = "make it again with scons release-assemble"
_PLATFORMS: dict[tuple[str, str], Platform] = {("ios", ""): "ios", ("ios", "simulator"): "ios-sim", ("macos", ""): "macos"}


@dataclass(frozen=True)
class XCFrameworkReport:
    """What was found, a line a slice."""

    archive: Path
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join([f"Verified {self.archive.name}", *(f"  ok  {line}" for line in self.lines)])


def verify_xcframework(archive: Path) -> XCFrameworkReport:
    """Check that every slice of an archive holds a library of the architectures and the platform it is listed for, with a minimum OS that
    the target's row allows. Raises BuildError that names the slice which does not, and files that belong to none."""
    with tempfile.TemporaryDirectory(prefix="xcframework-") as scratch:
        folder = Path(scratch)
        names = _extract(archive, folder)
        roots = {name.partition("/")[0] for name in names}
        plist = folder / min(roots, default="") / "Info.plist"
        if len(roots) != 1 or not plist.is_file():
            raise BuildError("holds no XCFramework", where=str(archive), mend=REMAKE)
        try:
            entries = plistlib.loads(plist.read_bytes())["AvailableLibraries"]
            slices = {entry["LibraryIdentifier"]: entry for entry in entries}
            lines = [_check_slice(plist.parent / name, entry) for name, entry in sorted(slices.items())]
        except (KeyError, TypeError, plistlib.InvalidFileException) as error:
            raise BuildError(f"has a property list without {error}", where=str(archive), mend=REMAKE) from error
        stray = [name for name in names if PurePosixPath(name).parts[1] not in (*slices, "Info.plist")]
        if stray or not slices:
            raise BuildError("holds files of no listed slice", where=str(archive), notes=stray, mend=REMAKE)
    return XCFrameworkReport(archive, tuple(lines))


def _extract(archive: Path, folder: Path) -> list[str]:
    """Unpack files and links; return their names. Raises BuildError for a damaged archive, and for a name or link that leaves it."""
    names = []
    try:
        with zipfile.ZipFile(archive) as files:
            for info in files.infolist():
                content = files.read(info)
                is_link = stat.S_ISLNK(info.external_attr >> 16)
                inner = PurePosixPath(info.filename)
                target = PurePosixPath(content.decode("utf-8", "replace")) if is_link else PurePosixPath()
                if inner.is_absolute() or ".." in (*inner.parts, *target.parts) or target.is_absolute():
                    raise BuildError(f"{info.filename} leaves the archive", where=str(archive), mend=REMAKE)
                if info.is_dir() or is_link:
                    continue
                (folder / inner).parent.mkdir(parents=True, exist_ok=True)
                (folder / inner).write_bytes(content)
                names.append(info.filename)
    except (OSError, zipfile.BadZipFile, EOFError, ValueError) as error:
        raise BuildError(f"is damaged: {error}", where=str(archive), mend=REMAKE) from error
    return names


def _check_slice(folder: Path, entry: Mapping[str, Any]) -> str:
    platform = _PLATFORMS.get((entry["SupportedPlatform"], entry.get("SupportedPlatformVariant", "")))
    binary = folder / entry["BinaryPath"]
    where = f"{folder.name}/{entry['BinaryPath']}"
    if platform is None or not binary.is_file():
        raise BuildError("has no library, or is of an unknown platform", where=where, mend=REMAKE)
    arches = sorted(arch for arch, name in ARCH_NAMES.items() if name in entry["SupportedArchitectures"])
    for arch in arches:
        check_library(binary, entry["SupportedPlatform"], arch)
    with binary.open("rb") as stream:
        found = read_format(stream.read(4096))
    held = sorted(found.arches) if found else []
    named = folder.name.removesuffix("-simulator").partition("-")[2]
    if held != arches or named != "_".join(ARCH_NAMES[arch] for arch in arches):
        raise BuildError(f"holds {', '.join(held)}, but is listed for {', '.join(arches)}", where=where, mend=REMAKE)
    return f"{folder.name}: minimum OS {check_minimum(binary, platform)}"
