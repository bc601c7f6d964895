"""Owns provenance: which inputs a bundle was made from, as an in-toto statement.

text = provenance({"archive.tar.gz": "<sha256>"}, parts, manifest, builder="...")

Statement and predicate are those of in-toto Attestation Framework v1 (Statement) and SLSA v1.0 (Provenance). The statement is not signed
here: bundles.signing does that, where it is asked to.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from litert_build.bundles.components import Component

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://github.com/leehack/litert-lm-native/blob/main/docs/bundles.md#provenance"
LOCAL_BUILDER = "https://github.com/leehack/litert-lm-native/blob/main/docs/bundles.md#local-builds"


def provenance(
    subjects: Mapping[str, str], parts: Iterable[Component], manifest: Mapping[str, Any], *, builder: str = LOCAL_BUILDER
) -> str:
    """Return the statement over `subjects` (file name -> sha256). `builder` is the URI of who built; a local build is no trusted one."""
    ((target, build),) = manifest["build"].items()
    external = {
        "target": target,
        "release": manifest["release"]["tag"],
        "upstream": {key: manifest["upstream"][key] for key in ("repository", "tag", "commit")},
        "native": manifest["native"],
        "linkModeOverride": build["linkModeOverride"],
        "staticGpu": build["staticGpu"],
        "localTrees": build["localTrees"],
    }
    internal = {key: build[key] for key in ("toolchain", "cxxRuntime", "linkMode", "flagsDigest", "lockDigest")}
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": subjects[name]}} for name in sorted(subjects)],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": external,
                "internalParameters": internal,
                "resolvedDependencies": [_dependency(part) for part in parts],
            },
            "runDetails": {"builder": {"id": builder}},
        },
    }
    return json.dumps(statement, indent=2, sort_keys=True) + "\n"


def builder_of(environ: Mapping[str, str] = os.environ) -> str:
    """Return who builds: the workflow of a GitHub job, as SLSA names it, or LOCAL_BUILDER."""
    server, workflow = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_WORKFLOW_REF")
    return f"{server}/{workflow}" if server and workflow else LOCAL_BUILDER


def project_commit(folder: Path) -> str:
    """Return the commit of the checkout at `folder`, or the empty string where it is none, or where something in it was changed."""
    try:
        head, status = (
            subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return "" if status else head.strip()


def _dependency(part: Component) -> dict[str, Any]:
    digest = {"sha256": part.sha256} | ({"gitCommit": part.commit} if part.commit else {})
    return {"name": part.name, "digest": digest} | ({"uri": part.url} if part.url else {})
