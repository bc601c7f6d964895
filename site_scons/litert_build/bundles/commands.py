"""Owns the commands over finished bundles: verify, release-assemble, release-plan, and the platform table for CI.

verify_command(options)      # scons verify bundle=PATH
"""

from __future__ import annotations

import json
from pathlib import Path

from litert_build.bundles.layout import PACKAGE, TARGETS
from litert_build.bundles.publish import assemble, release_plan, remote_tags
from litert_build.bundles.verify import verify_bundle
from litert_build.bundles.xcframework import verify_xcframework
from litert_build.errors import BuildError
from litert_build.options import Options
from litert_build.policy.companions import UPSTREAM
from litert_build.policy.targets import TARGETS as ROWS
from litert_build.policy.targets import Target

GITHUB = "https://github.com"
NATIVE = f"{GITHUB}/leehack/litert-lm-native"

# What GitHub calls the machines that build a target; Android is built on Linux, Apple's targets on a Mac.
_RUNNERS = {
    "windows": "windows-2025",
    "windows-arm64": "windows-11-arm",
    "macos": "macos-15",
    "ios": "macos-15",
    "linux-arm64": "ubuntu-24.04-arm",
}


def verify_command(options: Options) -> int:
    """Verify the archive that `bundle=` names, or every runtime and XCFramework archive below that folder; print a report each.

    Raises BuildError for the first archive that does not verify, and where there is none.
    """
    path = _needed(options, "bundle", "an archive, or a folder that holds archives")
    kinds = (f"{PACKAGE}-runtime-*.tar.gz", f"{PACKAGE}-apple-*-xcframework-*.zip")
    archives = sorted(archive for kind in kinds for archive in path.rglob(kind)) if path.is_dir() else [path]
    if not archives:
        raise BuildError("holds no runtime archive", where=str(path), mend="name an archive, or a folder that holds archives")
    for archive in archives:
        print(verify_xcframework(archive).text if archive.suffix == ".zip" else verify_bundle(archive).text)
    return 0


def assemble_command(options: Options) -> int:
    """Make the archives of a release that need the bundles of several targets, beside those in `bundles=`; print their names."""
    folder = _needed(options, "bundles", "the folder that holds the bundles of all targets")
    for path in assemble(folder, _tag(options), folder / "assembled", official=options.path("official")):
        print(path)
    return 0


def plan_command(options: Options) -> int:
    """Print what would be published of the bundles in `bundles=`, and write manifest and sums of the whole release there.

    `native=` and `upstream=` are the Git repositories whose tags tell what is published and what upstream's tags mean.
    """
    folder = _needed(options, "bundles", "the folder that holds the bundles of all targets")
    published = remote_tags(options["native"] or NATIVE)
    upstream = remote_tags(options["upstream"] or f"{GITHUB}/{UPSTREAM}")
    plan = release_plan(folder, _tag(options), published=published, upstream=upstream)
    plan.write(folder)
    print(plan.text)
    return 0


def targets_json() -> str:
    """Return the platform table as one line of JSON: name, os, arch, library, runner, the toolchain of
    releases, and whether releases hold the target."""
    rows = [
        {
            "name": row.name,
            "os": row.os,
            "arch": row.arch,
            "library": row.library,
            "runner": ci_runner(row),
            "toolchain": row.release_toolchain,
            "released": row.name in TARGETS,
        }
        for row in ROWS.values()
    ]
    return json.dumps(rows)


def ci_runner(row: Target) -> str:
    """Return GitHub's name of the machine that builds a target."""
    return _RUNNERS.get(row.name, _RUNNERS.get(row.os, "ubuntu-24.04"))


def _needed(options: Options, name: str, what: str) -> Path:
    path = options.path(name)
    if path is None:
        raise BuildError("is not given", where=f"{name}=", mend=f"{name}=PATH names {what}")
    if not path.exists():
        raise BuildError("does not exist", where=f"{name}={path}", mend=f"{name}=PATH names {what}")
    return path


def _tag(options: Options) -> str:
    if not options["tag"]:
        raise BuildError("is not given", where="tag=", mend="tag=NAME names the release, as in v0.18.0-1")
    return options["tag"]
