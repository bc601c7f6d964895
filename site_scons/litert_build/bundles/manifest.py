"""Owns manifest.json, schema 2: what a bundle holds, what it was made of, and how it was checked.

manifest = Manifest.of(identity, build, rows, digests)
manifest.text()

Consumers read every key but `build`, which holds what the schema's other keys have no place for, by target. docs/manifest.schema.json
is the JSON Schema (draft 2020-12); docs/bundles.md says what each field means.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from litert_build.bundles.layout import PACKAGE, Layout, runtime_archive
from litert_build.bundles.release import ReleaseName
from litert_build.errors import BuildError
from litert_build.policy.companions import UPSTREAM, overrides

NAME = "manifest.json"
NATIVE = "leehack/litert-lm-native"
ROOT = "bin"
SCHEMA_FILE = Path(__file__).resolve().parents[3] / "docs" / "manifest.schema.json"


@dataclass(frozen=True)
class Identity:
    """What a bundle is a release of. `upstream_commit` and `native_commit` are 40 hex digits, or empty where a local build has none;
    `compatibility` is the vX.Y.Z whose rules hold, or empty for sources that are not upstream's."""

    release: ReleaseName
    repository: str
    upstream_commit: str
    compatibility: str
    native_commit: str
    stream_abi: int
    asr_abi: int | None

    @property
    def upstream_tag(self) -> str | None:
        return self.release.base if self.release.channel == "stable" else None


def artifact_path(member: str) -> str:
    """Return the path that manifest and sums give to a member of a runtime archive."""
    return f"{ROOT}/{member}"


def make_manifest(
    identity: Identity, target: str, rows: Layout, digests: Mapping[str, str], build: Mapping[str, Any], smokes: Iterable[Any] = ()
) -> dict[str, Any]:
    """Return the manifest of one bundle. `digests` maps each path under the layout's folder to its sha256."""
    serves = {rows.host: (), **{row.file: row.accelerators for row in rows.companions}}
    artifacts = [_artifact(identity, rows, inner, digests[inner], serves[rows.owner(inner)]) for inner in sorted(digests)]
    platform = {
        "platform": rows.platform,
        "arch": rows.arch,
        "releaseAsset": runtime_archive(target, identity.release.tag),
        "artifactPaths": [artifact["path"] for artifact in artifacts],
        "accelerators": sorted({word for artifact in artifacts for word in artifact["accelerators"]}),
    }
    return {
        "schemaVersion": 2,
        "package": PACKAGE,
        "release": _release(identity.release),
        "upstream": _upstream(identity, [target]),
        "native": {"repository": NATIVE, "commit": identity.native_commit or None},
        "abi": {"upstreamC": "c/engine.h", "streamProxyCallback": identity.stream_abi, "asrBridge": identity.asr_abi},
        "capabilities": {
            "textGeneration": True,
            "streaming": True,
            "streamChunkAccessors": identity.stream_abi >= 2,
            "asr": identity.asr_abi is not None,
            "officialUpstreamAssets": identity.upstream_tag is not None,
        },
        "platforms": [platform],
        "artifacts": artifacts,
        "realModelSmokes": list(smokes),
        "build": {target: dict(build)},
    }


def _release(name: ReleaseName) -> dict[str, Any]:
    return {
        "tag": name.tag, "channel": name.channel, "kind": name.kind, "rebuild": name.rebuild, "githubPrerelease": name.prerelease,
    }  # fmt: skip


def _upstream(identity: Identity, targets: Iterable[str]) -> dict[str, Any]:
    return {
        "repository": identity.repository,
        "tag": identity.upstream_tag,
        "commit": identity.upstream_commit or None,
        "compatibilityTag": identity.compatibility or None,
        "developmentIdentity": f"g{identity.upstream_commit[:12]}" if identity.upstream_commit else None,
        "prebuiltOverrides": [
            {
                "sourceRepository": UPSTREAM,
                "sourceCommit": row.commit,
                "sourcePath": row.source_path,
                "targetPath": artifact_path(f"{row.target.replace('-', '/', 1)}/{row.file}"),
                "sha256": row.sha256,
            }
            for target in targets
            for row in overrides(target, identity.compatibility)
        ],
    }


