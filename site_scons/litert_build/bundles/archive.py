"""Owns deterministic archives: the same members give the same bytes, whoever packs them, wherever and whenever.

write_tar_gz(Path("out.tar.gz"), {"linux/x64/libLiteRtLm.so": Path("libLiteRtLm.so")}, epoch=source_date_epoch(), comment="...")

Members are sorted, owned by 0:0, of mode 0644 and dated `epoch`; the gzip header carries neither name nor date (RFC 1952). Blocks of one
MiB are compressed apart, each with the window of the block before it, so that the bytes do not depend on the number of threads.
"""

from __future__ import annotations

import io
import os
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO, Union

from litert_build.errors import BuildError

Content = Union[Path, bytes]

GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
BLOCK = 1 << 20
WINDOW = 1 << 15
LEVEL = 6
MODE = 0o644
# The first second a zip archive can hold (APPNOTE 4.4.6, MS-DOS date), and the last one of a ustar field of eleven octal digits.
ZIP_EPOCH = 315532800
LAST_EPOCH = 0o77777777777


def source_date_epoch(environ: Mapping[str, str] = os.environ) -> int:
    """Return the date of all members, in seconds: SOURCE_DATE_EPOCH, or 0. Raises BuildError where it is not a number of seconds."""
    text = environ.get("SOURCE_DATE_EPOCH", "0")
    if not text.isascii() or not text.isdigit() or int(text) > LAST_EPOCH:
        raise BuildError(
            f"{text!r} is not a number of seconds", where="SOURCE_DATE_EPOCH", mend="set it to seconds since 1970, or unset it"
        )
    return int(text)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file that becomes `path`, with mode 0644, once the block ends well; until then, and if it does not, `path` is as it was.

    Raises BuildError where the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise BuildError(f"cannot write: {error.strerror}", where=str(path), mend="choose a folder that can be written") from error
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        partial.chmod(MODE)
        partial.replace(path)
    except OSError as error:
        raise BuildError(f"cannot write: {error.strerror}", where=str(path), mend="free space, or choose another folder") from error
    finally:
        partial.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Put `content` at `path` whole or not at all. Raises BuildError where that fails."""
    with replacing(path) as stream:
        stream.write(content)


class _Deflater(io.RawIOBase):
    """A sink that writes one gzip member; blocks are compressed by threads and written in order."""

    def __init__(self, sink: BinaryIO, pool: ThreadPoolExecutor, ahead: int) -> None:
        self.sink = sink
        self.pool = pool
        self.ahead = ahead
        self.pending: deque[Future[bytes]] = deque()
        self.buffer = bytearray()
        self.window = b""
        self.crc = 0
        self.length = 0
        sink.write(GZIP_HEADER)

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.crc = zlib.crc32(data, self.crc)
        self.length += len(data)
        self.buffer += data
        while len(self.buffer) > BLOCK:
            self._submit(bytes(self.buffer[:BLOCK]), zlib.Z_SYNC_FLUSH)
            del self.buffer[:BLOCK]
        return len(data)

    def finish(self) -> None:
        self._submit(bytes(self.buffer), zlib.Z_FINISH)
        self._drain(0)
        self.sink.write(struct.pack("<II", self.crc, self.length & 0xFFFFFFFF))

    def _submit(self, block: bytes, flush: int) -> None:
        self.pending.append(self.pool.submit(_deflate, block, self.window, flush))
        self.window = block[-WINDOW:]
        self._drain(self.ahead)

    def _drain(self, keep: int) -> None:
        while len(self.pending) > keep:
            self.sink.write(self.pending.popleft().result())


def _deflate(block: bytes, window: bytes, flush: int) -> bytes:
    deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_DEFAULT_STRATEGY, window)
    return deflater.compress(block) + deflater.flush(flush)


def write_tar(sink: BinaryIO, members: Iterable[tuple[str, int, BinaryIO]], epoch: int, comment: str) -> None:
    """Write (name, size, stream) members, sorted by the caller, as a pax archive (POSIX.1-2001, pax, "ustar" and "comment" records)."""
    with tarfile.open(fileobj=sink, mode="w|", bufsize=BLOCK, format=tarfile.PAX_FORMAT, pax_headers={"comment": comment}) as tar:
        for name, size, stream in members:
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = size, MODE, epoch
            tar.addfile(info, stream)


def write_tar_gz(path: Path, members: Mapping[str, Content], *, epoch: int, comment: str = "", threads: int | None = None) -> None:
    """Pack `members` (name in the archive -> file or content) into `path`, replacing it in one step.

    Raises BuildError where a file cannot be read or `path` not be written.
    """
    threads = threads or os.cpu_count() or 1
    with replacing(path) as stream, ThreadPoolExecutor(threads) as pool:
        deflater = _Deflater(stream, pool, ahead=2 * threads)
        write_tar(deflater, _opened(members), epoch, comment)  # type: ignore[arg-type]
        deflater.finish()


def _opened(members: Mapping[str, Content]) -> Iterator[tuple[str, int, BinaryIO]]:
    for name in sorted(members):
        content = members[name]
        if isinstance(content, bytes):
            yield name, len(content), io.BytesIO(content)
            continue
        try:
            source = content.open("rb")
        except OSError as error:
            raise BuildError(f"cannot read: {error.strerror}", where=str(content)) from error
        with source:
            yield name, os.fstat(source.fileno()).st_size, source


def write_zip(path: Path, members: Mapping[str, Content], links: Mapping[str, str] | None = None, *, epoch: int) -> None:
    """Pack `members` (name -> file or content) and symbolic `links` (name -> target) into a zip archive.

    Dates before 1980 become 1980, the first that the format holds.
    """
    date = datetime.fromtimestamp(max(epoch, ZIP_EPOCH), timezone.utc).timetuple()[:6]
    contents: dict[str, Callable[[], bytes]] = {name: _content(source) for name, source in members.items()}
    links = links or {}
    contents |= {name: target.encode for name, target in links.items()}
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name in sorted(contents):
            info = zipfile.ZipInfo(name, date)
            info.create_system = 3
            info.external_attr = (0o120777 if name in links else 0o100000 | MODE) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, contents[name]())


def _content(source: Content) -> Callable[[], bytes]:
    return source.read_bytes if isinstance(source, Path) else lambda: source
