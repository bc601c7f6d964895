"""Owns the fetching of files into the store: several at once, resumed where they broke off, checked before anybody sees them.

fetcher = Fetcher(Store(default_store()), Network())
fetcher.fetch("absl", ("https://github.com/...tar.gz",), "f50e5ac3...")     # -> a path whose bytes have that digest
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from litert_build.errors import BuildError
from litert_build.sources.archive import describe
from litert_build.sources.network import WAYS_ON, Gone, Network, Permanent, Transient, check_status, redact
from litert_build.sources.store import Store, file_digest

if TYPE_CHECKING:
    import httpx

Progress = Callable[[str, str, int, int], None]


def silent(name: str, phase: str, done: int, total: int) -> None:
    """A progress callback that shows nothing. `phase` is fetch, extract, patch, cargo or wait for; `done` of `total` are bytes, total 0
    where it is unknown."""


class Absent(BuildError):
    """No address of a file has it."""


class Fetcher:
    """Fetches into one store under one network policy."""

    def __init__(self, store: Store, network: Network, progress: Progress = silent) -> None:
        self.store, self.network, self.progress = store, network, progress
        self._client: httpx.Client | None = None
        self._guard = threading.Lock()

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    @property
    def client(self) -> httpx.Client:
        with self._guard:
            if self._client is None:
                self._client = self.network.client()
            return self._client

    def fetch_all(self, wanted: Sequence[tuple[str, Sequence[str], str]]) -> dict[str, Path]:
        """Fetch (name, urls, sha256) triples, `network.parallel` at once; return name -> path. Raises the first BuildError."""
        with ThreadPoolExecutor(self.network.parallel) as pool:
            running = {name: pool.submit(self.fetch, name, urls, sha256) for name, urls, sha256 in wanted}
        return {name: future.result() for name, future in running.items()}

    def fetch(self, name: str, urls: Sequence[str], sha256: str, headers: Mapping[str, str] | None = None) -> Path:
        """Return a file with the digest `sha256`: a local one as it lies, any other from the store, fetched (with `headers`) if missing.

        Raises BuildError for a wrong digest (the file is kept aside), or with every address and its failure where none works.
        """
        blob = self.store.blob(sha256)
        if blob.exists():
            return blob
        failures: list[str] = []
        remote = []
        for url in urls:
            if url.startswith("file:"):
                local = Path(url2pathname(urlsplit(url).path))
                if local.exists():
                    return self._checked_local(name, local, sha256)
                failures.append(f"{url}: there is no such file")
            else:
                remote.append(url)
        if remote:
            self.network.refuse_offline(remote[0], f"the archive of {name}")
            with self.store.lock(sha256):
                return blob if blob.exists() else self._from_any(name, self.network.addresses(remote), sha256, failures, headers or {})
        raise _nowhere(name, urls, failures)

    def fetch_unpinned(self, name: str, urls: Sequence[str]) -> tuple[Path, str]:
        """Fetch a file whose digest nobody knows yet; return its path in the store and its sha256. For lock generation alone.

        Raises Absent where every address says that there is no such file.
        """
        key = hashlib.sha256("\n".join(urls).encode()).hexdigest()
        self.network.refuse_offline(urls[0], f"the archive of {name}")
        failures: list[str] = []
        gone = 0
        with self.store.lock(key):
            addresses = self.network.addresses(urls)
            for url in addresses:
                try:
                    file = self._download(name, url, key, {}, last=url == addresses[-1])
                except Permanent as error:
                    failures.append(f"{redact(url)}: {error}")
                    gone += isinstance(error, Gone)
                    continue
                digest = file_digest(file)
                self._adopt(file, digest)
                return self.store.blob(digest), digest
        raise _nowhere(name, urls, failures, Absent if gone == len(addresses) else BuildError)

    def _checked_local(self, name: str, file: Path, sha256: str) -> Path:
        actual = file_digest(file)
        if actual != sha256:
            raise _wrong_digest(name, str(file), sha256, actual, "", file)
        return file

    def _from_any(self, name: str, urls: Sequence[str], sha256: str, failures: list[str], headers: Mapping[str, str]) -> Path:
        mismatch: BuildError | None = None
        for url in urls:
            try:
                file = self._download(name, url, sha256, headers, last=url == urls[-1])
                actual = file_digest(file)
            except Permanent as error:
                failures.append(f"{redact(url)}: {error}")
                continue
            if actual == sha256:
                self._adopt(file, sha256)
                return self.store.blob(sha256)
            aside = self.store.rejected(f"{sha256[:16]}-{actual[:16]}")
            with self.store.writing():
                aside.parent.mkdir(parents=True, exist_ok=True)
                file.replace(aside)
            mismatch = mismatch or _wrong_digest(name, redact(url), sha256, actual, str(aside), aside)
        raise mismatch or _nowhere(name, urls, failures)

    def _adopt(self, file: Path, sha256: str) -> None:
        blob = self.store.blob(sha256)
        with self.store.writing():
            blob.parent.mkdir(parents=True, exist_ok=True)
            file.chmod(0o444)
            file.replace(blob)

    def _download(self, name: str, url: str, key: str, headers: Mapping[str, str], *, last: bool) -> Path:
        """Return the partial file of `key`, complete. A part that an earlier run or another address left is continued; should the
        digest not come out, the file is fetched once more from its first byte."""
        partial = self.store.partial(key)
        with self.store.writing():
            partial.parent.mkdir(parents=True, exist_ok=True)
        resumed = partial.exists() and partial.stat().st_size > 0
        self.network.attempt(url, lambda address: self._receive(name, address, partial, headers), last=last)
        if resumed and file_digest(partial) != key:
            partial.unlink()
            self.network.attempt(url, lambda address: self._receive(name, address, partial, headers), last=last)
        return partial

    def _receive(self, name: str, url: str, partial: Path, more: Mapping[str, str]) -> None:
        import httpx

        have = partial.stat().st_size if partial.exists() else 0
        headers = {**self.network.headers(url), **more}
        if have:
            headers["Range"] = f"bytes={have}-"
        received = 0
        try:
            with self.client.stream("GET", url, headers=headers) as response:
                if response.status_code == 416:
                    partial.unlink()
                    raise Transient("the server has fewer bytes than were received before")
                check_status(response)
                if response.status_code != 206 or not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
                    have = 0
                total = have + int(response.headers.get("Content-Length", 0))
                with self.store.writing(), partial.open("r+b" if have else "wb") as output:
                    output.seek(have)
                    for block in response.iter_raw():
                        output.write(block)
                        received += len(block)
                        self.progress(name, "fetch", have + received, total)
        except httpx.TransportError as error:
            if not received:
                raise
            raise Transient(f"the connection broke: {error or type(error).__name__}", progress=True) from error


def _wrong_digest(name: str, where: str, expected: str, actual: str, aside: str, file: Path) -> BuildError:
    with file.open("rb") as stream:
        head = stream.read(512)
    notes = [f"expected sha256 {expected}", f"received sha256 {actual} ({file.stat().st_size} bytes)"]
    if b"<html" in head.lower() or head.startswith(b"version https://git-lfs"):
        notes.append(describe(head))
    if aside:
        notes.append(f"kept aside as {aside}")
    return BuildError(
        f"the file of {name} has the wrong digest",
        where=where,
        notes=notes,
        mend="compare the two; if upstream republished it, regenerate the lock",
    )


def _nowhere(name: str, urls: Sequence[str], failures: Sequence[str], kind: type[BuildError] = BuildError) -> BuildError:
    return kind(f"cannot fetch {name} from any of its addresses", where=redact(urls[0]), notes=failures, mend=WAYS_ON)
