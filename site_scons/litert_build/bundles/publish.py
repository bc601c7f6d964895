"""Owns whole releases: what is made of the bundles of all targets, and whether it may be published.

plan = release_plan(Path("bundles"), "v0.18.0-1", published=remote_tags(native), upstream=remote_tags(upstream))
print(plan.text)        # nothing is uploaded here, nor anywhere in this project

`folder` holds what the jobs of the matrix left, in any subfolders. assemble() makes the archives that need several targets.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from litert_build.bundles import checksums, manifest
from litert_build.bundles.apple import Platform, Slice, Tree, library_slice, xcframework
from litert_build.bundles.archive import Content, source_date_epoch, write_bytes, write_tar_gz, write_zip
from litert_build.bundles.bundle import Judge
from litert_build.bundles.layout import (
    PACKAGE,
    TARGETS,
    layout,
    release_files,
    runtime_archive,
    sdk_archive,
    sidecars,
    xcframework_archive,
    xcframework_modules,
)
from litert_build.bundles.release import ReleaseName, check_history, parse_release
from litert_build.bundles.verify import unpack, verify_bundle
from litert_build.bundles.xcframework import verify_xcframework
from litert_build.checks.gate import check_bundle
from litert_build.errors import BuildError
from litert_build.policy.targets import Target, find_target

_SLICES: tuple[tuple[str, Platform], ...] = (("ios-arm64", "ios"), ("ios-arm64-sim", "ios-sim"))


@dataclass(frozen=True)
class ReleasePlan:
    """A release that may be published: its files by name, and the manifest and sums over all of them; `left_out` is of targets
    that are not released."""

    name: ReleaseName
    files: Mapping[str, Path]
    digests: Mapping[str, str]
    manifest: Mapping[str, Any]
    left_out: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        upstream = self.manifest["upstream"]
        kind = f"{self.name.channel} {self.name.kind}" + (", pre-release" if self.name.prerelease else "")
        lines = [
            f"Release {self.name.tag} ({kind}) of {upstream['repository']} {upstream['tag'] or ''} {upstream['commit']}".replace("  ", " ")
        ]
        lines += [f"  {self.digests[name]}  {path.stat().st_size:>12,}  {name}" for name, path in self.files.items()]
        lines += [f"  not part of a release: {name}" for name in self.left_out]
        return "\n".join([*lines, "Nothing was uploaded."])

    def write(self, output: Path) -> None:
        """Write manifest.json and SHA256SUMS of the whole release into `output`."""
        text = manifest.manifest_text(self.manifest).encode()
        write_bytes(output / manifest.NAME, text)
        inner = {artifact["path"]: artifact["sha256"] for artifact in self.manifest["artifacts"]}
        checksums.write_sums(output / checksums.NAME, {**inner, **self.digests, manifest.NAME: checksums.sha256_of(text)})


def release_plan(
    folder: Path, tag: str, *, published: Iterable[str], upstream: Mapping[str, str], gate: Judge = check_bundle
) -> ReleasePlan:
    """Return the plan to publish release `tag` from what lies in `folder`.

    `published` are the tags of the native repository, `upstream` maps the tags of upstream's to commits. Raises BuildError where a bundle
    does not verify, the matrix or a file is missing, bundles differ in what they were made of, the name is taken or goes back, the tag
    moved, a bundle is of sources that nobody else has or was not built as releases are.
    """
    name = parse_release(tag)
    check_history(name, published)
    found = _find(folder, tag)
    bundles = {target: verify_bundle(found[runtime_archive(target, tag)], gate).manifest for target in _present(found, folder, tag)}
    merged = merge_manifests(list(bundles.values()), str(folder))
    _check_sources(merged, upstream, str(folder))
    compatibility, official = merged["upstream"]["compatibilityTag"], merged["upstream"]["tag"] is not None
    wanted = [file for file in release_files(tag, compatibility, official=official) if file not in (manifest.NAME, checksums.NAME)]
    absent = [file for file in wanted if file not in found]
    if absent:
        raise BuildError(f"files of release {tag} are absent", where=str(folder), notes=absent, mend="run scons release-assemble")
    beside = {file for target in TARGETS for file in (sdk_archive(target, tag), *sidecars(target, tag))}
    files = {file: found[file] for file in sorted(found) if file in wanted or file in beside}
    for module in xcframework_modules(compatibility):
        if xcframework_archive(module, tag) in files:
            verify_xcframework(files[xcframework_archive(module, tag)])
    digests = {file: checksums.sha256_file(path) for file, path in files.items()}
    merged["artifacts"] += [_archive_artifact(merged, tag, file, digests[file]) for file in wanted if "-runtime-" not in file]
    manifest.check_manifest(merged, str(folder))
    return ReleasePlan(name, files, digests, merged, tuple(sorted(set(found) - set(files))))


def _find(folder: Path, tag: str) -> dict[str, Path]:
    """The files of a release under a folder, by name: everything whose name holds the tag. Two of one name are refused."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob(f"{PACKAGE}-*-{tag}.*")):
        if path.name in found:
            raise BuildError(
                f"two files are named {path.name}", notes=[str(found[path.name]), str(path)], where=str(folder), mend="keep the right one"
            )
        found[path.name] = path
    return found


