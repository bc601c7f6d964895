"""Owns the second look at a bundle: everything that can be said of a runtime archive without the build that made it.

print(verify_bundle(Path("litert-lm-native-runtime-linux-x64-v0.18.0.tar.gz")).text)

The archive carries its own manifest (in the comment record of its pax header), so a single file can be judged; where manifest.json and
SHA256SUMS stand beside it, they must say the same.
"""

from __future__ import annotations

import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from litert_build.bundles import checksums, manifest
from litert_build.bundles.archive import GZIP_HEADER, write_tar
from litert_build.bundles.bundle import Judge, is_library, judge_libraries
from litert_build.bundles.formats import check_library
from litert_build.bundles.layout import Layout, check_inventory, layout, runtime_archive
from litert_build.bundles.signing import verify_signature
from litert_build.checks.gate import check_bundle
from litert_build.checks.model import GatePolicy, Waiver
from litert_build.errors import BuildError
from litert_build.policy.targets import Target, find_target

REMAKE = "fetch the archive again, or make the bundle again"


@dataclass(frozen=True)
class VerifyReport:
    """What was checked, a line each, and the manifest that the archive carries."""

    archive: Path
    lines: tuple[str, ...]
    manifest: Mapping[str, Any]

    @property
    def text(self) -> str:
        return "\n".join([f"Verified {self.archive.name}", *(f"  ok  {line}" for line in self.lines)])


def verify_bundle(archive: Path, gate: Judge = check_bundle) -> VerifyReport:
    """Check one runtime archive: container, manifest, sums, inventory, and `gate` on every library beside the others.

    Raises BuildError at the first thing that is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="verify-") as scratch:
        folder = Path(scratch)
        content, names = unpack(archive, folder)
        target = _target_of(content, archive)
        lines = [f"container: canonical gzip and tar, {len(names)} files", "manifest: schema 2, no field contradicts another"]
        lines.append(_check_sums(content, folder, names, archive))
        lines.append(_check_inventory(content, target, names, archive))
        lines += _check_libraries(content, find_target(target), folder, names, gate)
        lines += _check_beside(content, archive)
    return VerifyReport(archive, tuple(lines), content)


def unpack(archive: Path, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Extract the members into `folder`; return the manifest and their names. A tar that write_tar would not have written is refused."""
    with tempfile.TemporaryFile() as plain:
        _inflate(archive, plain)
        plain.seek(0)
        try:
            with tarfile.open(fileobj=plain, mode="r:") as tar:
                rows = tar.getmembers()
                content = manifest.parse_manifest(tar.pax_headers.get("comment", ""), str(archive))
                wanted = [path.removeprefix(f"{manifest.ROOT}/") for path in content["platforms"][0]["artifactPaths"]]
                names = [row.name for row in rows if row.isreg()]
                if sorted(names) != sorted(wanted) or len(names) != len(rows):
                    notes = [f"absent: {name}" for name in sorted(set(wanted) - set(names))]
                    notes += [f"extra: {row.name}" for row in rows if row.name not in wanted or not row.isreg()]
                    raise BuildError("the files are not those of the manifest", where=str(archive), notes=notes, mend=REMAKE)
                for row in rows:
                    _extract(tar, row, folder)
                epoch = int(rows[0].mtime)
                comment = tar.pax_headers["comment"]
        except tarfile.TarError as error:
            raise BuildError(f"is damaged: {error}", where=str(archive), mend=REMAKE) from error
        _check_canonical(plain, folder, names, epoch, comment, archive)
    return content, names


def _inflate(archive: Path, plain: BinaryIO) -> None:
    """Decompress a gzip file of one member with exactly our header (RFC 1952); the CRC and length in its trailer are checked by zlib."""
    inflater = zlib.decompressobj(31)
    try:
        with archive.open("rb") as stream:
            head = stream.read(len(GZIP_HEADER))
            if head != GZIP_HEADER:
                raise BuildError("is no archive of this project: its gzip header is another", where=str(archive), mend=REMAKE)
            plain.write(inflater.decompress(head))
            while chunk := stream.read(1 << 20):
                plain.write(inflater.decompress(chunk))
                if inflater.unused_data:
                    raise BuildError("holds bytes behind its end", where=str(archive), mend=REMAKE)
    except OSError as error:
        raise BuildError(f"cannot read: {error.strerror}", where=str(archive)) from error
    except zlib.error as error:
        raise BuildError(f"is damaged: {error}", where=str(archive), mend=REMAKE) from error
    if not inflater.eof:
        raise BuildError("is truncated", where=str(archive), mend=REMAKE)


