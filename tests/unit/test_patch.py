"""Patches apply exactly or not at all."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.sources.patches import apply_patch

ONE = b"--- a/x.c\n+++ b/x.c\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "x.c").write_bytes(b"a\nb\nc\nd\ne\n")
    return tmp_path


def apply(tree: Path, patch: bytes, strip: int = 1) -> list[str]:
    return apply_patch(patch, tree, strip=strip, source="p.patch")


def test_a_hunk_applies_where_it_says(tree: Path) -> None:
    assert apply(tree, b"Some prose\n" + ONE) == ["x.c"]
    assert (tree / "x.c").read_bytes() == b"a\nb\nC\nd\ne\n"
    apply_patch(ONE, tree, strip=1, reverse=True)
    assert (tree / "x.c").read_bytes() == b"a\nb\nc\nd\ne\n"


def test_a_dry_run_writes_nothing(tree: Path) -> None:
    apply_patch(ONE, tree, strip=1, dry_run=True)
    assert (tree / "x.c").read_bytes() == b"a\nb\nc\nd\ne\n"


def test_an_offset_is_taken_only_if_one_place_fits(tree: Path) -> None:
    (tree / "x.c").write_bytes(b"new\nnew\na\nb\nc\nd\n")
    apply(tree, ONE)
    assert (tree / "x.c").read_bytes() == b"new\nnew\na\nb\nC\nd\n"
    (tree / "x.c").write_bytes(b"new\nb\nc\nd\nb\nc\nd\n".replace(b"new\n", b"new\nnew\n"))
    with pytest.raises(BuildError, match="it fits at lines 3, 6, but not where the patch puts it, at 2"):
        apply(tree, ONE)


def test_fuzz_is_an_error_that_shows_the_hunk(tree: Path) -> None:
    (tree / "x.c").write_bytes(b"a\nB\nc\nd\ne\n")
    with pytest.raises(BuildError) as caught:
        apply(tree, ONE)
    text = str(caught.value)
    assert "p.patch: hunk 1 of 1 does not fit x.c" in text
    assert "@@ -2,3 +2,3 @@\n     b\n    -c\n    +C\n     d\n" in text
    assert "the file has there, from line 2:\n    B\n    c\n    d" in text
    assert "rebase the patch" in text
    assert (tree / "x.c").read_bytes() == b"a\nB\nc\nd\ne\n"


def test_line_ends_count(tree: Path) -> None:
    (tree / "x.c").write_bytes(b"a\r\nb\r\nc\r\nd\r\ne\r\n")
    with pytest.raises(BuildError, match="only the line ends differ"):
        apply(tree, ONE)


def test_files_come_go_move_and_become_executable(tree: Path) -> None:
    (tree / "old.sh").write_text("#!\n")
    (tree / "gone").write_text("x\n")
    (tree / "empty").write_text("")
    patch = (
        b"diff --git a/n/new b/n/new\nnew file mode 100755\n--- /dev/null\n+++ b/n/new\n"
        b"@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n"
        b"diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        b"diff --git a/old.sh b/moved.sh\nsimilarity index 100%\nrename from old.sh\nrename to moved.sh\n"
        b"diff --git a/x.c b/x.c\nold mode 100644\nnew mode 100755\n"
        b"diff --git a/made b/made\nnew file mode 100644\nindex 0000000..e69de29\n"
        b"diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n"
    )
    assert apply(tree, patch) == ["n/new", "gone", "moved.sh", "x.c", "made", "empty"]
    assert (tree / "n/new").read_bytes() == b"1\n2"
    assert (tree / "n/new").stat().st_mode & stat.S_IXUSR
    assert (tree / "x.c").stat().st_mode & stat.S_IXUSR
    assert (tree / "moved.sh").read_text() == "#!\n"
    assert sorted(path.name for path in tree.iterdir()) == ["made", "moved.sh", "n", "x.c"]


def test_orig_names_mean_the_file_that_exists(tree: Path) -> None:
    apply(tree, ONE.replace(b"a/x.c", b"a/x.c.orig"))
    assert b"C" in (tree / "x.c").read_bytes()


def test_what_git_writes_applies(tmp_path: Path) -> None:
    """Random-ish edits by git diff come out as the edited file."""
    before = tmp_path / "before"
    after = tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
        (folder / "f").write_text("".join(f"line {at % 7}\n" for at in range(200)))
    lines = (after / "f").read_text().splitlines(keepends=True)
    del lines[150:155]
    lines[100:100] = ["new\n"] * 3
    lines[3] = "changed\n"
    lines.append("no newline")
    (after / "f").write_text("".join(lines))
    diff = subprocess.run(["git", "diff", "--no-index", "before", "after"], cwd=tmp_path, capture_output=True, check=False).stdout
    apply_patch(diff, before, strip=2)
    assert (before / "f").read_bytes() == (after / "f").read_bytes()
    apply_patch(diff, before, strip=2, reverse=True)
    assert (before / "f").read_text() == "".join(f"line {at % 7}\n" for at in range(200))


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (b"", "the patch changes nothing"),
        (ONE.replace(b"x.c", b"y.c"), "the patch changes y.c, which does not exist"),
        (ONE.replace(b"a/x.c", b"a/../x.c").replace(b"b/x.c", b"b/../x.c"), "no path inside the tree after -p1"),
        (ONE.replace(b"a/x.c", b"x.c").replace(b"b/x.c", b"x.c"), "'x.c', which is no path inside the tree after -p1"),
        (ONE.replace(b" d\n", b""), "the hunk is shorter than its first line says"),
        (ONE.replace(b"-2,3", b"-2,2"), "the hunk is longer than its first line says"),
        (b"diff --git a/x b/x\nGIT binary patch\n", "p.patch:2: a binary patch cannot be applied"),
        (b"diff --git a/x b/y\ncopy from x\ncopy to y\n", "copies files cannot be applied"),
        (b"--- /dev/null\n+++ b/x.c\n@@ -0,0 +1 @@\n+x\n", "the patch creates x.c, which exists"),
        (b"--- a/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "the patch deletes x.c, which holds more than the patch says"),
        (b"--- a/link/x\n+++ b/link/x\n@@ -1 +1 @@\n-a\n+b\n", "leads out of the tree"),
    ],
)
def test_what_cannot_be_applied(tree: Path, patch: bytes, message: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x").write_text("a\n")
    (tree / "link").symlink_to(outside)
    with pytest.raises(BuildError) as caught:
        apply(tree, patch)
    assert message in str(caught.value)
    assert (outside / "x").read_text() == "a\n"
    assert (tree / "x.c").read_bytes() == b"a\nb\nc\nd\ne\n"
