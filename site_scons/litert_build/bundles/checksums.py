"""Owns SHA256SUMS: digests of files, written and read in the form of coreutils' sha256sum.

write_sums(Path("SHA256SUMS"), {"manifest.json": sha256_file(Path("manifest.json"))})
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from litert_build.bundles.archive import Content, write_bytes
from litert_build.errors import BuildError

NAME = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def sha256_file(path: Path) -> str:
    """Return the digest of a file in hexadecimal. Raises BuildError where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise BuildError(f"cannot read: {error.strerror}", where=str(path)) from error
    return digest.hexdigest()


def sha256_of(content: Content) -> str:
    """Return the digest of a file, or of bytes."""
    return sha256_file(content) if isinstance(content, Path) else hashlib.sha256(content).hexdigest()


def digest_of(value: object) -> str:
    """Return the digest of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_sums(path: Path, digests: Mapping[str, str]) -> None:
    """Write `digests` (name -> sha256) a line each, sorted by name."""
    write_bytes(path, "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode())


def read_sums(path: Path) -> dict[str, str]:
    """Return name -> sha256. Raises BuildError that names the line which is not `<sha256>  <path>`, or which names a file twice."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError(f"cannot read the sums: {error}", where=str(path)) from error
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BuildError(f"not a line of sums: {line[:80]!r}", where=f"{path}:{number}", mend="a line reads `<sha256>  <path>`")
        if match[2] in digests:
            raise BuildError(f"{match[2]} is listed twice", where=f"{path}:{number}")
        digests[match[2]] = match[1]
    return digests
