"""Archives whose bytes depend on the members alone, and that replace a file whole or leave it."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from litert_build.bundles.archive import BLOCK, GZIP_HEADER, source_date_epoch, write_bytes, write_tar_gz, write_zip
from litert_build.bundles.checksums import read_sums, sha256_file, write_sums
from litert_build.errors import BuildError


def members(folder: Path) -> dict[str, Path | bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    big = folder / "big"
    big.write_bytes(random.Random(7).randbytes(BLOCK) * 2 + b"tail" * 1000)
    return {"linux/x64/b.so": big, "linux/x64/a.txt": b"text", "linux/x64/empty": b""}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_members_come_back_sorted_owned_by_nobody_and_dated(tmp_path: Path) -> None:
    out = tmp_path / "x.tar.gz"
    write_tar_gz(out, members(tmp_path / "in"), epoch=1700000000, comment="about")
    assert out.read_bytes()[:10] == GZIP_HEADER
    with tarfile.open(out) as tar:
        rows = tar.getmembers()
        assert [row.name for row in rows] == ["linux/x64/a.txt", "linux/x64/b.so", "linux/x64/empty"]
        assert {(row.uid, row.gid, row.uname, row.gname, row.mode, row.mtime) for row in rows} == {(0, 0, "", "", 0o644, 1700000000)}
        assert tar.extractfile("linux/x64/b.so").read() == (tmp_path / "in" / "big").read_bytes()  # type: ignore[union-attr]
        assert tar.pax_headers == {"comment": "about"}
    assert gzip.decompress(out.read_bytes())


def test_bytes_do_not_depend_on_folder_owner_umask_zone_date_or_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    for index, (umask, zone, threads) in enumerate([(0o022, "UTC", 1), (0o077, "Asia/Tokyo", 2), (0o000, "America/Lima", 7)]):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        before = os.umask(umask)
        try:
            folder = tmp_path / f"folder {index} é"
            rows = members(folder)
            os.utime(folder / "big", (index * 1000, index * 1000))
            (folder / "big").chmod(0o600 + index)
            if os.getuid() == 0:
                os.chown(folder / "big", 1000 + index, 1000 + index)
            out = folder / "x.tar.gz"
            write_tar_gz(out, rows, epoch=0, threads=threads)
        finally:
            os.umask(before)
        digests.add(digest(out))
        assert out.stat().st_mode & 0o777 == 0o644
    assert len(digests) == 1


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_every_size_round_trips(tmp_path: Path, size: int) -> None:
    content = random.Random(size).randbytes(size)
    write_tar_gz(tmp_path / "x.tar.gz", {"f": content}, epoch=0)
    with tarfile.open(tmp_path / "x.tar.gz") as tar:
        assert tar.extractfile("f").read() == content  # type: ignore[union-attr]


def test_zip_holds_links_and_dates_from_1980(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        write_zip(tmp_path / name, {"F/Versions/A/F": b"lib"}, {"F/Versions/Current": "A"}, epoch=0)
    assert digest(tmp_path / "a.zip") == digest(tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        link = archive.getinfo("F/Versions/Current")
        assert (link.external_attr >> 16, archive.read(link), link.date_time) == (0o120777, b"A", (1980, 1, 1, 0, 0, 0))


def test_a_failure_leaves_the_old_file_and_no_partial_one(tmp_path: Path) -> None:
    out = tmp_path / "x.tar.gz"
    write_bytes(out, b"old")
    with pytest.raises(BuildError, match=r"gone: cannot read: No such file"):
        write_tar_gz(out, {"a": b"1", "b": tmp_path / "gone"}, epoch=0)
    assert out.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BuildError, match=r"file/x: cannot write: .*\n  -> choose a folder that can be written"):
        write_bytes(tmp_path / "file" / "x", b"")


def test_a_full_disk(tmp_path: Path) -> None:
    script = (
        "import resource, sys; from pathlib import Path; from litert_build.bundles.archive import write_bytes\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_bytes(Path(sys.argv[1]), bytes(100_000))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "x")], env=environment, capture_output=True, text=True, check=False)
    assert "BuildError" in done.stderr and "x: cannot write: File too large\n  -> free space" in done.stderr
    assert not list(tmp_path.iterdir())


def test_source_date_epoch() -> None:
    assert source_date_epoch({}) == 0
    assert source_date_epoch({"SOURCE_DATE_EPOCH": "1700000000"}) == 1700000000


@pytest.mark.parametrize("text", ["", "-1", "yesterday", "1.5", "99999999999999", "\N{ARABIC-INDIC DIGIT ONE}"])
def test_source_date_epoch_that_is_no_date(text: str) -> None:
    with pytest.raises(BuildError, match=r"SOURCE_DATE_EPOCH: .* is not a number of seconds"):
        source_date_epoch({"SOURCE_DATE_EPOCH": text})


def test_sums_round_trip(tmp_path: Path) -> None:
    (tmp_path / "a file").write_bytes(b"a")
    sums = {"b": "0" * 64, "a file": sha256_file(tmp_path / "a file")}
    write_sums(tmp_path / "SHA256SUMS", sums)
    assert (tmp_path / "SHA256SUMS").read_text().splitlines()[1] == "0" * 64 + "  b"
    assert read_sums(tmp_path / "SHA256SUMS") == sums


@pytest.mark.parametrize(
    ("text", "message"),
    [("abc  x\n", ":1: not a line of sums: 'abc  x'"), ("0" * 64 + "  x\n" + "1" * 64 + "  x\n", ":2: x is listed twice")],
)
def test_sums_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "SHA256SUMS").write_text(text)
    with pytest.raises(BuildError, match=message):
        read_sums(tmp_path / "SHA256SUMS")
