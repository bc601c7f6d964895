"""Compile launchers that exist: ccache, sccache with Redis, distcc with two daemons. Theirs are the engines; held here is that our
commands go through them, hit and stay right. icecc needs namespaces of its own: test_launcher_icecc.py."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.test_cache import UNITS, checkout

BIN = str(Path(sys.executable).parent)
os.environ["PATH"] = os.pathsep.join((BIN, *[part for part in os.environ["PATH"].split(os.pathsep) if part != BIN]))


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(*argv: str | Path, port: int) -> Iterator[None]:
    """Run a server until the body ends; the body starts when the port answers."""
    process = subprocess.Popen([*map(str, argv)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < deadline and process.poll() is None, argv
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(20)


def same_as_plain(tmp_path: Path, name: str) -> None:
    """Hold that a build through a launcher left the bytes that the compiler alone leaves."""
    plain = checkout(tmp_path / "plain")
    assert plain.scons().code == 0
    root = tmp_path / name / "build/linux-x64/engine"
    assert all((root / unit).read_bytes() == (plain.root / unit).read_bytes() for unit in UNITS)


@needs("ccache")
def test_ccache_hits_from_another_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    for name in ("first", "second"):
        assert checkout(tmp_path / name).scons("launcher=ccache").code == 0
    report = subprocess.run(["ccache", "--print-stats"], capture_output=True, text=True, check=True).stdout
    counts = dict(line.split("\t") for line in report.splitlines())
    assert int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"]) == 4
    same_as_plain(tmp_path, "second")


@needs("sccache", "redis-server")
def test_sccache_hits_in_redis_and_leaves_no_lock_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("SCCACHE_REDIS", f"redis://127.0.0.1:{port}")
    monkeypatch.setenv("SCCACHE_SERVER_PORT", str(free_port()))
    monkeypatch.setenv("SCCACHE_IDLE_TIMEOUT", "60")
    with running("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", tmp_path, port=port):
        try:
            for name in ("first", "second"):
                result = checkout(tmp_path / name).scons("launcher=sccache")
                assert result.code == 0, result.text
            assert "waiting" not in checkout(tmp_path / "second").scons("launcher=sccache").text
            report = subprocess.run(["sccache", "--show-stats"], capture_output=True, text=True, check=True).stdout
            hits = [line.split() for line in report.splitlines() if line.startswith("Cache hits  ")]
            assert hits and int(hits[0][-1]) == 4, report
            assert [line for line in report.splitlines() if line.startswith("Cache location") and "redis" in line], report
            assert stored_in_redis(port) >= 4
        finally:
            subprocess.run(["sccache", "--stop-server"], capture_output=True, check=False)
    same_as_plain(tmp_path, "second")


def stored_in_redis(port: int) -> int:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"DBSIZE\r\n")
        return int(connection.recv(64)[1:])


@needs("sccache")
def test_sccache_without_its_redis_fails_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCCACHE_REDIS", f"redis://127.0.0.1:{free_port()}")
    monkeypatch.setenv("SCCACHE_SERVER_PORT", str(free_port()))
    try:
        result = checkout(tmp_path / "first").scons("launcher=sccache")
    finally:
        subprocess.run(["sccache", "--stop-server"], capture_output=True, check=False)
    assert result.code == 2 and not result.ran, result.text
    assert "FAILED: Compile unit0.cc" in result.text and "Maybe the remote service is unreachable?" in result.text, result.text


@dataclass(frozen=True)
class Daemons:
    """Two distcc daemons on loopback. `folder` is theirs: a daemon gives up root before it writes."""

    folder: Path
    ports: tuple[int, int]

    def argv(self, port: int) -> tuple[str, ...]:
        user = "nobody" if os.geteuid() == 0 else getpass.getuser()
        return (
            "distccd", "--no-detach", "--daemon", "--user", user, "--listen", "127.0.0.1", "--allow", "127.0.0.1", "--port", str(port),
            "--enable-tcp-insecure", "--log-level", "info", "--log-file", f"{self.folder}/log{port}",
            "--pid-file", f"{self.folder}/pid{port}",
        )  # fmt: skip

    def compiled(self) -> list[int]:
        """How many compiles each has ended well."""
        return [(self.folder / f"log{port}").read_text().count("COMPILE_OK") for port in self.ports]

    def hosts(self, *ports: int) -> str:
        return " ".join(f"127.0.0.1:{port}/2" for port in ports)


@pytest.fixture
def daemons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemons]:
    (tmp_path / "distcc").mkdir()
    monkeypatch.setenv("DISTCC_DIR", str(tmp_path / "distcc"))
    monkeypatch.setenv("DISTCC_FALLBACK", "0")
    with tempfile.TemporaryDirectory(prefix="distcc-") as folder:
        Path(folder).chmod(0o777)
        made = Daemons(Path(folder), (free_port(), free_port()))
        with running(*made.argv(made.ports[0]), port=made.ports[0]), running(*made.argv(made.ports[1]), port=made.ports[1]):
            yield made


@needs("distcc", "distccd")
def test_distcc_compiles_on_both_daemons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, daemons: Daemons) -> None:
    """One job at a time goes to the first host of the list; which daemon takes which of several at once is distcc's affair."""
    first, second = daemons.ports
    for name, hosts, jobs, expected in (
        ("one", daemons.hosts(first, second), "-j1", [4, 0]),
        ("two", daemons.hosts(second, first), "-j1", [4, 4]),
        ("both", daemons.hosts(first, second), "-j4", None),
    ):
        monkeypatch.setenv("DISTCC_HOSTS", hosts)
        result = checkout(tmp_path / name).scons("launcher=distcc", jobs)
        assert result.code == 0, result.text
        assert expected is None or daemons.compiled() == expected
    assert sum(daemons.compiled()) == 12
    same_as_plain(tmp_path, "both")


@needs("distcc", "distccd")
def test_distcc_without_a_daemon_fails_and_names_the_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, daemons: Daemons) -> None:
    monkeypatch.setenv("DISTCC_HOSTS", daemons.hosts(free_port()))
    result = checkout(tmp_path / "first").scons("launcher=distcc", "-j1")
    assert result.code == 2 and not result.ran and "Compile unit0.cc" in result.text, result.text
    assert daemons.compiled() == [0, 0]
