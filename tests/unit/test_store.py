"""Sealed trees, local trees and overlays: what is made once, what is seen, what is refused."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from litert_build.errors import BuildError
from litert_build.sources.lock import Lock
from litert_build.sources.store import Store, default_store, remove_tree
from litert_build.sources.trees import materialize


def tarball(path: Path, files: dict[str, str]) -> str:
    """Write an archive below a folder `top` and return its sha256."""
    with tarfile.open(path, "w:gz") as box:
        for name, text in files.items():
            info = tarfile.TarInfo(f"top/{name}")
            info.size = len(text.encode())
            box.addfile(info, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lock(tmp_path: Path, **repositories: dict[str, Any]) -> Lock:
    data = {
        "schema": 1,
        "ref": "t",
        "main": next(iter(repositories)),
        "repositories": repositories,
        "roots": ["//:x"],
        "product": {"kind": "host"},
    }
    (tmp_path / "lock.json").write_text(json.dumps(data), encoding="utf-8")
    return Lock.read(tmp_path / "lock.json")


def trees(tmp_path: Path, lock: Lock, **more: Any) -> dict[str, Path]:
    return materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", offline=True, **more)


def test_a_local_tree_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    assert trees(tmp_path, lock(tmp_path, app={"path": "app"})) == {"app": tmp_path / "app"}
    assert not (tmp_path / "store").exists()


def test_an_overlay_shows_a_local_tree_with_some_files_replaced(tmp_path: Path) -> None:
    for name in ("app/BUILD", "app/src/deep/a.cc", "app/src/b.cc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "new.BUILD").write_text("one")
    it = lock(tmp_path, app={"path": "app", "overlay": {"BUILD": "new.BUILD", "src/deep/BUILD": "new.BUILD"}})
    app = trees(tmp_path, it)["app"]
    assert app == tmp_path / "overlays/app"
    assert (app / "BUILD").read_text() == (app / "src/deep/BUILD").read_text() == "one"
    assert not (app / "BUILD").is_symlink()
    assert (app / "src/deep/a.cc").read_text() == "app/src/deep/a.cc"
    stamp = (app / "BUILD").stat().st_mtime_ns
    trees(tmp_path, it)
    assert (app / "BUILD").stat().st_mtime_ns == stamp
    (tmp_path / "new.BUILD").write_text("two")
    (tmp_path / "app/src/b.cc").unlink()
    (tmp_path / "app/c.cc").write_text("c")
    trees(tmp_path, it)
    assert (app / "BUILD").read_text() == "two"
    assert (app / "c.cc").exists()
    assert not os.path.lexists(app / "src/b.cc")
    assert (tmp_path / "app/BUILD").read_text() == "app/BUILD"


def test_an_archive_becomes_a_sealed_tree_made_once(tmp_path: Path) -> None:
    digest = tarball(tmp_path / "a.tar.gz", {"run.sh": "#!", "inner/x.c": "int x;"})
    it = lock(tmp_path, a={"urls": ["a.tar.gz"], "sha256": digest, "strip_prefix": "top", "add_prefix": "moved"})
    first = trees(tmp_path, it)["a"]
    assert (first / "moved/inner/x.c").read_text() == "int x;"
    for path in (first, first / "moved/inner", first / "moved/inner/x.c"):
        assert not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    (tmp_path / "a.tar.gz").unlink()
    assert trees(tmp_path, it)["a"] == first
    remove_tree(first)
    assert not first.exists()


def test_the_name_of_a_tree_is_told_by_all_that_made_it(tmp_path: Path) -> None:
    digest = tarball(tmp_path / "a.tar.gz", {"x": "1\n"})
    (tmp_path / "o").write_text("1")
    plain: dict[str, Any] = {"urls": ["a.tar.gz"], "sha256": digest}
    variants: list[dict[str, Any]] = [
        {},
        {"strip_prefix": "top"},
        {"add_prefix": "p"},
        {"build_file": {"content": ""}},
        {"build_file": {"content": "x"}},
        {"link_files": {"BUILD": {"content": "x"}}},
        {"overlay": {"y": "o"}},
    ]
    made = {trees(tmp_path, lock(tmp_path, a={**plain, **variant}))["a"] for variant in variants}
    assert len(made) == len(variants)
    (tmp_path / "o").write_text("2")
    assert trees(tmp_path, lock(tmp_path, a={**plain, "overlay": {"y": "o"}}))["a"] not in made
    again = lock(tmp_path, a={**plain, "rule": "http_archive", "location": "WORKSPACE:3", "repo_mapping": {"@x": "@y"}})
    assert trees(tmp_path, again)["a"] in made


def test_files_of_other_repositories_go_into_a_tree(tmp_path: Path) -> None:
    (tmp_path / "app/third_party").mkdir(parents=True)
    (tmp_path / "app/third_party/a.BUILD").write_text("exports_files([])")
    digest = tarball(tmp_path / "a.tar.gz", {"BUILD": "old"})
    entry: dict[str, Any] = {"urls": ["a.tar.gz"], "sha256": digest, "strip_prefix": "top", "build_file": "@app//third_party:a.BUILD"}
    made = trees(tmp_path, lock(tmp_path, a=entry, app={"path": "app"}))
    assert (made["a"] / "BUILD.bazel").read_text() == "exports_files([])"
    entry["build_file"] = {"file": "@app//third_party:a.BUILD", "sha256": "0" * 64}
    with pytest.raises(BuildError, match=r"@app//:third_party/a\.BUILD is not the file that was locked"):
        trees(tmp_path, lock(tmp_path, a=entry, app={"path": "app"}))
    entry["build_file"] = "@app//third_party:none"
    with pytest.raises(BuildError, match="cannot read @app//:third_party/none"):
        trees(tmp_path, lock(tmp_path, a=entry, app={"path": "app"}))


def test_repositories_that_take_from_each_other_are_refused(tmp_path: Path) -> None:
    entry = {"urls": ["a.tar.gz"], "sha256": "0" * 64}
    it = lock(tmp_path, a={**entry, "build_file": "@b//:x"}, b={**entry, "build_file": "@a//:x"})
    with pytest.raises(BuildError, match="take files from each other: a -> b -> a"):
        materialize(it, store=tmp_path / "s", overlays_dir=tmp_path / "o")


def test_a_wrong_digest_of_a_local_archive_tells_both(tmp_path: Path) -> None:
    digest = tarball(tmp_path / "a.tar.gz", {"x": "1"})
    with pytest.raises(BuildError) as caught:
        trees(tmp_path, lock(tmp_path, a={"urls": ["a.tar.gz"], "sha256": "0" * 64}))
    assert "the file of a has the wrong digest" in str(caught.value)
    assert f"expected sha256 {'0' * 64}" in str(caught.value)
    assert f"received sha256 {digest}" in str(caught.value)
    assert caught.value.where == str(tmp_path / "a.tar.gz")
    assert not list((tmp_path / "store").rglob("a-*"))


def test_a_checkout_stands_in_for_an_archive(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/x").write_text("mine")
    it = lock(tmp_path, a={"urls": ["a.tar.gz"], "sha256": "0" * 64, "build_file": {"content": "b"}})
    made = trees(tmp_path, it, local={"a": tmp_path / "work"})["a"]
    assert ((made / "x").read_text(), (made / "BUILD.bazel").read_text()) == ("mine", "b")
    with pytest.raises(BuildError, match=r"the lock has no repository 'aa' to replace\n.*did you mean a"):
        trees(tmp_path, it, local={"aa": tmp_path / "work"})
    with pytest.raises(BuildError, match=r"src_zzz=: the lock has no repository 'zzz' to replace\n.*it has a$"):
        trees(tmp_path, it, local={"zzz": tmp_path / "work"})
    with pytest.raises(BuildError, match=r"src_a=: .*none is not a folder"):
        trees(tmp_path, it, local={"a": tmp_path / "none"})


def test_an_interrupted_extraction_is_never_taken_for_whole(tmp_path: Path) -> None:
    digest = tarball(tmp_path / "a.tar.gz", {"x": "1", "y": "2"})
    store = Store(tmp_path / "store")
    left = store.root / "trees" / ".a-half"

    def interrupt(folder: Path) -> None:
        (folder / "x").write_text("1")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.make_tree("a", digest, interrupt)
    assert list((store.root / "trees").iterdir()) == []
    left = store.tree("a", digest).with_name(f".{store.tree('a', digest).name}.dead")
    left.mkdir()
    (left / "x").write_text("half")
    tree = store.make_tree("a", digest, lambda folder: (folder / "y").write_text("whole") and None)
    assert [path.name for path in (store.root / "trees").iterdir()] == [tree.name]
    assert [path.name for path in tree.iterdir()] == ["y"]


def test_the_store_lies_in_the_cache_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_store() == Path("/somewhere/litert-lm-native") or os.name == "nt"


def test_who_waits_for_another_process_says_so(tmp_path: Path) -> None:
    waited: list[bool] = []
    first, second = Store(tmp_path), Store(tmp_path, lambda: waited.append(True))

    def take() -> None:
        with second.lock("key"):
            waited.append(False)

    with ThreadPoolExecutor(1) as pool:
        with first.lock("key"):
            future = pool.submit(take)
            while not waited:
                time.sleep(0.02)
            assert waited == [True]
        future.result(timeout=20)
    assert waited == [True, False]
