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
from litert_build.sources.lock import Repository
from litert_build.sources.network import Network
from litert_build.sources.patches import apply_edit
from litert_build.sources.store import Store
from litert_build.sources.trees import TreeMaker
from litert_build.sources.workspace import Unavailable, Workspace

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


def test_the_workspace_of_tensorflow_is_evaluated_whole(tmp_path: Path) -> None:
    """2.14.1's WORKSPACE with its own macros and tf_http_archive; what it loads of other repositories is laid beside it."""
    fetcher = Fetcher(Store(tmp_path), Network(offline=True))
    maker = TreeMaker(fetcher, tmp_path / "overlays", "test")
    maker.made |= {"bazel_skylib": require("bazel-skylib"), "com_google_benchmark": require("benchmark")}
    main = Repository("org_tensorflow", path=require("tensorflow-2.14.1"))
    workspace = Workspace("org_tensorflow", main, maker, fetcher.network)
    workspace.evaluate()
    assert len(workspace.declared) == 571
    assert workspace.bindings["grpc_lib"] == "@com_github_grpc_grpc//:grpc++"

    flatbuffers = workspace.pinned("flatbuffers")
    assert flatbuffers.rule == "tf_http_archive"
    assert flatbuffers.urls[1] == "https://github.com/google/flatbuffers/archive/v23.5.26.tar.gz"
    assert {name: file.inner for name, file in flatbuffers.link_files.items()} == {
        "build_defs.bzl": "third_party/flatbuffers/build_defs.bzl",
        "BUILD.bazel": "third_party/flatbuffers/flatbuffers.BUILD",
    }
    assert all(len(file.sha256) == 64 for file in flatbuffers.link_files.values())
    protobuf = workspace.pinned("com_google_protobuf")
    assert [(patch.file.inner, patch.strip) for patch in protobuf.patches] == [("third_party/protobuf/protobuf.patch", 1)]
    assert workspace.repository("com_github_google_crc32c").urls[1].startswith("https://github.com/google/crc32c/")
    assert workspace.repository("ruy").strip_prefix == "ruy-3286a34cc8de6149ac6844107dfdffac91531e72"
    assert workspace.repository("eigen_archive").location.endswith(
        "tensorflow/workspace2.bzl:67 < tensorflow/workspace2.bzl:1019 < WORKSPACE:80"
    )
    with pytest.raises(Unavailable, match=r"'@local_config_git' cannot be locked: .* uses ctx\.execute, which depends on the machine"):
        workspace.repository("local_config_git")
    assert any("rules_jvm_external" in note and "a host holds no Java" in note for note in workspace.notes)
