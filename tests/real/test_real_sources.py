"""Real archives through our own download and extraction: what Debian's tools make of them is what we make of them."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from litert_build.sources.archive import extract
from litert_build.sources.carried import read_carried
from litert_build.sources.download import Fetcher
from litert_build.sources.network import Network
from litert_build.sources.patches import apply_edit
from litert_build.sources.store import Store

from tests.real.trees import TreeMissing, archive_path, find_tree, require, site_of, tree_path


def listing(root: Path) -> dict[str, tuple[str, bool]]:
    """Return digest (or link target) and executable bit of every file below a folder."""
    found = {}
    for parent, folders, files in os.walk(root):
        for name in (*files, *(folder for folder in folders if (Path(parent) / folder).is_symlink())):
            path = Path(parent) / name
            link = path.is_symlink()
            digest = f"-> {path.readlink()}" if link else hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.relative_to(root).as_posix()] = (digest, not link and bool(path.stat().st_mode & 0o100))
    return found


@pytest.mark.parametrize("name", ["abseil-20240722", "cpuinfo", "eigen3", "re2-20240702", "googletest", "fxdiv"])
def test_we_extract_what_tar_extracts(name: str, tmp_path: Path) -> None:
    expected = listing(require(name))
    archive = archive_path(name)
    extract(archive, tmp_path / "whole")
    children = list((tmp_path / "whole").iterdir())
    root = children[0] if len(children) == 1 and children[0].is_dir() else tmp_path / "whole"
    assert listing(root) == expected
    if root != tmp_path / "whole":
        extract(archive, tmp_path / "stripped", strip_prefix=root.name)
        assert listing(tmp_path / "stripped") == expected


def test_an_archive_of_debian_by_http(tmp_path: Path) -> None:
    tree = find_tree("fxdiv")
    try:
        url = f"{site_of(tree)}/pool/main/{tree.package[0]}/{tree.package}/{tree.file}"
    except TreeMissing as error:
        pytest.skip(str(error))
    fetcher = Fetcher(Store(tmp_path), Network(token="", attempts=3))
    try:
        file = fetcher.fetch(tree.name, (url,), tree.sha256)
    finally:
        fetcher.close()
    assert hashlib.sha256(file.read_bytes()).hexdigest() == tree.sha256


def test_the_sentencepiece_edits_fit_the_release_they_are_for(tmp_path: Path) -> None:
    """Debian's archive of 0.2.2 is packed anew, so that its digest differs; the files that are edited are the release's."""
    sources = require("sentencepiece")
    (change,) = [change for change in read_carried(Path("third_party")) if change.name == "sentencepiece-nul-piece"]
    shutil.copytree(sources / "src", tmp_path / "src")
    for path in tmp_path.rglob("*"):
        path.chmod(0o755)
    for edit in change.repositories["sentencepiece"].edits:
        apply_edit(tmp_path, edit, "test")
    assert (tmp_path / "src/bpe_model.cc").read_text().count("nul_in_normal") == 1
    assert (tmp_path / "src/model_interface.cc").read_text().count("nul_in_normal") == 2
    assert tree_path("sentencepiece") == sources
