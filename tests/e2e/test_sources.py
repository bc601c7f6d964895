"""Whole trees through real servers, real git, real kills and a full disk: the next good run succeeds, nothing half-made is used."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from litert_build.errors import BuildError
from litert_build.sources import commands
from litert_build.sources.git import resolve
from litert_build.sources.lock import Lock
from litert_build.sources.network import Network
from litert_build.sources.trees import materialize

from tests.loopback import Fault, Loopback, wait_for

QUICK = Network(timeout=5, delay=0.01, attempts=3, token="")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    (tmp_path / "github").mkdir()
    with Loopback(tmp_path / "github") as server:
        yield server


def tarball(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as box:
        for name, data in files.items():
            info = tarfile.TarInfo(f"top/{name}")
            info.size = len(data)
            box.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def serve(server: Loopback, path: str, files: dict[str, bytes]) -> dict[str, Any]:
    server.files[path] = tarball(files)
    return {"urls": [server.url(path)], "sha256": hashlib.sha256(server.files[path]).hexdigest(), "strip_prefix": "top"}


def write_lock(tmp_path: Path, **repositories: dict[str, Any]) -> Lock:
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


def trees(tmp_path: Path, lock: Lock, network: Network = QUICK, **more: Any) -> dict[str, Path]:
    return materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", network=network, **more)


CHILD = """
import sys
from pathlib import Path
from litert_build.sources import archive
from litert_build.sources.lock import Lock
from litert_build.sources.network import Network
from litert_build.sources.trees import materialize
from litert_build.errors import BuildError
{extra}
try:
    lock, store = Lock.read(Path(sys.argv[1])), Path(sys.argv[2])
    trees = materialize(lock, store=store, overlays_dir=Path(sys.argv[2] + "-o"), network=Network(token=""))
    print(trees)
except BuildError as error:
    sys.exit(str(error))
