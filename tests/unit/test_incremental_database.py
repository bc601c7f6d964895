"""The dependency database alone: what it holds, what it drops, and what a damaged, foreign or interrupted file leads to."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.incremental.database import Database
from litert_build.incremental.depfile import read_depfile
from litert_build.incremental.files import ABSENT, digest_of, stamp_of
from litert_build.incremental.search import SearchPlaces, include_folders, is_shadowed, looked_in, probes
from litert_build.incremental.signing import sign

OLD = 10**9  # a time of a file that is surely before any step


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    write(tmp_path, "a.cc", "a")
    write(tmp_path, "a.h", "h")
    time.sleep(0.05)
    return tmp_path


def opened(base: Path) -> Database:
    return Database.open(base / ".build", base)


def recorded(base: Path, database: Database, key: str = "a.o", inputs: tuple[str, ...] = ("a.cc", "a.h")) -> bool:
    started = database.begin(key)
    write(base, key, "object")
    return database.record(key, b"signature", inputs=inputs, outputs=[key], started=started, seconds=1.5)


def saved(base: Path) -> None:
    (base / ".build").mkdir()
    database = opened(base)
    assert recorded(base, database)
    database.save()


def test_what_was_recorded_holds_until_something_changes(base: Path) -> None:
    saved(base)
    database = opened(base)
    assert database.holds("a.o", b"signature") and database.times["a.o"] == 1.5
    assert not database.holds("a.o", b"another signature") and not database.holds("b.o", b"signature")
    write(base, "a.h", "other")
    assert not opened(base).holds("a.o", b"signature")
    write(base, "a.h", "h")
    assert opened(base).holds("a.o", b"signature")
    (base / "a.o").unlink()
    assert not opened(base).holds("a.o", b"signature")


def test_a_file_is_hashed_only_if_it_moved(base: Path) -> None:
    saved(base)
    assert opened(base).counts == {"stats": 3, "hashes": 0, "changed": 0}
    os.utime(base / "a.h")
    assert opened(base).counts == {"stats": 3, "hashes": 1, "changed": 0}


def test_what_was_found_changed_is_asked_again_only_once_a_step_made_something(base: Path) -> None:
    (base / ".build").mkdir()
    database = opened(base)
    write(base, "made.h", "1")
    assert recorded(base, database, "made.h", ("a.h",)) and recorded(base, database, "a.o", ("a.cc", "made.h"))
    database.save()
    write(base, "made.h", "edited")
    database = opened(base)
    assert not database.holds_now("a.o", b"signature")
    assert recorded(base, database, "made.h", ("a.h",))  # as it was when a.o was made
    assert database.holds_now("a.o", b"signature")


def test_an_input_written_after_the_step_began_is_not_trusted(base: Path) -> None:
    (base / ".build").mkdir()
    database = opened(base)
    started = database.begin("a.o")
    write(base, "a.o", "object")
    write(base, "late.h", "written while the step ran")
    assert not database.record("a.o", b"s", inputs=["a.cc", "late.h"], outputs=["a.o"], started=started, seconds=0)
    assert not database.holds("a.o", b"s")


def test_an_input_edited_between_step_and_end_is_not_trusted(base: Path) -> None:
    (base / ".build").mkdir()
    database = opened(base)
    assert recorded(base, database)
    write(base, "a.h", "edited, and set back below")
    write(base, "a.h", "h")
    database.save()
    assert not opened(base).holds("a.o", b"signature")


def test_the_journal_of_a_killed_build_counts(base: Path) -> None:
    (base / ".build").mkdir()
    killed = opened(base)
    assert recorded(base, killed)
    del killed  # without save
    assert opened(base).holds("a.o", b"signature")


def test_what_a_killed_build_made_in_its_own_folders_doubts_nobody(base: Path) -> None:
    """Its compiles had watched them before others wrote there."""
    saved(base)
    for folder in ("bazel-out/bin", "src"):
        (base / folder).mkdir(parents=True)
    killed = opened(base)
    assert recorded(base, killed)
    killed.watch(["bazel-out/bin", "src"])
    assert recorded(base, killed)
    write(base, "bazel-out/bin/b.o", "later")
    assert opened(base).changed_folders() == []
    write(base, "src/a.h", "later")
    assert opened(base).changed_folders() == ["src"]


def test_a_journal_is_read_up_to_its_torn_end(base: Path) -> None:
    (base / ".build").mkdir()
    killed = opened(base)
    recorded(base, killed)
    recorded(base, killed, "b.o")
    journal = base / ".build/dependencies.journal"
    journal.write_bytes(journal.read_bytes()[:-3])
    database = opened(base)
    assert database.holds("a.o", b"signature") and not database.holds("b.o", b"signature")


def test_a_journal_is_read_up_to_a_frame_whose_checksum_is_wrong(base: Path) -> None:
    (base / ".build").mkdir()
    recorded(base, opened(base))
    journal = base / ".build/dependencies.journal"
    content = bytearray(journal.read_bytes())
    position = content.rindex(b"signature")
    content[position] ^= 1
    journal.write_bytes(content)
    database = opened(base)
    assert not database.holds("a.o", b"signature") and "a.o" not in database.records


def test_what_a_killed_build_recorded_of_files_that_moved_since_is_dropped(base: Path) -> None:
    (base / ".build").mkdir()
    recorded(base, opened(base))
    os.utime(base / "a.h")
    assert not opened(base).holds("a.o", b"signature")


def test_a_journal_of_another_database_is_ignored(base: Path) -> None:
    saved(base)
    journal = base / ".build/dependencies.journal"
    journal.write_bytes(b"litert-build journal 1\n" + bytes(16) + b"\xff" * 40)
    assert opened(base).holds("a.o", b"signature")


@pytest.mark.parametrize("content", [b"", b"foreign", b"litert-build dependencies 1\n", b"litert-build dependencies 1\n\0\0\0\0garbage"])
def test_an_unusable_file_is_said_and_nothing_of_it_trusted(base: Path, content: bytes) -> None:
    saved(base)
    (base / ".build/dependencies").write_bytes(content)
    database = opened(base)
    assert "the dependency database is unusable" in database.notice and database.records == {}


def test_a_folder_in_the_place_of_the_file_is_refused(base: Path) -> None:
    (base / ".build/dependencies").mkdir(parents=True)
    with pytest.raises(BuildError, match="a folder stands where the build keeps what it knows") as refusal:
        opened(base)
    assert f"{base}/.build/dependencies" in str(refusal.value) and "remove it" in str(refusal.value)


def test_remembering_ends_when_a_path_changes(base: Path) -> None:
    saved(base)
    database = opened(base)
    digest = database.remember("graph", b"key", [str(base / "a.cc"), str(base / "absent")], time.time_ns())
    database.save()
    assert opened(base).recall("graph", b"key") == digest and opened(base).recall("graph", b"other") is None
    write(base, "absent", "there now")
    assert opened(base).recall("graph", b"key") is None


def test_what_was_written_while_it_was_read_is_not_remembered(base: Path) -> None:
    database = opened(base)
    started = time.time_ns() - 50_000_000
    write(base, "BUILD", "written while the packages were evaluated")
    assert database.remember("graph", b"key", ["BUILD"], started) and database.recall("graph", b"key") is None
    assert database.remember("graph", b"key", ["BUILD"], time.time_ns()) == database.recall("graph", b"key")


def test_a_removed_step_takes_its_outputs_with_it(base: Path) -> None:
    (base / ".build").mkdir()
    database = opened(base)
    recorded(base, database, "bazel-out/gone.h")
    recorded(base, database, "bazel-out/user.o", ("a.cc", "bazel-out/gone.h"))
    database.keep_only({"bazel-out/user.o": ["bazel-out/user.o"]})
    assert not (base / "bazel-out/gone.h").exists() and (base / "bazel-out/user.o").exists() and (base / "a.cc").exists()
    assert not database.holds("bazel-out/user.o", b"signature")


def test_the_stamp_sees_a_time_that_was_set_back(base: Path) -> None:
    before = (base / "a.h").stat()
    write(base, "a.h", "x")
    os.utime(base / "a.h", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert stamp_of((base / "a.h").stat()) != stamp_of(before)


def test_a_folder_is_its_names(base: Path) -> None:
    before = digest_of(str(base))
    write(base, "a.h", "edited")
    assert digest_of(str(base)) == before
    write(base, "b.h", "new")
    assert digest_of(str(base)) != before and digest_of(str(base / "nothing")) == b""


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a.o: a.cc a.h \\\n  b.h\n", ["a.cc", "a.h", "b.h"]),
        ("a.o: a.cc a.h a.h\na.h:\n", ["a.cc", "a.h"]),
        ("x y.o: my\\ file.cc we\\#ird.h $$dollar.h\n", ["my file.cc", "we#ird.h", "$dollar.h"]),
        ("a.o: a.cc \\\r\n b.h\r\n", ["a.cc", "b.h"]),
        ("", []),
    ],
)
def test_depfiles(text: str, paths: list[str]) -> None:
    assert read_depfile(text) == paths


def test_include_folders_stand_in_the_order_of_the_search() -> None:
    argv = ["g++", "-isystem", "sys", "-Ione", "-iquote", ".", "-I", "two/", "-c", "a.cc"]
    assert include_folders(argv) == (".", "one", "two", "sys")


@pytest.mark.parametrize(
    ("read", "place", "shadowed"),
    [
        (["two/x.h"], "one", True),
        (["one/x.h"], "two", False),
        (["two/sub/x.h"], "one/sub", True),
        (["two/sub/x.h"], "one", False),
        (["/usr/include/x.h"], "one", True),
        (["/usr/include/sys/x.h"], "two/sys", True),
        (["two/x.h", "one/x.h"], "one", False),
    ],
)
def test_which_new_file_shadows_which_header(read: list[str], place: str, shadowed: bool) -> None:
    assert is_shadowed(("one", "two"), read, {"x.h": [place], "y.h": ["one"]}) is shadowed


def test_where_a_compile_looked_for_what_it_asked_for() -> None:
    """A folder of a header that was read counts too: a quoted name is looked for there first."""
    assert looked_in((".", "one"), ["one/a.h", "b.cc", "/usr/include/c.h"], ["x.h", "sub/y.h", "../z.h", "sub/v.h"]) == {
        ".", "one", "/usr/include", "sub", "one/sub", "/usr/include/sub", "..", "/usr",
    }  # fmt: skip


def test_the_folders_to_watch(tmp_path: Path) -> None:
    places = SearchPlaces(lambda path: str(tmp_path / path))
    assert places.watched(("one", "two"), ["two/sub/x.h", "a.cc", "/usr/include/y.h"]) == {"one", "two", "one/sub", "two/sub", "."}
    assert places.watched(("one", "two"), ["two/sub/z.h"]) == set()


def test_probes() -> None:
    assert probes(b'#if __has_include("a/b.h") && __has_include ( <c.h> )\n') == ["a/b.h", "c.h"]


def test_a_new_file_is_seen_in_a_folder_that_holds_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "self").symlink_to("self")
    before = digest_of(str(tmp_path))
    (tmp_path / "new.cc").touch()
    assert ABSENT != before != digest_of(str(tmp_path))


def test_signatures_keep_lists_apart() -> None:
    assert len({sign(["a", "b"]), sign(["ab"]), sign(["a"], ["b"]), sign(["b", "a"]), sign(["a", "b"], [])}) == 5


def test_files_of_the_future_are_from_before_the_clock_was_set_back(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (base / ".build").mkdir()
    database = opened(base)
    day = 86_400 * 10**9
    now = time.time_ns
    monkeypatch.setattr("litert_build.incremental.database.time.time_ns", lambda: now() - day)
    assert recorded(base, database)
    database.save()
    assert opened(base).holds("a.o", b"signature")
