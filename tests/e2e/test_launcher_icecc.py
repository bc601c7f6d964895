"""icecc between two network namespaces of this test's own: a daemon and the scheduler where scons runs, a second daemon beyond a pair of
virtual interfaces. icecc looks for its peers by broadcast, and here a broadcast ends at the pair: it never runs anywhere else."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.engine import Engine
from tests.e2e.test_cache import checkout
from tests.e2e.test_launchers import needs, same_as_plain

PROGRAMS = needs("icecc", "iceccd", "icecc-scheduler", "icecc-create-env", "ip")
NEAR, FAR = "near", "far"
ADDRESSES = {NEAR: "10.77.0.1", FAR: "10.77.0.2"}
PORT = 8765
IDLE = "cpu  1 1 1 1 1 0 0 0 0 0\n"  # of proc(5)'s /proc/stat: a processor whose time stands still, which icecc takes for an idle one


@dataclass(frozen=True)
class Namespaces:
    """Two namespaces, named after `tag`, that reach each other and nothing else."""

    tag: str

    def name(self, side: str) -> str:
        return f"litert-{self.tag}-{side}"

    def within(self, side: str, *argv: str | Path) -> list[str]:
        return ["ip", "netns", "exec", self.name(side), *map(str, argv)]

    def make(self) -> None:
        """Raises CalledProcessError where this machine lets nobody make them."""
        for side in ADDRESSES:
            ip("netns", "add", self.name(side))
        ip("-n", self.name(NEAR), "link", "add", "pair", "type", "veth", "peer", "name", "pair", "netns", self.name(FAR))
        for side, address in ADDRESSES.items():
            ip("-n", self.name(side), "addr", "add", f"{address}/24", "dev", "pair")
            for interface in ("lo", "pair"):
                ip("-n", self.name(side), "link", "set", interface, "up")

    def processes(self, side: str) -> list[int]:
        command = ["ip", "netns", "pids", self.name(side)]
        return [int(pid) for pid in subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()]

    def delete(self) -> None:
        """End what still runs in them, and remove them."""
        for side in ADDRESSES:
            for pid in self.processes(side):
                os.kill(pid, signal.SIGKILL)
            subprocess.run(["ip", "netns", "delete", self.name(side)], capture_output=True, check=False)


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def namespaces(tag: str) -> Iterator[Namespaces]:
    made = Namespaces(f"{tag}-{os.getpid()}")
    try:
        try:
            made.make()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not to be had: {error.stderr.strip()}")
        yield made
    finally:
        made.delete()


@contextmanager
def running(argv: Sequence[str], **environment: str) -> Iterator[None]:
    process = subprocess.Popen(argv, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def wait_for(reached: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


@dataclass(frozen=True)
class Cluster:
    """The scheduler and both daemons; `folder` holds their logs, the daemons' sockets and the compiler that the far one unpacks."""

    spaces: Namespaces
    folder: Path

    def log(self, name: str) -> str:
        file = self.folder / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def finished_on(self, side: str) -> int:
        """How many compiles ended well on a daemon, by the scheduler's own account."""
        return len(re.findall(rf"END \d+ status=0 .*server={side}\b", self.log("scheduler")))

    def scheduler(self) -> list[str]:
        log = self.folder / "scheduler.log"
        return self.spaces.within(NEAR, "icecc-scheduler", "-n", "litert", "-p", str(PORT), "-l", log, "-vvv")

    def daemon(self, side: str) -> list[str]:
        """The command of a daemon that sees an idle machine: on a busy one it takes jobs and starts none until the load falls."""
        idle = self.folder / "stat"
        idle.write_text(IDLE)
        words = ("-n", "litert", "-s", f"{ADDRESSES[NEAR]}:{PORT}", "-N", side, "-m", "2", "-b", self.folder / f"{side}.envs")
        command = ("iceccd", *words, "-l", self.folder / f"{side}.log", "-vvv")
        return self.spaces.within(side, "sh", "-c", 'mount --bind "$0" /proc/stat && exec "$@"', idle, *command)

    def archive(self) -> Path:
        """Return the compiler that the far daemon unpacks. The near one would pack it too, compressed, while compiles wait and give up."""
        command = ["icecc-create-env", "g++", "--compression", "none"]
        made = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        (archive,) = self.folder.glob("*.tar") or pytest.fail(made.stdout + made.stderr)
        return archive


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Each daemon has a socket of its own: both would take the same one, which no namespace parts."""
    with ExitStack() as stack:
        spaces = stack.enter_context(namespaces("icecc"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="icecc-")))  # a socket's path has 107 characters at most
        folder.chmod(0o777)  # the daemons give up root before they write
        made = Cluster(spaces, folder)
        stack.enter_context(running(made.scheduler()))
        wait_for(lambda: "scheduler ready" in made.log("scheduler"), lambda: made.log("scheduler"))
        for side in (FAR, NEAR):
            stack.enter_context(running(made.daemon(side), ICECC_TEST_SOCKET=str(folder / side)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ICECC_VERSION", str(made.archive()))
            patch.setenv("ICECC_TEST_SOCKET", str(folder / NEAR))
            patch.setenv("ICECC_PREFERRED_HOST", FAR)
            wait_for(lambda: made.log("scheduler").count(": login ") == 2, lambda: made.log("scheduler") + made.log(FAR))
            yield made


class NearEngine(Engine):
    """An engine whose scons runs in the near namespace."""

    spaces: Namespaces

    def arguments(self, *extra: str) -> list[str]:
        return self.spaces.within(NEAR, *super().arguments(*extra))


def near(engine: Engine, cluster: Cluster) -> Engine:
    there = NearEngine(engine.folder, engine.actions)
    there.spaces = cluster.spaces
    return there


@PROGRAMS
def test_icecc_compiles_on_the_far_daemon(tmp_path: Path, cluster: Cluster) -> None:
    result = near(checkout(tmp_path / "first"), cluster).scons("launcher=icecc", "-j2")
    assert result.code == 0 and len(result.ran) == 4, result.text
    assert (cluster.finished_on(FAR), cluster.finished_on(NEAR)) == (4, 0), cluster.log("scheduler")
    assert cluster.log(FAR).count("Remote compilation completed with exit code 0") == 4
    same_as_plain(tmp_path, "first")


@PROGRAMS
def test_an_error_of_the_far_compiler_names_the_line(tmp_path: Path, cluster: Cluster) -> None:
    before = cluster.log(FAR).count("Remote compilation ")
    engine = checkout(tmp_path / "first")
    engine.write("unit2.cc", "int two() {\n  return three;\n}\n")
    result = near(engine, cluster).scons("launcher=icecc", "-j1", "-k")
    assert result.code == 2 and "unit2.cc:2:" in result.text and "'three' was not declared" in result.text, result.text
    assert len(result.ran) == 3 and not (engine.root / "bazel-out/unit2.o").exists()
    assert cluster.log(FAR).count("Remote compilation ") == before + 4


@PROGRAMS
def test_nothing_of_the_namespaces_is_left() -> None:
    with namespaces("empty") as spaces:
        left = subprocess.Popen(spaces.within(FAR, "sleep", "1000"))
        wait_for(lambda: spaces.processes(FAR) == [left.pid], lambda: f"sleep is in {spaces.processes(FAR)}")
        assert spaces.name(FAR) in ip("netns", "list")
    assert left.wait(20) == -signal.SIGKILL
    assert spaces.tag not in ip("netns", "list")
