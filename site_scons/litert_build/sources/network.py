"""Owns how this project speaks HTTP: the client, which failures are tried again and when, and what may be said about an address.

    network = Network(offline=False, mirrors=("https://mirror.example/cache",))
    network.addresses(("https://github.com/a/b.tar.gz",))     # the address, then its mirrors
    network.attempt("https://...", lambda address: ...)       # tries again after time-outs, 429 and 5xx, never after 404

Proxies and certificates come from the environment (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR).
"""

from __future__ import annotations

import email.utils
import os
import random
import re
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from litert_build.errors import BuildError

if TYPE_CHECKING:  # httpx takes longer to import than a build that has nothing to do may last
    import httpx

T = TypeVar("T")
GITHUB = "https://github.com"
_GITHUB_HOSTS = ("github.com", "api.github.com", "codeload.github.com", "raw.githubusercontent.com", "media.githubusercontent.com")


class Transient(Exception):
    """A failure that may be gone in a moment; `after` is what the server asked to wait, in seconds. `progress` says that bytes
    arrived since the last attempt, which starts the counting of attempts anew."""

    def __init__(self, reason: str, after: float | None = None, progress: bool = False) -> None:
        super().__init__(reason)
        self.after = after
        self.progress = progress


class Permanent(Exception):
    """A failure that no further attempt at this address mends."""


class Gone(Permanent):
    """The server says that there is nothing at this address (404, 410)."""


@dataclass(frozen=True)
class Network:
    """What a build may do on the network. `github` stands in for https://github.com (a mirror or a test server), `mirrors` are bases
    that are asked after the declared addresses, as BASE/host/path. Delays and `timeout` (connecting, and between two reads) are seconds."""

    offline: bool = False
    github: str = GITHUB
    mirrors: tuple[str, ...] = ()
    attempts: int = 5
    delay: float = 0.5
    longest_delay: float = 60.0
    timeout: float = 30.0
    parallel: int = 4
    sleep: Callable[[float], None] = time.sleep
    token: str = field(default_factory=lambda: os.environ.get("GITHUB_TOKEN", ""), repr=False)

    def addresses(self, urls: Sequence[str]) -> list[str]:
        """Return the addresses to ask, in order: the declared ones, then each under each mirror."""
        declared = [self.rewrite(url) for url in urls]
        return [*declared, *(f"{base.rstrip('/')}/{urlsplit(url).netloc}{urlsplit(url).path}" for base in self.mirrors for url in urls)]

    def rewrite(self, url: str) -> str:
        """Return `url` with GitHub's address replaced by `github`."""
        return self.github.rstrip("/") + url[len(GITHUB) :] if url.startswith(GITHUB + "/") else url

    def headers(self, url: str) -> dict[str, str]:
        """Return the request headers for `url`; the token goes to GitHub alone (httpx drops it when redirected to another host)."""
        headers = {"User-Agent": "litert-lm-native", "Accept-Encoding": "identity"}
        host = urlsplit(url).netloc
        if self.token and (host in _GITHUB_HOSTS or host == urlsplit(self.github).netloc):
            headers["Authorization"] = f"Bearer {self.token}"
        return headers

    def client(self) -> httpx.Client:
        """Return a client that trusts the system's certificates and certifi's, and follows redirects."""
        import certifi
        import httpx

        context = ssl.create_default_context()
        context.load_verify_locations(certifi.where())
        return httpx.Client(follow_redirects=True, timeout=self.timeout, verify=context, trust_env=True)

    def attempt(self, url: str, action: Callable[[str], T], *, last: bool = True) -> T:
        """Return `action(url)`, tried again after each Transient with growing, jittered delays. Raises Permanent at the end, which
        comes after two attempts where another address can be asked (not `last`)."""
        attempts = self.attempts if last else min(2, self.attempts)
        failed = 0
        while True:
            try:
                with translated():
                    return action(url)
            except Transient as error:
                failed = 1 if error.progress else failed + 1
                if failed >= attempts:
                    raise Permanent(f"{error} ({failed} attempts)") from error
                delay = random.uniform(0.5, 1.0) * min(self.longest_delay, self.delay * 2 ** (failed - 1))
                self.sleep(min(error.after, 10 * self.longest_delay) if error.after is not None else delay)

    def refuse_offline(self, url: str, what: str, mend: str = "") -> None:
        """Raise BuildError when offline: `what` is wanted from `url`."""
        if self.offline:
            raise BuildError(f"{what} is not in the store, and offline=yes forbids to fetch it", where=redact(url), mend=mend or WAYS_ON)


REFS_ASKED = (
    "what a tag means is asked of the network: mend the connection or HTTPS_PROXY, name another server (github=URL), or build a ref whose "
    "lock is in third_party/refs"
)
WAYS_ON = (
    "fill the store where there is a network (scons fetch, then store=PATH), name a mirror (mirror=URL), or use a checkout (src_NAME=PATH)"
)


def check_status(response: httpx.Response) -> None:
    """Raise Transient or Permanent for a response that is no success (RFC 9110 section 15; 408, 425, 429 and 5xx are worth another try)."""
    code = response.status_code
    if code < 400:
        return
    reason = f"HTTP {code} {response.reason_phrase}".rstrip()
    if code in (408, 425, 429) or code >= 500:
        raise Transient(reason, retry_after(response.headers.get("Retry-After", "")))
    if code in (401, 403) and urlsplit(str(response.url)).hostname in _GITHUB_HOSTS:
        reason += " (GitHub limits anonymous requests: set GITHUB_TOKEN)"
    raise Gone(reason) if code in (404, 410) else Permanent(reason)


def retry_after(text: str) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110 section 10.2.3: seconds or a date), None without one."""
    if re.fullmatch(r"\d+", text.strip()):
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


@contextmanager
def translated() -> Iterator[None]:
    """Turn what httpx raises into Transient (time-outs, broken and refused connections) or Permanent (an address it cannot use)."""
    import httpx

    try:
        yield
    except httpx.TimeoutException as error:
        raise Transient(f"timed out ({type(error).__name__})") from error
    except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.TooManyRedirects, httpx.DecodingError) as error:
        raise Permanent(str(error)) from error
    except httpx.TransportError as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise Permanent(f"{error}; name your certificates with SSL_CERT_FILE") from error
        raise Transient(str(error) or type(error).__name__) from error


def redact(url: str) -> str:
    """Return an address without user, password and query, fit for a message."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.scheme else url
