"""What `scons -c` removes: all below a build's folder, never what a link leads to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from litert_build.cleaning import clean
from litert_build.errors import BuildError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A build folder of four files and links, its lock, and a source tree that links lead to."""
    root = tmp_path / "build/linux-x64/tiny"
    for name in (".build/lock", ".build/graph", "bazel-out/bin/x.so.rejected", "bazel-out/bin/x.so.args"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a.cc").write_text("")
    (root / "external").symlink_to(tmp_path / "tree")
    return root


def test_all_is_removed_but_the_lock_and_what_links_lead_to(root: Path, tmp_path: Path) -> None:
    kept = root / ".build/lock"
    assert clean(root, kept, pretend=True) == 4
    assert (root / ".build/graph").is_file() and (root / "external").is_symlink()
    assert clean(root, kept) == 4
    assert [path for path in root.rglob("*") if path.is_file()] == [kept]
    assert sorted(path.name for path in root.iterdir()) == [".build"]
    assert (tmp_path / "tree/a.cc").is_file()
    assert clean(root, kept) == 0


def test_what_cannot_be_removed_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(BuildError) as caught:
        clean(root, root / ".build/lock")
    assert str(caught.value).endswith(": cannot be removed: Permission denied\n  -> make its folder writable, or remove it")
