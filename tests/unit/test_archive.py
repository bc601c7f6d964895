"""What unpacks, and what must not."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.sources.archive import Limits, extract


def tar(path: Path, members: list[tuple[str, bytes, str]], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as box:  # type: ignore[call-overload]
        for name, kind, text in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.mode = 0o755 if name.endswith(".sh") else 0o644
            if kind == tarfile.REGTYPE:
                info.size = len(text.encode())
                box.addfile(info, io.BytesIO(text.encode()))
            else:
                info.linkname = text
                box.addfile(info)
    return path


REG, SYM, LNK, DIR = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


@pytest.mark.parametrize(
    ("name", "mode"), [("a.tar.gz", "w:gz"), ("a.tar.xz", "w:xz"), ("a.tar.bz2", "w:bz2"), ("a.tar", "w"), ("a.crate", "w:gz")]
)
def test_tar_kinds_are_told_by_content(tmp_path: Path, name: str, mode: str) -> None:
    members = [
        ("top/run.sh", REG, "#!"),
        ("top/ä b/x.c", REG, "int x;"),
        ("top/link", SYM, "ä b/x.c"),
        ("top/hard", LNK, "top/run.sh"),
        ("top/e", DIR, ""),
    ]
    archive = tar(tmp_path / name, members, mode)
    extract(archive, tmp_path / "out", strip_prefix="top")
    assert (tmp_path / "out/ä b/x.c").read_text() == "int x;"
    assert (tmp_path / "out/link").read_text() == "int x;"
    assert (tmp_path / "out/hard").read_text() == "#!"
    assert (tmp_path / "out/run.sh").stat().st_mode & stat.S_IXUSR
    assert (tmp_path / "out/e").is_dir()


def test_zip_with_a_link_and_an_executable(tmp_path: Path) -> None:
    archive = tmp_path / "a.bin"
    with zipfile.ZipFile(archive, "w") as box:
        info = zipfile.ZipInfo("top/run.sh")
        info.external_attr = (stat.S_IFREG | 0o755) << 16
        box.writestr(info, "#!")
        link = zipfile.ZipInfo("top/l")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        box.writestr(link, "run.sh")
    extract(archive, tmp_path / "out", strip_prefix="top")
    assert (tmp_path / "out/l").read_text() == "#!"
    assert (tmp_path / "out/run.sh").stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("../x", REG, "")], "'../x' leaves the tree"),
        ([("a/../../x", REG, "")], "leaves the tree"),
        ([("/etc/x", REG, "")], "has an absolute name"),
        ([("C:/x", REG, "")], "has an absolute name"),
        ([("a", SYM, "/etc/passwd")], "is a link that leaves the tree, to '/etc/passwd'"),
        ([("d/a", SYM, "../../x")], "is a link that leaves the tree"),
        ([("d/b/c/up", SYM, "../../.."), ("m", SYM, "d/b/c/up/../..")], "'m' is a link that leaves the tree"),
        ([("d/b/c/up", SYM, "../../.."), ("d/b/c/up/x", REG, "")], "'d/b/c/up' is a link and something else at once"),
        ([("a", SYM, "."), ("a/b", SYM, "x")], "'a/b' stands below a link"),
        ([("a", LNK, "/etc/passwd")], "has an absolute name"),
        ([("a", LNK, "none")], "is a hard link to 'none', which is no file of the tree"),
        ([("dev", tarfile.CHRTYPE, "")], "is neither file, folder nor link"),
        ([("pipe", tarfile.FIFOTYPE, "")], "is neither file, folder nor link"),
        ([("a", REG, "1"), ("a/b", REG, "2")], "is a folder and a file at once"),
    ],
)
def test_no_entry_leaves_the_tree(tmp_path: Path, members: list[tuple[str, bytes, str]], message: str) -> None:
    outside = tmp_path / "box"
    (outside / "out").mkdir(parents=True)
    with pytest.raises(BuildError) as caught:
        extract(tar(tmp_path / "a.tar.gz", members), outside / "out", source="https://host/a.tar.gz")
    assert message in str(caught.value)
    assert caught.value.where == "https://host/a.tar.gz"
    assert [path.name for path in outside.iterdir()] == ["out"]


def test_a_zip_entry_cannot_leave_the_tree(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as box:
        box.writestr("../x", "")
    with pytest.raises(BuildError, match="leaves the tree"):
        extract(tmp_path / "a.zip", tmp_path / "out")


def test_limits(tmp_path: Path) -> None:
    many = tar(tmp_path / "many.tar.gz", [(str(at), REG, "") for at in range(5)])
    with pytest.raises(BuildError, match="one more than the 4 that an archive may hold"):
        extract(many, tmp_path / "a", limits=Limits(entries=4))
    large = tar(tmp_path / "large.tar.gz", [("zeros", REG, "0" * 1_000_000)])
    with pytest.raises(BuildError, match="an archive bomb"):
        extract(large, tmp_path / "b", limits=Limits(size=999_999))
    assert Limits().bytes_for(1000) == 64 << 20
    assert Limits().bytes_for(1 << 40) == Limits().size


def test_a_wrong_prefix_names_the_right_one(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tar.gz", [("abseil-2024/x", REG, "")])
    with pytest.raises(BuildError, match="holds nothing under strip_prefix 'abseil-2025'") as caught:
        extract(archive, tmp_path / "out", strip_prefix="abseil-2025")
    assert caught.value.mend == "did you mean abseil-2024?"
    with pytest.raises(BuildError, match="the archive is empty"):
        extract(tar(tmp_path / "e.tar.gz", []), tmp_path / "out")


def gz(path: Path) -> Path:
    return tar(path, [(f"f{at}", REG, f"{at}" * 5000) for at in range(20)])


def xz(path: Path) -> Path:
    return tar(path, [(f"f{at}", REG, f"{at}" * 5000) for at in range(20)], "w:xz")


def bz2(path: Path) -> Path:
    return tar(path, [(f"f{at}", REG, f"{at}" * 5000) for at in range(20)], "w:bz2")


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as box:
        box.writestr("f", "x" * 5000)
    return path


@pytest.mark.parametrize("make", [gz, xz, bz2, zipped])
def test_every_shortened_archive_is_refused(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    whole = make(tmp_path / "whole").read_bytes()
    for tenth in range(1, 10):
        cut = tmp_path / f"cut{tenth}"
        cut.write_bytes(whole[: len(whole) * tenth // 10])
        with pytest.raises(BuildError):
            extract(cut, tmp_path / f"out{tenth}")
    (tmp_path / "last").write_bytes(whole[:-1])
    with pytest.raises(BuildError, match="damaged or cut short"):
        extract(tmp_path / "last", tmp_path / "outlast")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n<!DOCTYPE html><html>", "it begins like an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer"),
        (b"", "it is empty"),
        (b"rubbish", "it begins with b'rubbish'"),
    ],
)
def test_what_is_no_archive_is_described(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(BuildError, match="this is no tar") as caught:
        extract(tmp_path / "a", tmp_path / "out")
    assert message in str(caught.value)
