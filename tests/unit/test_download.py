"""Each fault of a download on its own: what is tried again, what is not, what is said, and that the next good run succeeds."""

from __future__ import annotations

import email.utils
import hashlib
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.sources.download import Fetcher
from litert_build.sources.network import GITHUB, Network, redact, retry_after
from litert_build.sources.store import Store

from tests.loopback import Fault, Loopback

DATA = hashlib.sha256(b"seed").digest() * 4000  # 128,000 bytes
SHA256 = hashlib.sha256(DATA).hexdigest()
PATH = "/a.tar.gz"
OPEN: list[Fetcher] = []


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Loopback(tmp_path) as server:
        server.files[PATH] = DATA
        yield server
        while OPEN:
            OPEN.pop().close()


class Run:
    """A fetcher on a fresh store whose waiting is noted instead of done."""

    def __init__(self, root: Path, **changes: object) -> None:
        self.waited: list[float] = []
        self.seen: list[tuple[str, str, int, int]] = []
        network = Network(timeout=2, sleep=self.waited.append, token="")
        self.store = Store(root)
        self.fetcher = Fetcher(self.store, replace(network, **changes), lambda *event: self.seen.append(event))  # type: ignore[arg-type]
        OPEN.append(self.fetcher)

    def fetch(self, *urls: str, sha256: str = SHA256) -> Path:
        return self.fetcher.fetch("a", urls, sha256)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "store")


def test_a_file_is_fetched_once(server: Loopback, run: Run) -> None:
    path = run.fetch(server.url(PATH))
    assert path.read_bytes() == DATA
    assert run.fetch(server.url(PATH)) == path
    assert len(server.gets(PATH)) == 1
    assert not path.stat().st_mode & 0o222
    assert run.seen[-1] == ("a", "fetch", len(DATA), len(DATA))
    assert list((run.store.root / "partial").iterdir()) == []