"""


def child(lock: Lock, store: Path, extra: str = "", before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a process that makes the trees of a lock."""
    environment = {**os.environ, "PYTHONPATH": "site_scons"}
    argv = [*before, sys.executable, "-c", CHILD.format(extra=extra), str(lock.file), str(store)]
    return subprocess.Popen(argv, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_patches_and_commands_make_the_tree(server: Loopback, tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "a.patch").write_text("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-old\n+new\n")
    (app / "PATCHED").write_text("--- a/BUILD.bazel\n+++ b/BUILD.bazel\n@@ -1 +1 @@\n-build\n+patched\n")
    entry = serve(server, "/a.tar.gz", {"x.c": b"old\n", "BUILD": b"upstream's\n"})
    entry |= {
        "build_file": {"content": "build\n"},
        "patches": [{"file": "@app//:a.patch", "strip": 1}, {"file": "app/PATCHED", "strip": 1}],
        "patch_cmds": ["sed -i.bak 's/new/newer/' x.c", "rm x.c.bak; printf done > 'a b'"],
        "link_files": {"linked": "app/a.patch"},
        "location": "WORKSPACE:7",
    }
    made = trees(tmp_path, write_lock(tmp_path, a=entry, app={"path": "app"}))["a"]
    assert {path.name: path.read_text() for path in made.iterdir() if path.name != "linked"} == {
        "x.c": "newer\n", "BUILD": "upstream's\n", "BUILD.bazel": "patched\n", "a b": "done",
    }  # fmt: skip
    first = made
    entry["patch_cmds"] = ["echo before; false"]
    with pytest.raises(BuildError) as caught:
        trees(tmp_path, write_lock(tmp_path, a=entry, app={"path": "app"}))
    assert str(caught.value).startswith("WORKSPACE:7: a patch command failed: echo before; false (exit 1)\n    before")
    entry["patch_cmds"] = []
    (app / "a.patch").write_text("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-oldest\n+new\n")
    with pytest.raises(BuildError, match=r"hunk 1 of 1 does not fit x\.c"):
        trees(tmp_path, write_lock(tmp_path, a=entry, app={"path": "app"}))
    assert [path.name for path in (tmp_path / "store/trees").iterdir()] == [first.name]


def test_git_fetches_one_commit_and_a_moved_tag_resolves_anew(server: Loopback, tmp_path: Path) -> None:
    first = server.repository("o/lib", {"x.c": "one\n", "sub/y.c": "y\n"}, tag="v1.0.0")
    second = server.repository("o/lib", {"x.c": "two\n"}, tag="v1.0.0", parent=True)
    remote, network = "https://github.com/o/lib", Network(github=server.base, token="", delay=0.01)
    assert resolve(remote, "v1.0.0", network) == second != first
    assert resolve(remote, f"g{second[:12]}", network) == second
    assert resolve(remote, "main", network) == second
    with pytest.raises(BuildError, match=r"has no tag or branch 'v1\.0\.1'\n  -> did you mean v1\.0\.0\?"):
        resolve(remote, "v1.0.1", network)
    with pytest.raises(BuildError, match=r"no branch or tag of .* ends at g000000000000"):
        resolve(remote, "g000000000000", network)
    lock = write_lock(tmp_path, a={"git": remote, "commit": first}, b={"git": remote, "commit": first, "strip_prefix": "sub"})
    made = trees(tmp_path, lock, network)
    assert ((made["a"] / "x.c").read_text(), (made["b"] / "y.c").read_text()) == ("one\n", "y\n")
    assert sorted(path.name for path in made["a"].iterdir()) == ["sub", "x.c"]
    assert trees(tmp_path, lock, offline=True) == made
    with pytest.raises(BuildError, match="cannot fetch 0000"):
        trees(tmp_path, write_lock(tmp_path, a={"git": remote, "commit": "0" * 40}), network)
    with pytest.raises(BuildError, match="the commit of v9 is not in the store, and offline=yes forbids to fetch it"):
        resolve(remote, "v9", Network(offline=True))


def test_a_server_that_fails_once_does_not_fail_git(server: Loopback, tmp_path: Path) -> None:
    commit = server.repository("o/lib", {"x.c": "one\n"})
    server.faults["/o/lib.git/info/refs"] = [Fault(status=503)]
    made = trees(tmp_path, write_lock(tmp_path, a={"git": server.url("/o/lib.git"), "commit": commit}))
    assert (made["a"] / "x.c").exists()


def test_git_gets_the_token_by_its_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], dict[str, str]]] = []

    def run(argv: list[str], *, env: dict[str, str], **_: Any) -> str:
        seen.append((argv, env))
        return "0" * 40 + "\trefs/tags/v1\n"

    monkeypatch.setattr("litert_build.sources.git.run", run)
    assert resolve("https://github.com/o/r", "v1", Network(token="t0ps3cret")) == "0" * 40
    resolve("https://elsewhere.example/o/r", "v1", Network(token="t0ps3cret"))
    (argv, env), (_, other) = seen
    assert env["GIT_CONFIG_KEY_0"] == "http.https://github.com/.extraHeader"
    assert base64.b64decode(env["GIT_CONFIG_VALUE_0"].split()[-1]) == b"x-access-token:t0ps3cret"
    assert not any("t0ps3cret" in word for word in argv)
    assert "GIT_CONFIG_VALUE_0" not in other


def test_a_link_out_of_a_git_tree_is_refused(server: Loopback, tmp_path: Path) -> None:
    server.repository("o/lib", {"x.c": "one\n"})
    server.root.joinpath("work/o/lib/out").symlink_to("../../..")
    commit = server.repository("o/lib", {}, parent=True)
    with pytest.raises(BuildError, match="the link out leads out of the tree"):
        trees(tmp_path, write_lock(tmp_path, a={"git": server.url("/o/lib.git"), "commit": commit}))
    assert list((tmp_path / "store/trees").iterdir()) == []


def pointer(data: bytes) -> bytes:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(data).hexdigest()}\nsize {len(data)}\n".encode()


def test_lfs_pointers_become_files(server: Loopback, tmp_path: Path) -> None:
    library, other = b"\x7fELF" * 1000, b"other"
    server.lfs[hashlib.sha256(library).hexdigest()] = library
    entry = serve(
        server,
        "/a.tar.gz",
        {"prebuilt/linux/lib.so": pointer(library), "prebuilt/win/lib.dll": pointer(other), "prebuilt/linux/README": b"x"},
    )
    entry["lfs"] = {"url": server.url("/o/r.git/info/lfs"), "include": ["prebuilt/linux/*"]}
    server.faults["/o/r.git/info/lfs/objects/batch"] = [Fault(status=502)]
    made = trees(tmp_path, write_lock(tmp_path, a=entry))["a"]
    assert (made / "prebuilt/linux/lib.so").read_bytes() == library
    assert (made / "prebuilt/win/lib.dll").read_bytes() == pointer(other)
    assert server.gets(f"/lfs/{hashlib.sha256(library).hexdigest()}")[0]["x-lfs"] == "yes"
    entry["lfs"]["include"] = ["prebuilt/win/*"]
    with pytest.raises(BuildError, match="is not to be had: Object does not exist"):
        trees(tmp_path, write_lock(tmp_path, a=entry))
    entry["lfs"]["include"] = ["prebuilt/mac/*"]
    with pytest.raises(BuildError, match="the LFS pattern 'prebuilt/mac/\\*' matches no file"):
        trees(tmp_path, write_lock(tmp_path, a=entry))
    entry["lfs"]["include"] = ["prebuilt/*"]
    server.lfs[hashlib.sha256(other).hexdigest()] = b"forged"
    with pytest.raises(BuildError, match="wrong digest"):
        trees(tmp_path, write_lock(tmp_path, a=entry))