def _present(found: Mapping[str, Path], folder: Path, tag: str) -> tuple[str, ...]:
    missing = [target for target in TARGETS if runtime_archive(target, tag) not in found]
    if missing:
        raise BuildError(
            f"the matrix of {tag} is partial: {len(TARGETS) - len(missing)} of {len(TARGETS)} targets",
            where=str(folder),
            notes=[f"absent: {runtime_archive(target, tag)}" for target in missing],
            mend="build the absent targets; a release holds all of them",
        )
    return TARGETS


def merge_manifests(parts: list[Mapping[str, Any]], where: str) -> dict[str, Any]:
    """Return one manifest for bundles of one release. Raises BuildError where they differ in what they were made of."""
    first = parts[0]
    for part in parts[1:]:
        differ = [key for key in ("release", "native", "abi", "capabilities") if part[key] != first[key]]
        differ += [
            f"upstream.{key}" for key in first["upstream"] if key != "prebuiltOverrides" and part["upstream"][key] != first["upstream"][key]
        ]
        if differ:
            names = [next(iter(other["build"])) for other in (first, part)]
            raise BuildError(
                f"the bundles of {names[0]} and {names[1]} are of different releases", where=where, notes=differ, mend="build them again"
            )
    overrides = [row for part in parts for row in part["upstream"]["prebuiltOverrides"]]
    return {
        **first,
        "upstream": {**first["upstream"], "prebuiltOverrides": overrides},
        "platforms": [row for part in parts for row in part["platforms"]],
        "artifacts": [row for part in parts for row in part["artifacts"]],
        "realModelSmokes": [row for part in parts for row in part["realModelSmokes"]],
        "build": {target: build for part in parts for target, build in part["build"].items()},
    }


def _check_sources(merged: Mapping[str, Any], tags: Mapping[str, str], where: str) -> None:
    """Raise BuildError where the sources are not those that everybody has: a moved or absent tag, a local tree, no commit,
    or where a bundle was not built as releases are."""
    tag, commit = merged["upstream"]["tag"], merged["upstream"]["commit"]
    if tag is not None and tags.get(tag) != commit:
        raise BuildError(
            f"upstream's tag {tag} moved" if tag in tags else f"upstream has no tag {tag}",
            where=where,
            notes=[f"built {commit}", f"now {tags.get(tag, 'absent')}"],
            mend=f"read what changed, then run scons lock ref={tag} and build again",
        )
    faults = [f"{target}: local trees {', '.join(build['localTrees'])}" for target, build in merged["build"].items() if build["localTrees"]]
    faults += [f"{target}: link mode {build['linkModeOverride']}" for target, build in merged["build"].items() if build["linkModeOverride"]]
    faults += [fault for target, build in merged["build"].items() for fault in _unfit(find_target(target), build)]
    faults += [] if merged["native"]["commit"] else ["native.commit: absent"]
    if faults:
        raise BuildError(
            "these bundles are not for publishing", where=where, notes=faults, mend="build from the lock, with the release toolchain"
        )


def _unfit(row: Target, build: Mapping[str, Any]) -> list[str]:
    """What keeps a bundle from running where its target's row promises it: another toolchain than the row's, or a newer glibc."""
    faults = []
    if build["toolchain"]["name"] != row.release_toolchain:
        faults.append(f"{row.name}: built by {build['toolchain']['name']}, but releases are built by {row.release_toolchain}")
    if row.glibc and build["glibcFloor"] and Version(build["glibcFloor"]) > Version(row.glibc):
        faults.append(f"{row.name}: needs glibc {build['glibcFloor']}, above {row.glibc}")
    return faults


