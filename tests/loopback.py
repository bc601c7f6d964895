"""A server on the loopback interface that plays GitHub, a mirror, an LFS store and a git remote, faults included.

    with Loopback(tmp_path) as server:
        server.files["/a.tar.gz"] = data
        server.faults["/a.tar.gz"] = [Fault(cut=100), Fault(status=503)]     # one a request, then the file
        server.url("/a.tar.gz"), server.requests

Below `root`, `OWNER/NAME.git` are bare repositories: fetched by git, and served as GitHub's source archives
(`/OWNER/NAME/archive/REF.tar.gz`). `server.lfs` maps an oid to its bytes.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import ssl
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: a status, the connection cut after some bytes, a pause (s) half-way, a false length, no ranges."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    stall: float = 0
    longer: int = 0
    whole: bool = False
    body: bytes | None = None


class Loopback:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[Fault]] = {}
        self.lfs: dict[str, bytes] = {}
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"loopback": self}))
        self._server.daemon_threads = True
        self._stopped = threading.Event()

    def __enter__(self) -> Loopback:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def secure(self, context: ssl.SSLContext) -> str:
        """Speak TLS from now on, and return the address."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        return f"https://127.0.0.1:{self._server.server_port}"

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def url(self, path: str) -> str:
        return self.base + path

    def gets(self, path: str) -> list[dict[str, str]]:
        """Return the headers of every GET of a path."""
        return [headers for method, asked, headers in self.requests if (method, asked) == ("GET", path)]

    def stall(self, seconds: float) -> None:
        self._stopped.wait(seconds)

    def repository(self, name: str, files: dict[str, str], tag: str = "", parent: bool = False) -> str:
        """Commit `files` as the bare repository OWNER/NAME.git, tag it, and return the commit. `parent` adds to what is there."""
        bare = self.root / f"{name}.git"
        work = self.root / "work" / name
        environment = {**os.environ, "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}

        def git(*argv: str) -> str:
            identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
            return subprocess.run(
                ["git", *identity, *argv], cwd=work, env=environment, check=True, capture_output=True, text=True
            ).stdout.strip()

        work.mkdir(parents=True, exist_ok=parent)
        if not parent:
            git("init", "-q")
            git("init", "-q", "--bare", str(bare))
        for path, text in files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text, encoding="utf-8")
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", "sources")
        if tag:
            git("tag", "-f", "-a", tag, "-m", tag)
        git("push", "-q", "--force", "--tags", str(bare), "main")
        return git("rev-parse", "HEAD")

    def archive(self, name: str, ref: str) -> bytes:
        """Return GitHub's source archive of a commit or tag."""
        prefix = f"{name.split('/')[1]}-{ref.removeprefix('refs/tags/').removeprefix('v')}/"
        bare = str(self.root / f"{name}.git")
        argv = ["git", "--git-dir", bare, "archive", "--format=tar.gz", f"--prefix={prefix}", ref]
        return subprocess.run(argv, check=True, capture_output=True).stdout


class _Handler(http.server.BaseHTTPRequestHandler):
    loopback: Loopback
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.loopback.requests.append(("GET", path, {name.lower(): value for name, value in self.headers.items()}))
        faults = self.loopback.faults.get(path, [])
        fault = faults.pop(0) if faults else Fault()
        archive = re.fullmatch(r"/([^/]+/[^/]+)/archive/(.+)\.tar\.gz", path)
        if fault.status:
            self._plain(fault.status, fault.body or b"", fault.headers)
        elif path.endswith("/info/refs"):
            self._git(b"")
        elif path in self.loopback.files:
            self._file(self.loopback.files[path], fault)
        elif path.startswith("/lfs/"):
            self._file(self.loopback.lfs[path[5:]], fault)
        elif archive and (self.loopback.root / f"{archive.group(1)}.git").exists():
            self._file(self.loopback.archive(*archive.groups()), fault)
        else:
            self._plain(404, b"not here")

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        self.loopback.requests.append(("POST", path, {name.lower(): value for name, value in self.headers.items()}))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        faults = self.loopback.faults.get(path, [])
        if faults:
            fault = faults.pop(0)
            self._plain(fault.status, fault.body or b"", fault.headers)
        elif path.endswith("/info/lfs/objects/batch"):
            self._batch(json.loads(body))
        else:
            self._git(body)

    def _plain(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _file(self, data: bytes, fault: Fault) -> None:
        data = fault.body if fault.body is not None else data
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and not fault.whole:
            start = int(asked.group(1))
            if start >= len(data):
                return self._plain(416, b"")
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start + fault.longer))
        self.end_headers()
        part = data[start:] if fault.cut is None else data[start : start + fault.cut]
        half = len(part) // 2 if fault.stall else 0
        self.wfile.write(part[:half])
        self.wfile.flush()
        self.loopback.stall(fault.stall)
        self.wfile.write(part[half:])
        if fault.cut is not None or fault.longer:
            self.wfile.flush()
            self.close_connection = True
        return None

    def _batch(self, request: dict[str, Any]) -> None:
        objects: list[dict[str, Any]] = []
        for item in request["objects"]:
            if item["oid"] in self.loopback.lfs:
                action = {"href": self.loopback.url(f"/lfs/{item['oid']}"), "header": {"X-Lfs": "yes"}}
                objects.append({**item, "actions": {"download": action}})
            else:
                objects.append({**item, "error": {"code": 404, "message": "Object does not exist"}})
        self._plain(200, json.dumps({"transfer": "basic", "objects": objects}).encode())

    def _git(self, body: bytes) -> None:
        """Hand the request to git http-backend (CGI, RFC 3875)."""
        path, _, query = self.path.partition("?")
        path = re.sub(r"^(/[^/]+/[^/]+?)(?:\.git)?/", r"\1.git/", path)  # GitHub takes a repository's name with and without .git
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.loopback.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        answer = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        self._plain(int(headers.pop("Status", "200").split()[0]), content, headers)


def wait_for(condition: Any, seconds: float = 20) -> None:
    """Wait until `condition()` holds; fail after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