def test_two_builds_share_one_store(server: Loopback, tmp_path: Path) -> None:
    entry = serve(server, "/a.tar.gz", {"x": os.urandom(200_000)})
    server.faults["/a.tar.gz"] = [Fault(stall=0.5)]
    lock = write_lock(tmp_path, a=entry)
    results = [finish(process) for process in [child(lock, tmp_path / "store") for _ in range(2)]]
    assert [code for code, _, _ in results] == [0, 0], results
    assert results[0][1] == results[1][1]
    assert len(server.gets("/a.tar.gz")) == 1


def test_a_kill_during_the_download_leaves_a_part_that_is_continued(server: Loopback, tmp_path: Path) -> None:
    entry = serve(server, "/a.tar.gz", {"x": os.urandom(300_000)})
    server.faults["/a.tar.gz"] = [Fault(stall=30)]
    lock = write_lock(tmp_path, a=entry)
    process = child(lock, tmp_path / "store")
    part = tmp_path / "store/partial" / entry["sha256"]
    half = len(server.files["/a.tar.gz"]) // 2
    wait_for(lambda: part.exists() and part.stat().st_size >= half - 20_000)
    process.kill()
    finish(process)
    assert (trees(tmp_path, lock)["a"] / "x").stat().st_size == 300_000
    assert server.gets("/a.tar.gz")[1]["range"].startswith("bytes=")


KILL_IN_THIRD_FILE = """
import os, signal
write, written = archive._write, []
def deadly(entry, *rest):
    written.append(entry)
    if len(written) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    write(entry, *rest)
archive._write = deadly
"""


def test_a_kill_during_extraction_leaves_nothing_that_is_used(server: Loopback, tmp_path: Path) -> None:
    lock = write_lock(tmp_path, a=serve(server, "/a.tar.gz", {str(at): b"x" for at in range(5)}))
    code, _, _ = finish(child(lock, tmp_path / "store", KILL_IN_THIRD_FILE))
    assert code == -signal.SIGKILL
    left = list((tmp_path / "store/trees").iterdir())
    assert [path.name.startswith(".a-") for path in left] == [True]
    made = trees(tmp_path, lock)["a"]
    assert sorted(path.name for path in made.iterdir()) == ["0", "1", "2", "3", "4"]
    assert list((tmp_path / "store/trees").iterdir()) == [made]


def test_a_kill_during_patching_leaves_nothing_that_is_used(server: Loopback, tmp_path: Path) -> None:
    flag = tmp_path / "kill"
    flag.touch()
    entry = serve(server, "/a.tar.gz", {"x": b"x"})
    entry["patch_cmds"] = [f"echo half > y; if [ -e '{flag}' ]; then kill -9 $PPID; fi; echo whole > y"]
    lock = write_lock(tmp_path, a=entry)
    code, _, _ = finish(child(lock, tmp_path / "store"))
    assert code == -signal.SIGKILL
    flag.unlink()
    made = trees(tmp_path, lock)["a"]
    assert (made / "y").read_text() == "whole\n"
    assert list((tmp_path / "store/trees").iterdir()) == [made]


def in_small_disk(folder: Path, size: str) -> tuple[str, ...]:
    """Return a prefix for a command that sees a tmpfs of `size` at `folder`; skip where the system allows none."""
    mount = f'mount -t tmpfs -o size={size} tmpfs "{folder}"'
    probe = (
        shutil.which("unshare") and subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, check=False).returncode == 0
    )
    if not probe:
        pytest.skip("no tmpfs can be mounted here")
    return ("unshare", "-rm", "sh", "-c", f'{mount} && exec "$0" "$@"')


