"""Owns release names and the rules of publishing: what a tag means, which comes after which, what may be published.

parse_release("v0.18.0-2")      # ReleaseName(tag='v0.18.0-2', channel='stable', kind='rebuild', base='v0.18.0', rebuild=2)

A published release never changes; stable releases never go back; legacy `-native.N` rebuilds count as `-N` and are no longer made.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from litert_build.errors import BuildError

_STABLE = re.compile(r"(v(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:-(native\.)?([1-9]\d*))?")
_DEVELOPMENT = re.compile(r"(g[0-9a-f]{12})(?:-([1-9]\d*))?")
_LOCAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
FORMS = "vX.Y.Z, vX.Y.Z-N, g<12 hex digits> or g<12 hex digits>-N, N from 1 upwards"


@dataclass(frozen=True)
class ReleaseName:
    """One parsed release tag. `base` is the tag without its rebuild number; a "local" one is never published."""

    tag: str
    channel: Literal["stable", "development", "local"]
    kind: Literal["upstream", "commit", "rebuild", "local"]
    base: str
    rebuild: int = 0
    legacy: bool = False

    @property
    def prerelease(self) -> bool:
        """Whether it is published as a pre-release: everything but a stable release of upstream."""
        return self.kind != "upstream"


def parse_release(tag: str) -> ReleaseName:
    """Return what a published tag means. Raises BuildError where it has none of the known forms."""
    if stable := _STABLE.fullmatch(tag):
        base, legacy, rebuild = stable.groups()
        return ReleaseName(tag, "stable", "rebuild" if rebuild else "upstream", base, int(rebuild or 0), bool(legacy))
    if development := _DEVELOPMENT.fullmatch(tag):
        base, rebuild = development.groups()
        return ReleaseName(tag, "development", "rebuild" if rebuild else "commit", base, int(rebuild or 0))
    raise BuildError(f"{tag!r} is no release name", where="release=", mend=f"a release is named {FORMS}")


def name_release(tag: str, ref: str, *, upstream: bool) -> ReleaseName:
    """Return the name a bundle of `ref` gets: a release of that very ref where the sources are upstream's, else a local one.

    Raises BuildError where the tag names another ref, has a legacy or unknown form, or cannot be part of a file name.
    """
    if not upstream:
        if not _LOCAL.fullmatch(tag):
            raise BuildError(f"{tag!r} cannot be part of a file name", where="release=", mend="use letters, digits and . _ + -")
        return ReleaseName(tag, "local", "local", tag)
    name = parse_release(tag)
    if name.legacy:
        raise BuildError(f"{tag!r} has the legacy form", where="release=", mend=f"name it {name.base}-{name.rebuild + 1} or later")
    if name.base != ref:
        raise BuildError(f"release {tag} is not a release of {ref}", where="release=", mend=f"name it {ref} or {ref}-N")
    return name


def check_history(name: ReleaseName, published: Iterable[str]) -> None:
    """Raise BuildError where `name` is published, goes back to an older version or does not count upwards. Other tags are no releases."""
    known: list[ReleaseName] = []
    for tag in published:
        with contextlib.suppress(BuildError):
            known.append(parse_release(tag))
    latest = max((other.rebuild for other in known if other.base == name.base), default=-1)
    if any(other.tag == name.tag for other in known):
        raise BuildError(
            f"release {name.tag} exists: a published release never changes", where="release=", mend=f"name it {name.base}-{latest + 1}"
        )
    if name.channel == "stable":
        newest = max((other.base for other in known if other.channel == "stable"), key=Version, default=name.base)
        if Version(name.base) < Version(newest):
            raise BuildError(f"release {name.tag} would go back: {newest} is published", where="release=", mend=f"build {newest} or later")
    if name.rebuild <= latest:
        raise BuildError(
            f"release {name.tag} does not count upwards: rebuild {latest} of {name.base} is published",
            where="release=",
            mend=f"name it {name.base}-{latest + 1}",
        )