def _archive_artifact(merged: Mapping[str, Any], tag: str, file: str, digest: str) -> dict[str, Any]:
    return {
        "runtime": "archive",
        "platform": None,
        "arch": None,
        "path": f"dist/{file}",
        "fileName": file,
        "sha256": digest,
        "upstreamTag": merged["upstream"]["tag"],
        "upstreamCommit": merged["upstream"]["commit"],
        "releaseTag": tag,
        "accelerators": [],
    }


def assemble(
    folder: Path, tag: str, output: Path, *, official: Path | None = None, headers: Mapping[str, Content] | None = None
) -> list[Path]:
    """Make what needs several targets' bundles: the prebuilts archive, the XCFrameworks, and the archive of upstream's own assets.

    `official` is a folder with those assets; `headers` make LiteRtLm a module. Returns the files made, in `output`.
    """
    found = _find(folder, tag)
    targets = _present(found, folder, tag)
    epoch, made = source_date_epoch(), list[Path]()
    with tempfile.TemporaryDirectory(prefix="assemble-") as scratch:
        root = Path(scratch)
        for target in targets:
            content, _ = unpack(found[runtime_archive(target, tag)], root)
        compatibility, stable = content["upstream"]["compatibilityTag"], content["upstream"]["tag"] is not None
        prebuilts = output / f"{PACKAGE}-prebuilts-{tag}.tar.gz"
        write_tar_gz(prebuilts, _prebuilts(root, compatibility, stable), epoch=epoch)
        made.append(prebuilts)
        for module in xcframework_modules(compatibility):
            if module.startswith("CLite") and not stable:
                continue
            tree = xcframework(module, _slices(module, root, tag, headers if module == "LiteRtLm" else None))
            made.append(output / xcframework_archive(module, tag))
            write_zip(made[-1], tree.files, tree.links, epoch=epoch)
    if stable:
        made.append(output / f"{PACKAGE}-official-assets-{tag}.tar.gz")
        write_tar_gz(made[-1], _official(official), epoch=epoch)
    return made


def _prebuilts(root: Path, compatibility: str, official: bool) -> dict[str, Content]:
    members: dict[str, Content] = {}
    for target in TARGETS:
        rows = layout(target, compatibility, official=official)
        for row in rows.companions:
            path = root / rows.folder / row.file
            files = sorted(inner for inner in path.rglob("*") if inner.is_file()) if path.is_dir() else [path]
            members |= {inner.relative_to(root).as_posix(): inner for inner in files if row.source == "prebuilt"}
    return members


def _slices(module: str, root: Path, tag: str, headers: Mapping[str, Content] | None) -> list[Slice]:
    """The slices of an XCFramework from the unpacked bundles: iOS frameworks as they are, or the macOS libraries made universal."""
    if module == "CLiteRTLMMac":
        libraries = [root / "macos" / arch / "libCLiteRTLM_mac.dylib" for arch in ("arm64", "x64")]
        return [library_slice(module, libraries, "macos", version=tag)]
    slices = []
    for target, platform in _SLICES:
        folder = root / target.replace("-", "/", 1) / f"{module}.framework"
        made = library_slice(module, [folder / module], platform, version=tag, headers=headers)
        carried = {path.relative_to(folder.parent).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        slices.append(Slice(platform, made.arches, Tree({**made.tree.files, **carried})))
    return slices


def _official(folder: Path | None) -> dict[str, Content]:
    files = sorted(path for path in folder.iterdir() if path.is_file()) if folder and folder.is_dir() else []
    if not files:
        raise BuildError(
            "upstream's release assets are absent", where="official=", mend="name the folder that holds CLiteRTLM*.xcframework.zip"
        )
    return {f"official/{path.name}": path for path in files}


def remote_tags(repository: str) -> dict[str, str]:
    """Return tag -> commit of a Git repository (address or path), annotated tags peeled. Raises BuildError where it cannot be asked."""
    argv = ["git", "ls-remote", "--tags", repository]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise BuildError("cannot list the tags", where=repository, notes=done.stderr.splitlines(), mend="check the address and the network")
    tags: dict[str, str] = {}
    for line in done.stdout.splitlines():
        commit, _, name = line.partition("\t")
        tags[name.removeprefix("refs/tags/").removesuffix("^{}")] = commit
    return tags