def test_a_connection_cut_at_every_tenth_is_resumed_there(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(cut=len(DATA) // 10) for _ in range(9)]
    assert run.fetch(server.url(PATH)).read_bytes() == DATA
    assert [headers.get("range", "") for headers in server.gets(PATH)] == ["", *(f"bytes={len(DATA) // 10 * at}-" for at in range(1, 10))]


def test_a_server_without_ranges_starts_anew(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(cut=1000), Fault(whole=True)]
    assert run.fetch(server.url(PATH)).read_bytes() == DATA


def test_a_part_of_another_file_is_not_trusted(server: Loopback, run: Run) -> None:
    for part in (b"rubbish", DATA + b"longer"):
        run.store.partial(SHA256).parent.mkdir(parents=True, exist_ok=True)
        run.store.partial(SHA256).write_bytes(part)
        assert run.fetch(server.url(PATH)).read_bytes() == DATA
        run.store.blob(SHA256).unlink()


def test_a_stalled_server_is_given_up_and_asked_again(server: Loopback, tmp_path: Path) -> None:
    server.faults[PATH] = [Fault(stall=10)]
    run = Run(tmp_path / "store", timeout=0.3)
    assert run.fetch(server.url(PATH)).read_bytes() == DATA
    assert server.gets(PATH)[1]["range"] == f"bytes={len(DATA) // 2}-"


def test_a_slow_server_is_waited_for(server: Loopback, tmp_path: Path) -> None:
    server.faults[PATH] = [Fault(stall=0.4)]
    run = Run(tmp_path / "store", timeout=2)
    assert run.fetch(server.url(PATH)).read_bytes() == DATA
    assert run.waited == []


def test_errors_of_the_server_are_tried_again_with_growing_delays(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(status=500), Fault(status=502), Fault(status=503)]
    assert run.fetch(server.url(PATH)).read_bytes() == DATA
    assert [0.25 <= run.waited[0] <= 0.5, 0.5 <= run.waited[1] <= 1, 1 <= run.waited[2] <= 2] == [True] * 3


def test_delays_are_jittered(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(status=500)] * 4
    run.fetch(server.url(PATH))
    first = list(run.waited)
    run.store.blob(SHA256).unlink()
    server.faults[PATH] = [Fault(status=500)] * 4
    run.fetch(server.url(PATH))
    assert run.waited[len(first) :] != first


def test_retry_after_is_honoured(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(status=429, headers={"Retry-After": "7"}), Fault(status=503, headers={"Retry-After": "0"})]
    run.fetch(server.url(PATH))
    assert run.waited == [7.0, 0.0]
    assert retry_after(email.utils.formatdate(time.time() + 100, usegmt=True)) == pytest.approx(100, abs=3)
    assert retry_after(email.utils.formatdate(time.time() - 100, usegmt=True)) == 0
    assert retry_after("soon") is None


def test_a_server_that_never_recovers_ends_in_one_error(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(status=500)] * 9
    with pytest.raises(BuildError) as caught:
        run.fetch(server.url(PATH))
    assert "cannot fetch a from any of its addresses" in str(caught.value)
    assert f"{server.url(PATH)}: HTTP 500 Internal Server Error (5 attempts)" in str(caught.value)
    assert len(server.gets(PATH)) == 5


@pytest.mark.parametrize("status", [404, 403, 401, 410])
def test_what_no_retry_mends_is_asked_once(server: Loopback, run: Run, status: int) -> None:
    server.faults[PATH] = [Fault(status=status)]
    with pytest.raises(BuildError) as caught:
        run.fetch(server.url(PATH))
    assert f"{server.url(PATH)}: HTTP {status}" in str(caught.value)
    assert len(server.gets(PATH)) == 1
    assert run.waited == []
    assert run.fetch(server.url(PATH)).read_bytes() == DATA


def test_the_next_address_and_then_the_mirror_is_asked(server: Loopback, tmp_path: Path) -> None:
    run = Run(tmp_path / "store", mirrors=(server.url("/cache/"),))
    server.files["/cache/host.example/b.tar.gz"] = DATA
    server.faults["/gone"] = [Fault(status=404)]
    assert run.fetch(server.url("/none"), server.url(PATH)).read_bytes() == DATA
    run.store.blob(SHA256).unlink()
    network = replace(run.fetcher.network, attempts=1)
    assert network.addresses(["http://host.example/b.tar.gz"])[1] == server.url("/cache/host.example/b.tar.gz")
    other = Run(tmp_path / "other", mirrors=network.mirrors, attempts=1, timeout=0.5)
    assert other.fetch("http://127.0.0.1:9/x", server.url("/none"), server.url(PATH)).read_bytes() == DATA


def test_a_wrong_digest_tells_both_and_keeps_the_file_aside(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(body=b"other bytes")]
    with pytest.raises(BuildError) as caught:
        run.fetch(server.url(PATH))
    received = hashlib.sha256(b"other bytes").hexdigest()
    aside = run.store.rejected(f"{SHA256[:16]}-{received[:16]}")
    assert caught.value.where == server.url(PATH)
    assert caught.value.notes == (f"expected sha256 {SHA256}", f"received sha256 {received} (11 bytes)", f"kept aside as {aside}")
    assert aside.read_bytes() == b"other bytes"
    assert not run.store.blob(SHA256).exists()
    assert run.fetch(server.url(PATH)).read_bytes() == DATA


def test_a_mirror_mends_a_wrong_digest(server: Loopback, run: Run) -> None:
    server.files["/bad"] = b"bad"
    assert run.fetch(server.url("/bad"), server.url(PATH)).read_bytes() == DATA


def test_a_page_instead_of_an_archive_is_named(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(body=b"<!DOCTYPE html><html>log in</html>")]
    with pytest.raises(BuildError, match="the server answered with a page, not with the file"):
        run.fetch(server.url(PATH))


def test_a_wrong_length_is_a_broken_connection(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(longer=5)]
    assert run.fetch(server.url(PATH)).read_bytes() == DATA


def test_no_network_names_the_address_and_three_ways_on(server: Loopback, run: Run) -> None:
    with pytest.raises(BuildError) as caught:
        run.fetch("http://127.0.0.1:9/a.tar.gz")
    text = str(caught.value)
    assert "http://127.0.0.1:9/a.tar.gz" in text
    assert "Connection refused (5 attempts)" in text
    assert all(way in text for way in ("store=PATH", "mirror=URL", "src_NAME=PATH"))


def test_offline_asks_nobody(server: Loopback, tmp_path: Path) -> None:
    run = Run(tmp_path / "store", offline=True)
    with pytest.raises(BuildError, match="the archive of a is not in the store, and offline=yes forbids to fetch it"):
        run.fetch(server.url(PATH))
    assert server.requests == []


def test_the_token_goes_to_github_alone_and_is_never_printed(server: Loopback, tmp_path: Path) -> None:
    run = Run(tmp_path / "store", token="t0ps3cret", github=server.base, attempts=1)
    server.files["/o/r/a.tar.gz"] = DATA
    run.fetch(f"{GITHUB}/o/r/a.tar.gz")
    assert server.gets("/o/r/a.tar.gz")[0]["authorization"] == "Bearer t0ps3cret"
    assert "Authorization" in run.fetcher.network.headers("https://github.com/a")
    assert "Authorization" not in run.fetcher.network.headers("https://elsewhere.example/a")
    server.files["/moved"] = b"moved"
    server.faults["/o/r/moved"] = [Fault(status=302, headers={"Location": server.url("/moved").replace("127.0.0.1", "localhost")})]
    run.fetch(f"{GITHUB}/o/r/moved", sha256=hashlib.sha256(b"moved").hexdigest())
    assert server.gets("/o/r/moved")[0]["authorization"] == "Bearer t0ps3cret"
    assert "authorization" not in server.gets("/moved")[0]
    assert "t0ps3cret" not in repr(run.fetcher.network)
    with pytest.raises(BuildError) as caught:
        run.fetch("http://user:t0ps3cret@127.0.0.1:9/a?key=t0ps3cret", sha256="0" * 64)
    assert "t0ps3cret" not in str(caught.value)
    assert redact("https://u:p@h/x?q=1") == "https://h/x"


def test_a_proxy_of_the_environment_is_used(server: Loopback, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.base)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    server.files["http://host.example/a.tar.gz"] = DATA
    assert run.fetch("http://host.example/a.tar.gz").read_bytes() == DATA


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is absent: apt-get install openssl")
def test_certificates_come_from_the_environment(server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2"]
    subprocess.run([*argv, "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    url = server.secure(context) + PATH
    with pytest.raises(BuildError) as caught:
        Run(tmp_path / "one").fetch(url)
    assert "name your certificates with SSL_CERT_FILE" in str(caught.value)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert Run(tmp_path / "two").fetch(url).read_bytes() == DATA


def test_an_unpinned_file_tells_its_digest(server: Loopback, run: Run) -> None:
    server.faults[PATH] = [Fault(cut=100)]
    path, digest = run.fetcher.fetch_unpinned("a", [server.url("/none"), server.url(PATH)])
    assert (path.read_bytes(), digest) == (DATA, SHA256)
    with pytest.raises(BuildError, match="HTTP 404"):
        run.fetcher.fetch_unpinned("a", [server.url("/none")])


def test_several_files_at_once(server: Loopback, run: Run) -> None:
    names = {f"/{at}": bytes([at]) * 1000 for at in range(6)}
    server.files |= names
    for path in names:
        server.faults[path] = [Fault(stall=0.2)]
    wanted = [(path, [server.url(path)], hashlib.sha256(data).hexdigest()) for path, data in names.items()]
    made = run.fetcher.fetch_all(wanted)
    assert {name: path.read_bytes() for name, path in made.items()} == names
    with pytest.raises(BuildError, match="cannot fetch x from any"):
        run.fetcher.fetch_all([("x", [server.url("/none")], "0" * 64), *wanted])
