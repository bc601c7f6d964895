"""The fetcher of real trees, against a stand-in for apt: what it asks for, what it refuses, what it says."""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path

import pytest

from tests.real import trees
from tests.real.trees import Tree, TreeMissing


class Archive:
    """A stand-in Debian archive: apt-get and apt-cache scripts that offer one source package."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.offered = folder / "offered.tar.gz"
        self.log = folder / "log"
        self.script("apt-cache", f'cat "{folder}/showsrc" 2>/dev/null')
        self.showsrc = folder / "showsrc"
        self.script(
            "apt-get",
            f'''echo "$@" >> "{self.log}"
case "$1 $2" in
"update --print-uris") echo "'test://mirror/dists/bookworm-updates/InRelease' x 0"; echo "'test://archive/dists/bookworm/InRelease' x 0";;
source*) if [ -f "{self.offered}" ]; then cp "{self.offered}" sample_1.orig.tar.gz; else echo "E: 404 Not Found" >&2; exit 100; fi;;
esac''',
        )

    def script(self, name: str, body: str) -> None:
        file = self.bin / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def offer(self, members: dict[str, str], *, digest: str = "") -> str:
        """Put an archive of `members` on offer, pinned in the table by its digest or by `digest`; return the pin."""
        source = self.bin.parent / "source"
        for name, text in members.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
        with tarfile.open(self.offered, "w:gz") as archive:
            for top in sorted({name.split("/")[0] for name in members}):
                archive.add(source / top, top)
        pin = digest or hashlib.sha256(self.offered.read_bytes()).hexdigest()
        self.showsrc.write_text(f"Package: sample\nVersion: 1-2\nChecksums-Sha256:\n {pin} 99 sample_1.orig.tar.gz\n\n")
        return pin


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    made = Archive(tmp_path / "archive")
    monkeypatch.setenv("PATH", f"{made.bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LITERT_LM_TREES", str(tmp_path / "cache"))
    return made


def table(monkeypatch: pytest.MonkeyPatch, digest: str, suite: str = "bookworm") -> None:
    monkeypatch.setattr(trees, "TREES", {"sample": Tree("sample", suite, "sample", "sample_1.orig.tar.gz", digest)})


def test_tree_is_extracted_once_without_its_top_folder_and_read_only(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, archive.offer({"sample-1/BUILD": "x", "sample-1/src/a.cc": "y"}))
    folder = trees.tree_path("sample")
    assert (folder / "src/a.cc").read_text() == "y"
    assert not any(path.stat().st_mode & 0o222 for path in (folder, *folder.rglob("*")))
    calls = archive.log.read_text()
    assert "source --download-only --tar-only --only-source sample=1-2" in calls
    archive.offered.unlink()
    assert trees.tree_path("sample") == folder
    assert archive.log.read_text() == calls


def test_archive_without_a_single_top_folder_keeps_its_paths(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, archive.offer({"BUILD": "x", "src/a.cc": "y"}))
    assert sorted(path.name for path in trees.tree_path("sample").iterdir()) == ["BUILD", "src"]


def test_address_is_the_one_of_the_suite_that_the_machine_uses(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, archive.offer({"BUILD": "x"}))
    trees.tree_path("sample")
    lines = (trees.cache_folder() / "apt/etc/sources.list").read_text().splitlines()
    assert [line.split("] ")[1] for line in lines] == [f"test://archive {suite} main" for suite in trees.SUITES]


def test_wrong_bytes_are_refused_and_removed(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    pin = archive.offer({"BUILD": "x"}, digest="0" * 64)
    table(monkeypatch, pin)
    with pytest.raises(TreeMissing, match=f"sample: sample_1.orig.tar.gz has sha256 [0-9a-f]+, pinned is {pin}; the file was removed"):
        trees.tree_path("sample")
    assert not (trees.cache_folder() / "archives/sample_1.orig.tar.gz").exists()


def test_archive_that_rotted_in_the_cache_is_refused(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, archive.offer({"BUILD": "x"}))
    trees.archive_path("sample").write_bytes(b"rot")
    with pytest.raises(TreeMissing, match="the file was removed"):
        trees.archive_path("sample")


def test_source_record_with_another_digest_is_not_asked_for(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    archive.offer({"BUILD": "x"})
    table(monkeypatch, "1" * 64)
    with pytest.raises(TreeMissing, match=f"no suite of bookworm, trixie, sid offers sample_1.orig.tar.gz with sha256 {'1' * 64}"):
        trees.tree_path("sample")
    assert "source" not in archive.log.read_text()


def test_hole_in_the_archive_is_reported_with_apts_words(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, archive.offer({"BUILD": "x"}))
    archive.offered.unlink()
    with pytest.raises(TreeMissing, match=r"sample=1-2 brought no sample_1\.orig\.tar\.gz: E: 404 Not Found"):
        trees.tree_path("sample")


def test_machine_without_apt_says_so(tmp_path: Path, archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, "2" * 64)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TreeMissing, match="real trees come through apt, and this machine has no apt-get"):
        trees.tree_path("sample")


def test_machine_without_a_debian_archive_says_so(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, "2" * 64)
    archive.script("apt-get", "echo \"'test://other/dists/nodistro/InRelease' x 0\"")
    with pytest.raises(TreeMissing, match="apt configuration names no Debian archive"):
        trees.tree_path("sample")


def test_unknown_tree_lists_the_known_ones() -> None:
    with pytest.raises(TreeMissing, match=r"no tree 'abseil' in the table; known are abseil-20220623, "):
        trees.tree_path("abseil")


def test_missing_mandatory_tree_fails_and_optional_one_skips_by_name(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, "3" * 64)
    with pytest.raises(TreeMissing):
        trees.require("sample")
    table(monkeypatch, "3" * 64, suite="sid")
    with pytest.raises(pytest.skip.Exception, match="optional tree sample: no suite"):
        trees.require("sample")


def test_command_prints_folders_and_counts_what_is_missing(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table(monkeypatch, archive.offer({"BUILD": "x"}))
    assert trees.main(["fetch", "sample"]) == 0
    assert capsys.readouterr().out == f"sample {trees.tree_path('sample')}\n"
    assert trees.main(["fetch", "sample", "other"]) == 1
    assert "missing: no tree 'other'" in capsys.readouterr().err
    assert trees.main([]) == 2
    assert "usage:" in capsys.readouterr().err


def test_every_pin_is_a_sha256_and_named_once() -> None:
    digests = [tree.sha256 for tree in trees.TREES.values()]
    assert all(len(digest) == 64 and int(digest, 16) for digest in digests)
    assert len(set(digests)) == len(digests)
