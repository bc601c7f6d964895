"""Owns the unpacking of archives: tar (plain, gz, xz, bz2), zip and .crate, into a folder that no entry can leave.

    extract(Path("abseil.tar.gz"), folder, strip_prefix="abseil-cpp-20240722.0", source="https://...")

What an archive is, its first bytes say. Folders, files, hard links (as copies) and symbolic links inside the tree are all that may
stand in it; symbolic links are made last and nothing is written through one.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import posixpath
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from litert_build.errors import BuildError, nearest


@dataclass(frozen=True)
class Limits:
    """What one archive may unpack to: entries, bytes in all, and bytes as a multiple of its own size (beyond the first 64 MB)."""

    entries: int = 500_000
    size: int = 8 << 30
    ratio: int = 250

    def bytes_for(self, archive_size: int) -> int:
        return min(self.size, max(64 << 20, archive_size * self.ratio))


@dataclass(frozen=True)
class _Entry:
    name: str
    kind: Literal["folder", "file", "link", "hardlink", "other"]
    size: int
    executable: bool
    target: str = ""
    member: object = None


@dataclass
class _Extraction:
    folder: Path
    prefix: str
    source: str
    limits: Limits
    budget: int
    links: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    entries: int = 0
    placed: int = 0

    def refuse(self, name: str, why: str) -> BuildError:
        return BuildError(
            f"the archive entry {name!r} {why}", where=self.source, mend="do not use this archive; report it to whoever publishes it"
        )


def extract(archive: Path, folder: Path, *, strip_prefix: str = "", source: str = "", limits: Limits | None = None) -> None:
    """Unpack `archive` into `folder`, only what stands under `strip_prefix` and without it.

    Raises BuildError, naming `source`, for what is no archive, is cut short, exceeds the limits, holds nothing under the prefix, or
    holds an entry that would leave the folder.
    """
    limits = limits or Limits()
    state = _Extraction(folder, strip_prefix.strip("/"), source or str(archive), limits, limits.bytes_for(archive.stat().st_size))
    with _whole(state):
        if archive_kind(archive, state.source) == "zip":
            _extract_zip(archive, state)
        else:
            _extract_tar(archive, state)
    if not state.placed:
        known = sorted({name.split("/")[0] for name in state.skipped})
        raise BuildError(
            f"the archive holds nothing under strip_prefix {strip_prefix!r}" if state.skipped else "the archive is empty",
            where=state.source,
            notes=[f"it holds {', '.join(known[:8])}"] if known else (),
            mend=nearest(state.prefix, known),
        )
    _make_links(state)


def archive_kind(archive: Path, source: str = "") -> Literal["tar", "zip"]:
    """Return what the first bytes say. Raises BuildError for anything else, with a word on what it looks like."""
    with archive.open("rb") as stream:
        head = stream.read(512)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "zip"
    if head[:2] == b"\x1f\x8b" or head[:6] == b"\xfd7zXZ\x00" or head[:3] == b"BZh" or head[257:262] == b"ustar":
        return "tar"
    raise BuildError(
        "this is no tar.gz, tar.xz, tar.bz2, tar or zip archive",
        where=source or str(archive),
        notes=[describe(head)],
        mend="check the address",
    )


def describe(head: bytes) -> str:
    """Return what the first bytes of a file look like, for an error message."""
    text = head[:512].lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return "it begins like an HTML page: the server answered with a page, not with the file"
    if text.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer, not the file it stands for"
    return f"it begins with {head[:16]!r}" if head else "it is empty"


@contextmanager
def _whole(state: _Extraction) -> Iterator[None]:
    """Turn what the decoders raise for a damaged or shortened archive into a BuildError."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, NotImplementedError) as error:
        raise BuildError(
            f"the archive is damaged or cut short: {error}",
            where=state.source,
            mend="fetch it again; if its digest was right, correct the lock",
        ) from error


def _extract_tar(archive: Path, state: _Extraction) -> None:
    copies: list[_Entry] = []
    opener = _decompressed(archive)
    with opener as stream, tarfile.open(fileobj=stream, mode="r|", errorlevel=1) as tar:
        for member in tar:
            kind: Literal["folder", "file", "link", "hardlink", "other"] = "other"
            if member.isreg():
                kind = "file"
            elif member.isdir():
                kind = "folder"
            elif member.issym():
                kind = "link"
            elif member.islnk():
                kind = "hardlink"
            entry = _Entry(member.name, kind, member.size if kind == "file" else 0, bool(member.mode & 0o100), member.linkname)
            if kind == "hardlink":
                copies.append(entry)
            _place(entry, state, tar.extractfile(member) if kind == "file" else None)
        while stream.read(1 << 20):
            pass  # the check value of the compressed stream stands at its very end
    for entry in copies:
        _copy_hard_link(entry, state)


