"""Owns the digest over lists of strings.

sign(("compile",), argv, environment)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable


def sign(*parts: Iterable[str]) -> bytes:
    """Return the digest (16 bytes) of several lists of strings; neither the strings nor the lists can run into each other."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        hasher.update("\0".join(part).encode("utf-8", "surrogateescape"))
        hasher.update(b"\0\0\1")
    return hasher.digest()


_BUNDLE_VARIABLES = ("SOURCE_DATE_EPOCH", "LITERT_LM_SIGN", "LITERT_LM_SIGN_KEY", "GITHUB_SERVER_URL", "GITHUB_WORKFLOW_REF")


def bundle_environment() -> list[str]:
    """Return `name=value` of each environment variable that decides what a bundle is: its date, its signature, its maker."""
    return [f"{name}={os.environ[name]}" for name in _BUNDLE_VARIABLES if name in os.environ]