def _extract(tar: tarfile.TarFile, row: tarfile.TarInfo, folder: Path) -> None:
    """Write one regular file; its name was compared with the manifest, whose schema allows no path that leaves the folder."""
    source = tar.extractfile(row)
    target = folder / PurePosixPath(row.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as sink:
        while source and (chunk := source.read(1 << 20)):
            sink.write(chunk)


class _Comparer:
    """A sink that compares what is written with what a file holds."""

    def __init__(self, expected: BinaryIO) -> None:
        self.expected = expected
        self.same = True

    def write(self, data: bytes) -> int:
        self.same = self.same and self.expected.read(len(data)) == data
        return len(data)


def _check_canonical(plain: BinaryIO, folder: Path, names: list[str], epoch: int, comment: str, archive: Path) -> None:
    plain.seek(0)
    comparer = _Comparer(plain)
    write_tar(comparer, _opened(folder, names), epoch, comment)  # type: ignore[arg-type]
    if not comparer.same or plain.read(1):
        raise BuildError("was packed by something else: owners, modes, dates or order differ", where=str(archive), mend=REMAKE)


def _opened(folder: Path, names: list[str]) -> Iterator[tuple[str, int, BinaryIO]]:
    for name in sorted(names):
        with (folder / name).open("rb") as stream:
            yield name, (folder / name).stat().st_size, stream


def _target_of(content: Mapping[str, Any], archive: Path) -> str:
    rows = content["platforms"]
    target = f"{rows[0]['platform']}-{rows[0]['arch']}"
    if len(rows) != 1 or archive.name != runtime_archive(target, content["release"]["tag"]):
        raise BuildError(
            f"holds the bundle of {target} {content['release']['tag']}, which its name does not say",
            where=str(archive),
            mend=f"name it {runtime_archive(target, content['release']['tag'])}",
        )
    return target


def _digests(content: Mapping[str, Any]) -> dict[str, str]:
    return {artifact["path"]: artifact["sha256"] for artifact in content["artifacts"]}


def _check_sums(content: Mapping[str, Any], folder: Path, names: list[str], archive: Path) -> str:
    wanted = _digests(content)
    wrong = [name for name in names if checksums.sha256_file(folder / name) != wanted[manifest.artifact_path(name)]]
    if wrong:
        raise BuildError("files have other bytes than the manifest says", where=str(archive), notes=wrong, mend=REMAKE)
    return f"sums: {len(names)} files"


def _layout_of(content: Mapping[str, Any], target: str) -> Layout:
    upstream = content["upstream"]
    host = content["build"][target]["host"] if upstream["compatibilityTag"] is None else ""
    return layout(target, upstream["compatibilityTag"] or "", official=upstream["tag"] is not None, host=host)


def _check_inventory(content: Mapping[str, Any], target: str, names: list[str], archive: Path) -> str:
    rows = _layout_of(content, target)
    check_inventory(rows, [name.removeprefix(f"{rows.folder}/") for name in names], str(archive))
    return f"inventory: {len(rows.files)} files of {target} at {content['upstream']['compatibilityTag'] or content['release']['tag']}"


def gate_policy(content: Mapping[str, Any], target: str) -> GatePolicy:
    """Return what the manifest says the host was held to. Its waivers hold as they were written, whatever the date."""
    build = content["build"][target]
    return GatePolicy(
        link_mode=build["linkMode"],
        required=tuple(build["exports"]["required"]),
        allowed=tuple(build["exports"]["allowed"]),
        version=content["upstream"]["compatibilityTag"] or "",
        waivers=tuple(
            Waiver(row["rule"], row["reason"], date.fromisoformat(row["until"]), row["subject"], target) for row in build["waivers"]
        ),
        bundled=tuple(path.rpartition("/")[2] for path in content["platforms"][0]["artifactPaths"]),
        today=date.min,
    )


def _check_libraries(content: Mapping[str, Any], target: Target, folder: Path, names: list[str], gate: Judge) -> list[str]:
    rows = _layout_of(content, target.name)
    libraries = [name.removeprefix(f"{rows.folder}/") for name in names if is_library(name)]
    for inner in libraries:
        check_library(folder / rows.folder / inner, rows.platform, rows.arch)
    judged = judge_libraries(folder / rows.folder, libraries, target, gate_policy(content, target.name), gate)
    return [f"gate: {rows.folder}/{name}" for name in judged]


def _check_beside(content: Mapping[str, Any], archive: Path) -> list[str]:
    lines = []
    text, sums = archive.parent / manifest.NAME, archive.parent / checksums.NAME
    if text.exists():
        other = manifest.parse_manifest(text.read_text(encoding="utf-8", errors="replace"), str(text))
        theirs = _digests(other)
        differ = [path for path, digest in _digests(content).items() if theirs.get(path) != digest]
        differ += [key for key in ("release", "native", "abi", "capabilities") if other[key] != content[key]]
        if differ:
            raise BuildError("does not say what the archive's own manifest says", where=str(text), notes=differ, mend=REMAKE)
        lines.append(f"{manifest.NAME}: agrees")
    if sums.exists():
        listed = checksums.read_sums(sums)
        beside = {name: checksums.sha256_file(archive.parent / name) for name in listed if (archive.parent / name).is_file()}
        wanted = {archive.name: checksums.sha256_file(archive), **beside, **_digests(content)}
        differ = [name for name, digest in wanted.items() if listed.get(name) != digest]
        if differ:
            raise BuildError("does not list these with their sums", where=str(sums), notes=differ, mend=REMAKE)
        lines.append(f"{checksums.NAME}: {len(wanted)} sums")
    signed = verify_signature(sums)
    return [*lines, signed] if signed else lines
