"""Owns the crates that a Cargo.lock names: fetched by their checksums, patched, and laid out as cargo vendor does.

    vendor = vendor_crates(tree / "Cargo.lock", "https://.../crates", {"llguidance": [(b"--- ...", 0, "PATCH.x")]}, fetcher)
    vendor / "cxx-1.0.149" / "Cargo.toml"

The folder is a sealed tree of the store, made once for a Cargo.lock and its patches. Sources of the rules: the Cargo reference (registry
web API, vendoring: source replacement by a directory, `.cargo-checksum.json`).
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.sources.archive import extract
from litert_build.sources.download import Fetcher
from litert_build.sources.patches import apply_patch

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FORMAT = 1
REGISTRY = "registry+"
PatchText = tuple[bytes, int, str]  # the diff, its strip level, and what to call it


@dataclass(frozen=True)
class Crate:
    """One package of a Cargo.lock that comes from a registry."""

    name: str
    version: str
    sha256: str

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"


def crates_of(cargo_lock: Path) -> list[Crate]:
    """Return the crates that a Cargo.lock takes from registries; those of the workspace itself are not among them.

    Raises BuildError for a file that is none, and for a crate from elsewhere (git), which no checksum pins.
    """
    try:
        rows = tomllib.loads(cargo_lock.read_text(encoding="utf-8")).get("package", [])
    except (OSError, ValueError) as error:
        raise BuildError(f"cannot read Cargo.lock: {error}", where=str(cargo_lock), mend="restore the file") from error
    outside = [row for row in rows if "source" in row]
    for row in outside:
        if not row["source"].startswith(REGISTRY) or not row.get("checksum"):
            what = f"crate {row['name']} {row['version']} comes from {row['source']}, which no checksum pins"
            raise BuildError(what, where=str(cargo_lock), mend="vendor the crates (cargo vendor), or patch Cargo.toml and Cargo.lock")
    return [Crate(row["name"], row["version"], row["checksum"]) for row in outside]


def vendor_crates(cargo_lock: Path, base: str, patches: Mapping[str, Sequence[PatchText]], fetcher: Fetcher) -> Path:
    """Return the folder of all crates of a Cargo.lock, fetched from `base`/NAME/NAME-VERSION.crate where they are missing.

    Raises BuildError where one is not to be had or has another checksum, and where a patch fits none of them.
    """
    crates = crates_of(cargo_lock)
    for name in patches:
        if name not in {crate.name for crate in crates}:
            raise BuildError(f"there is no crate {name!r} to patch", where=str(cargo_lock), mend="correct crate_patches of the lock")
    texts = {name: [(hashlib.sha256(text).hexdigest(), strip) for text, strip, _ in found] for name, found in patches.items()}
    parts = [FORMAT, [(crate.folder, crate.sha256) for crate in crates], texts]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def fill(folder: Path) -> None:
        wanted = [(crate.folder, (f"{base.rstrip('/')}/{crate.name}/{crate.folder}.crate",), crate.sha256) for crate in crates]
        archives = fetcher.fetch_all(wanted)
        for crate in crates:
            place = folder / crate.folder
            place.mkdir()
            extract(archives[crate.folder], place, strip_prefix=crate.folder, source=crate.folder)
            for text, strip, name in patches.get(crate.name, ()):
                apply_patch(text, place, strip=strip, source=name)
            # No digests of files: the archive's own was checked, and patches change them.
            (place / ".cargo-checksum.json").write_text(json.dumps({"files": {}, "package": crate.sha256}), encoding="utf-8")

    return fetcher.store.make_tree("crates", digest, fill)