def test_a_full_disk_is_told_and_the_next_run_succeeds(server: Loopback, tmp_path: Path) -> None:
    lock = write_lock(tmp_path, a=serve(server, "/a.tar.gz", {"x": os.urandom(3_000_000)}))
    (tmp_path / "store").mkdir()
    code, _, err = finish(child(lock, tmp_path / "store", before=in_small_disk(tmp_path / "store", "2m")))
    assert code == 1
    assert "cannot write to the store: No space left on device" in err
    assert "free some space, or put the store on another disk with store=PATH" in err
    code, _, err = finish(child(lock, tmp_path / "store", before=in_small_disk(tmp_path / "store", "5m")))
    assert (code, "No space left on device" in err) == (1, True), "the archive fits, the tree does not"
    assert (trees(tmp_path, lock)["a"] / "x").stat().st_size == 3_000_000


def test_a_read_only_store_serves_what_it_has_and_says_what_it_cannot(server: Loopback, tmp_path: Path) -> None:
    one, two = serve(server, "/a.tar.gz", {"x": b"1"}), serve(server, "/b.tar.gz", {"x": b"2"})
    made = trees(tmp_path, write_lock(tmp_path, a=one))
    store = tmp_path / "store"
    bind = f'mount --bind "{store}" "{store}" && mount -o remount,ro,bind "{store}" && exec "$0" "$@"'
    in_small_disk(store, "1m")
    before = ("unshare", "-rm", "sh", "-c", bind)
    code, out, err = finish(child(write_lock(tmp_path, a=one), store, before=before))
    assert (code, str(made["a"]) in out) == (0, True), err
    code, _, err = finish(child(write_lock(tmp_path, b=two), store, before=before))
    assert code == 1
    assert "cannot write to the store: Read-only file system" in err
    assert "make it writable, or name another one with store=PATH" in err


def test_a_clock_set_back_changes_nothing(server: Loopback, tmp_path: Path) -> None:
    lock = write_lock(tmp_path, a=serve(server, "/a.tar.gz", {"x": b"1"}), b=serve(server, "/b.tar.gz", {"x": b"2"}))
    made = trees(tmp_path, write_lock(tmp_path, a=serve(server, "/a.tar.gz", {"x": b"1"})))
    for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]:
        os.utime(path, (4_000_000_000, 4_000_000_000))
    again = trees(tmp_path, lock)
    assert (again["a"], (again["b"] / "x").read_text()) == (made["a"], "2")
    assert len(server.gets("/a.tar.gz")) == 1


def escaping() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as box:
        link = tarfile.TarInfo("top/out")
        link.type, link.linkname = tarfile.SYMTYPE, "../../.."
        box.addfile(link)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("served", "pinned", "message"),
    [
        (b"<!DOCTYPE html><html>log in</html>", False, "the server answered with a page"),
        (tarball({"x": b"good"})[:-20], False, "wrong digest"),
        (tarball({"x": b"good"})[:-20], True, "a.tar.gz: the archive"),
        (escaping(), True, "out"),
        (tarball({"x": b"forged"}), False, "wrong digest"),
    ],
    ids=("page", "short", "short as pinned", "escaping", "forged"),
)
def test_after_what_was_refused_the_next_good_run_succeeds(
    server: Loopback, tmp_path: Path, served: bytes, pinned: bool, message: str
) -> None:
    """`pinned`: the lock has the digest of the bad archive, so that it is unpacked."""
    entry = serve(server, "/a.tar.gz", {"x": b"good"})
    bad = {**entry, "sha256": hashlib.sha256(served).hexdigest()} if pinned else entry
    server.faults["/a.tar.gz"] = [Fault(body=served)]
    with pytest.raises(BuildError) as caught:
        trees(tmp_path, write_lock(tmp_path, a=bad), QUICK)
    assert message in str(caught.value)
    assert not [path for path in (tmp_path / "store").rglob("a-*") if path.is_dir()], "nothing half-made is used"
    made = trees(tmp_path, write_lock(tmp_path, a=entry))["a"]
    assert {path.name: path.read_bytes() for path in made.iterdir()} == {"x": b"good"}


@pytest.mark.parametrize(("system", "windows", "expected"), [("posix", ("w",), "bash"), ("nt", ("w",), "powershell"), ("nt", (), "bash")])
def test_windows_has_commands_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str, windows: tuple[str, ...], expected: str
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(commands, "run", lambda argv, **_: ran.append(list(argv)))
    monkeypatch.setattr(commands, "os", SimpleNamespace(name=system))
    commands.run_patch_commands(("p",), windows, tmp_path, "x")
    assert [(Path(argv[0]).name, argv[-1]) for argv in ran] == [(expected, "w" if expected == "powershell" else "p")]
