"""Owns the folder of companions that make_bundle takes: every file of the layout, from where policy/companions.py says it comes.

stage_companions("windows-x64", "v0.18.0", prebuilt=tree / "prebuilt", fetch=fetcher.fetch, output=Path("companions"))

Overrides and the DirectX compiler come by digest through `fetch`; upstream's own release assets from a folder.
"""

from __future__ import annotations

import plistlib
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from litert_build.binaries.reader import read_binary
from litert_build.bundles.apple import Platform, framework
from litert_build.bundles.archive import Content, write_bytes
from litert_build.bundles.formats import check_library
from litert_build.bundles.layout import layout
from litert_build.errors import BuildError
from litert_build.policy.companions import (
    DXC,
    DXC_MEMBERS,
    OFFICIAL_ASSETS,
    OFFICIAL_REPOSITORY,
    PREBUILT_FOLDERS,
    Companion,
    Override,
    overrides,
)

Fetch = Callable[[str, Sequence[str], str], Path]


def stage_companions(target: str, compatibility: str, *, prebuilt: Path, fetch: Fetch, output: Path, official: Path | None = None) -> Path:
    """Fill `output` with the companions of `target` and return it. `prebuilt` is upstream's folder of that name, `official` one with its
    release assets, or None for a development build, which has none.

    Raises BuildError that names the file which is absent, a Git LFS pointer, or of another platform.
    """
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    rows = layout(target, compatibility, official=official is not None)
    replaced = {row.file: row for row in overrides(target, compatibility)}
    for row in rows.companions:
        if row.source == "dxc":
            _from_dxc(row.file, fetch, output)
        elif row.source == "official":
            _from_official(row, target, official or Path(), output)
        elif row.file in replaced:
            _place(output, row.file, _override(replaced[row.file], fetch))
        else:
            _from_prebuilt(row, target, compatibility, prebuilt, output)
    if rows.platform == "linux":
        for row in rows.companions:
            normalise_elf(output / row.file)
    return output


def _place(output: Path, name: str, content: Content) -> None:
    write_bytes(output / name, content if isinstance(content, bytes) else content.read_bytes())


def _override(row: Override, fetch: Fetch) -> Path:
    return fetch(row.file, [row.url], row.sha256)


def _from_prebuilt(row: Companion, target: str, compatibility: str, prebuilt: Path, output: Path) -> None:
    platform, _, arch = target.partition("-")
    module = row.file.removesuffix(".framework")
    name = row.file if module == row.file else f"lib{module}.dylib"
    source = prebuilt / PREBUILT_FOLDERS[target] / name
    check_library(source, platform, arch)
    if module == row.file:
        _place(output, name, source)
        return
    kind: Platform = "ios-sim" if arch.endswith("-sim") else "ios"
    for inner, content in framework(module, source, kind, version=compatibility).files.items():
        _place(output, inner, content)


def _from_dxc(name: str, fetch: Fetch, output: Path) -> None:
    archive = fetch("DirectX Shader Compiler", [DXC.url], DXC.sha256)
    with zipfile.ZipFile(archive) as files:
        try:
            _place(output, name, files.read(DXC_MEMBERS[name]))
        except KeyError as error:
            raise BuildError(f"holds no {DXC_MEMBERS[name]}", where=DXC.url, mend="correct DXC_MEMBERS in policy/companions.py") from error


def _from_official(row: Companion, target: str, folder: Path, output: Path) -> None:
    """Take one slice of an XCFramework of upstream's: the framework as it is for iOS, the library in it for macOS."""
    platform, _, arch = target.partition("-")
    archive = folder / OFFICIAL_ASSETS[platform]
    if not archive.is_file():
        raise BuildError(
            "is absent",
            where=str(archive),
            mend=f"name its folder with official=, or let the lock fetch it: a link file of repository {OFFICIAL_REPOSITORY}",
        )
    with zipfile.ZipFile(archive) as files:
        root = next(name for name in files.namelist() if name.count("/") == 1 and name.endswith("/Info.plist")).partition("/")[0]
        libraries = plistlib.loads(files.read(f"{root}/Info.plist"))["AvailableLibraries"]
        entry = _slice_for(libraries, platform, "simulator" if arch.endswith("-sim") else None, str(archive))
        inside = f"{root}/{entry['LibraryIdentifier']}/{entry['LibraryPath']}"
        if row.file.endswith(".framework"):
            for name in files.namelist():
                if name.startswith(f"{inside}/") and not name.endswith("/"):
                    _place(output, str(PurePosixPath(row.file) / name.removeprefix(f"{inside}/")), files.read(name))
        else:
            binary = entry.get("BinaryPath", entry["LibraryPath"])
            _place(output, row.file, files.read(f"{root}/{entry['LibraryIdentifier']}/{binary}"))


def _slice_for(libraries: list[dict[str, Any]], platform: str, variant: str | None, where: str) -> dict[str, Any]:
    for entry in libraries:
        if entry["SupportedPlatform"] == platform and entry.get("SupportedPlatformVariant") == variant:
            return entry
    raise BuildError(
        f"has no slice for {platform}{' ' + variant if variant else ''}", where=where, mend="take the assets of this very release"
    )


def normalise_elf(path: Path) -> None:
    """Give a Linux library its file name as SONAME and `$ORIGIN` as RUNPATH, so that the bundle finds its own files.

    Raises BuildError where patchelf is needed and not installed, or fails.
    """
    facts = read_binary(path)
    if facts.soname == path.name and facts.runpath == ("$ORIGIN",) and not facts.rpath:
        return
    if shutil.which("patchelf") is None:
        raise BuildError(
            f"has SONAME {facts.soname or 'none'} and RUNPATH {':'.join((*facts.runpath, *facts.rpath)) or 'none'}",
            where=str(path),
            mend="apt-get install patchelf, which sets both",
        )
    # One option a call: patchelf 0.14 carries out only one of several.
    for option in (["--set-rpath", "$ORIGIN"], ["--set-soname", path.name]):
        done = subprocess.run(["patchelf", *option, str(path)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(
                f"patchelf {option[0]} failed", where=str(path), notes=done.stderr.splitlines(), mend="fetch the library again"
            )