def _artifact(identity: Identity, rows: Layout, inner: str, digest: str, accelerators: tuple[str, ...]) -> dict[str, Any]:
    return {
        "runtime": "native",
        "platform": rows.platform,
        "arch": rows.arch,
        "path": artifact_path(f"{rows.folder}/{inner}"),
        "fileName": inner.rpartition("/")[2],
        "sha256": digest,
        "upstreamTag": identity.upstream_tag,
        "upstreamCommit": identity.upstream_commit or None,
        "releaseTag": identity.release.tag,
        "accelerators": list(accelerators),
    }


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Return the one spelling of a manifest: sorted keys, two spaces, a newline at the end."""
    return json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def parse_manifest(text: str, where: str) -> dict[str, Any]:
    """Return a manifest. Raises BuildError that names each field which breaks the schema or contradicts another one."""
    try:
        manifest = json.loads(text)
    except ValueError as error:
        raise BuildError(f"the manifest is not valid JSON: {error}", where=where) from error
    check_manifest(manifest, where)
    return dict(manifest)


def check_manifest(manifest: Any, where: str) -> None:
    """Raise BuildError where `manifest` breaks docs/manifest.schema.json, or where two of its fields contradict each other."""
    faults = [f"{'.'.join(map(str, fault.absolute_path)) or 'manifest'}: {fault.message}" for fault in _validator().iter_errors(manifest)]
    faults = sorted(faults) or list(_contradictions(manifest))
    if faults:
        raise BuildError(
            "the manifest breaks schema 2", where=where, notes=faults[:20], mend="make the bundle again; it is not for editing"
        )


def _contradictions(manifest: Mapping[str, Any]) -> Iterable[str]:
    tag, artifacts = manifest["release"]["tag"], {artifact["path"]: artifact for artifact in manifest["artifacts"]}
    if len(artifacts) != len(manifest["artifacts"]):
        yield "artifacts: a path is listed twice"
    listed: list[str] = []
    for row in manifest["platforms"]:
        name = f"{row['platform']}-{row['arch']}"
        if row["releaseAsset"] != runtime_archive(name, tag):
            yield f"platforms.{name}.releaseAsset: {row['releaseAsset']} is not {runtime_archive(name, tag)}"
        if name not in manifest["build"]:
            yield f"build: nothing about {name}"
        unknown = [path for path in row["artifactPaths"] if path not in artifacts]
        yield from (f"platforms.{name}.artifactPaths: {path} is no artifact" for path in unknown)
        serves = sorted({word for path in row["artifactPaths"] if path in artifacts for word in artifacts[path]["accelerators"]})
        if serves != row["accelerators"]:
            yield f"platforms.{name}.accelerators: {row['accelerators']} are not those of its artifacts, {serves}"
        listed += row["artifactPaths"]
    for path, artifact in artifacts.items():
        if artifact["runtime"] == "native" and listed.count(path) != 1:
            yield f"artifacts.{path}: listed by {listed.count(path)} platforms"
        for field, wanted in (
            ("releaseTag", tag),
            ("upstreamTag", manifest["upstream"]["tag"]),
            ("upstreamCommit", manifest["upstream"]["commit"]),
        ):
            if artifact[field] != wanted:
                yield f"artifacts.{path}.{field}: {artifact[field]} is not {wanted}"
    yield from _wrong_abi(manifest)
    for row in manifest["upstream"]["prebuiltOverrides"]:
        if artifacts.get(row["targetPath"], {}).get("sha256") != row["sha256"]:
            yield f"upstream.prebuiltOverrides: {row['targetPath']} has another digest"


def _wrong_abi(manifest: Mapping[str, Any]) -> Iterable[str]:
    """What the ABI of a release must be: chunk accessors (callback ABI 2) from v0.15, the ASR bridge from v0.16."""
    abi, capabilities, compatibility = manifest["abi"], manifest["capabilities"], manifest["upstream"]["compatibilityTag"]
    if capabilities["streamChunkAccessors"] != (abi["streamProxyCallback"] >= 2):
        yield f"capabilities.streamChunkAccessors: contradicts abi.streamProxyCallback {abi['streamProxyCallback']}"
    if capabilities["asr"] != (abi["asrBridge"] is not None):
        yield f"capabilities.asr: contradicts abi.asrBridge {abi['asrBridge']}"
    if compatibility is None:
        return
    stream = 2 if Version(compatibility) >= Version("v0.15.0") else 1
    if abi["streamProxyCallback"] != stream:
        yield f"abi.streamProxyCallback: {abi['streamProxyCallback']}, but the function returns {stream} from {compatibility}"
    if (abi["asrBridge"] is not None) != (Version(compatibility) >= Version("v0.16.0")):
        yield f"abi.asrBridge: {abi['asrBridge']} at {compatibility}; the bridge is in from v0.16.0"


@functools.cache
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