def _decompressed(archive: Path) -> IO[bytes]:
    with archive.open("rb") as stream:
        head = stream.read(6)
    if head[:2] == b"\x1f\x8b":
        return gzip.open(archive)  # type: ignore[return-value]
    if head == b"\xfd7zXZ\x00":
        return lzma.open(archive)
    if head[:3] == b"BZh":
        return bz2.open(archive)
    return archive.open("rb")


def _extract_zip(archive: Path, state: _Extraction) -> None:
    with zipfile.ZipFile(archive) as box:
        for info in box.infolist():
            mode = info.external_attr >> 16
            if info.flag_bits & 1:
                raise state.refuse(info.filename, "is encrypted")
            if info.is_dir():
                _place(_Entry(info.filename.rstrip("/"), "folder", 0, False), state, None)
            elif stat.S_ISLNK(mode):
                target = box.read(info).decode("utf-8", "surrogateescape") if info.file_size < 4096 else ""
                _place(_Entry(info.filename, "link", 0, False, target), state, None)
            elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
                with box.open(info) as stream:
                    _place(_Entry(info.filename, "file", info.file_size, bool(mode & 0o100)), state, stream)
            else:
                _place(_Entry(info.filename, "other", 0, False), state, None)


def _place(entry: _Entry, state: _Extraction, stream: IO[bytes] | None) -> None:
    state.entries += 1
    if state.entries > state.limits.entries:
        raise state.refuse(entry.name, f"is one more than the {state.limits.entries} that an archive may hold")
    inner = _inner(entry.name, state)
    if inner is None:
        return
    if entry.kind == "other":
        raise state.refuse(entry.name, "is neither file, folder nor link")
    state.placed += entry.kind != "folder"
    if not inner:
        return
    path = state.folder / inner
    if entry.kind == "folder":
        path.mkdir(parents=True, exist_ok=True)
    elif entry.kind == "link":
        state.links[inner] = entry.target
    elif stream is not None:
        _write(entry, path, stream, state)


def _inner(name: str, state: _Extraction) -> str | None:
    """Return the path inside the tree, or None for what stands outside of the prefix. Refuses names that leave the tree."""
    plain = name.replace("\\", "/") if os.name == "nt" else name
    if plain.startswith("/") or plain[1:2] == ":":
        raise state.refuse(name, "has an absolute name")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise state.refuse(name, "leaves the tree")
    plain = "/".join(parts)
    if not state.prefix or plain == state.prefix:
        return "" if plain == state.prefix else plain
    if plain.startswith(state.prefix + "/"):
        return plain[len(state.prefix) + 1 :]
    state.skipped.add(plain)
    return None


def _write(entry: _Entry, path: Path, stream: IO[bytes], state: _Extraction) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        output = path.open("xb")
    except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
        raise state.refuse(entry.name, "is a folder and a file at once") from error
    with output:
        while block := stream.read(1 << 20):
            state.budget -= len(block)
            if state.budget < 0:
                raise state.refuse(entry.name, "makes the tree larger than an archive of this size may be (an archive bomb?)")
            output.write(block)
    if path.stat().st_size != entry.size:
        raise EOFError(f"{entry.name} has {path.stat().st_size} of {entry.size} bytes")
    if entry.executable:
        path.chmod(0o755)


def _copy_hard_link(entry: _Entry, state: _Extraction) -> None:
    inner, origin = _inner(entry.name, state), _inner(entry.target, state)
    if inner is None:
        return
    if origin is None or not (state.folder / origin).is_file():
        raise state.refuse(entry.name, f"is a hard link to {entry.target!r}, which is no file of the tree")
    (state.folder / inner).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(state.folder / origin, state.folder / inner)


def _make_links(state: _Extraction) -> None:
    """Make the symbolic links; then each must lead to something inside the tree, whatever other links it passes."""
    root = state.folder.resolve()
    for inner, target in state.links.items():
        path = state.folder / inner
        if target.startswith("/") or posixpath.normpath(posixpath.join(posixpath.dirname(inner), target)).startswith("../"):
            raise state.refuse(inner, f"is a link that leaves the tree, to {target!r}")
        if path.exists() or path.is_symlink():
            raise state.refuse(inner, "is a link and something else at once")
        if Path(os.path.realpath(path.parent)) != root / posixpath.dirname(inner):
            raise state.refuse(inner, "stands below a link")
        path.parent.mkdir(parents=True, exist_ok=True)
        _link(path, target)
    for inner, target in state.links.items():
        resolved = Path(os.path.realpath(state.folder / inner))
        if resolved != root and root not in resolved.parents:
            raise state.refuse(inner, f"is a link that leaves the tree, to {target!r}")


def _link(path: Path, target: str) -> None:
    """Make a symbolic link; where the system grants none, a copy of what it leads to."""
    try:
        path.symlink_to(target)
    except OSError:
        source = path.parent / target
        if os.name != "nt" or not source.exists():
            raise
        if source.is_dir():
            shutil.copytree(source, path)
        else:
            shutil.copyfile(source, path)
