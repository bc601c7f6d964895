"""Owns the making of one bundle: runtime archive, manifest.json and SHA256SUMS of one target.

result = make_bundle(BundleRequest(target=find_target("linux-x64"), tag="sample", lock=lock, host=Path("libLiteRtLm.so"), ...))
result.archive     # out/litert-lm-native-runtime-linux-x64-sample.tar.gz

Nothing is left in the output folder unless all of it is right: a host whose gate did not pass, an absent or extra file, an LFS pointer, a
library of another platform or a companion with other bytes than the pinned ones stops it first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import Version

from litert_build.binaries.facts import BinaryFacts
from litert_build.binaries.reader import read_binary
from litert_build.bundles import checksums, manifest
from litert_build.bundles.apple import Platform, bundle_version, framework
from litert_build.bundles.archive import Content, source_date_epoch, write_bytes, write_tar_gz
from litert_build.bundles.components import Component, companion_components, notice
from litert_build.bundles.formats import check_library
from litert_build.bundles.layout import Layout, bundle_files, check_inventory, layout, library_in, runtime_archive, sdk_archive, sidecars
from litert_build.bundles.provenance import LOCAL_BUILDER, provenance
from litert_build.bundles.release import ReleaseName, name_release
from litert_build.bundles.sdk import sdk_members
from litert_build.bundles.signing import SIGNATURES, sign
from litert_build.checks.gate import GateReport, check_bundle
from litert_build.checks.model import GatePolicy, Waiver
from litert_build.errors import BuildError
from litert_build.policy.companions import UPSTREAM, is_upstream_release, overrides
from litert_build.policy.targets import Target
from litert_build.sources.lock import Lock

LIBRARIES = (".so", ".dll", ".dylib")
Judge = Callable[[Path, Target, GatePolicy], Sequence[GateReport]]
ASR_PROBE = "litert_lm_asr_abi_version"
CHUNK_PROBE = "litert_lm_stream_chunk_get_text"


@dataclass(frozen=True)
class ToolchainUse:
    """The toolchain that made the host, as toolchains.base.Toolchain names it."""

    name: str
    identity: str
    cxx_runtime: str


@dataclass(frozen=True)
class BundleRequest:
    """All that a bundle is made of.

    `gate` is the content of checks.json; `stream_abi` what stream_proxy_callback_abi_version() returned, where it was called;
    `companions` a folder that holds exactly the files which ship beside the host. `facts` are the host's, where the caller has them;
    `link_mode_override`, `static_gpu` and `local_trees` name what the user changed; `flags` is all that flavours the compile commands.
    `components` are the repositories and crates of the host: with them come the bill of materials, NOTICE and provenance. `headers`
    (name under the include path -> file) make the SDK archive.
    """

    target: Target
    tag: str
    lock: Lock
    host: Path
    gate: Mapping[str, Any]
    toolchain: ToolchainUse
    output: Path
    stream_abi: int | None = None
    companions: Path | None = None
    native_commit: str = ""
    facts: BinaryFacts | None = None
    flags: Sequence[str] = ()
    link_mode_override: str = ""
    static_gpu: str = ""
    local_trees: Sequence[str] = ()
    smokes: Sequence[Any] = ()
    waivers: Sequence[Waiver] = ()
    components: Sequence[Component] = ()
    headers: Mapping[str, Content] = field(default_factory=dict)
    builder: str = LOCAL_BUILDER


@dataclass(frozen=True)
class BundleResult:
    """The files of a bundle, and the manifest's content. `extras` are SDK archive, bill of materials, NOTICE, provenance, signature."""

    archive: Path
    manifest: Path
    sums: Path
    content: Mapping[str, Any]
    extras: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Contents:
    """What goes into a runtime archive: the files by their path under the layout's folder, their digests, and the manifest."""

    identity: manifest.Identity
    rows: Layout
    files: Mapping[str, Content]
    digests: Mapping[str, str]
    manifest: Mapping[str, Any]


def make_bundle(request: BundleRequest, gate: Judge = check_bundle) -> BundleResult:
    """Write a bundle into `request.output` and return its files. Companions are put before `gate` beside the host.

    Raises BuildError where anything is wrong; then none of the files exists.
    """
    check_name(request)
    _remove_old(request)
    try:
        return _write(request, _collect(request, gate))
    except BaseException:
        _remove_old(request)
        raise


def _remove_old(request: BundleRequest) -> None:
    """Remove what an earlier run left: a bundle is whole and new, or it is not there."""
    signatures = (checksums.NAME + suffix for suffix in SIGNATURES)
    for name in (*bundle_files(request.target.name, request.tag), *signatures):
        (request.output / name).unlink(missing_ok=True)


def _collect(request: BundleRequest, gate: Judge) -> _Contents:
    """Return the contents of the bundle. Raises BuildError for whatever may not be packed."""
    _check_gate(request)
    facts = request.facts or read_binary(request.host, request.target.arch)
    identity = identify(request, facts)
    host = "" if identity.compatibility else (request.lock.product.library or request.target.library)
    rows = layout(request.target.name, identity.compatibility, official=identity.upstream_tag is not None, host=host)
    files = gather(request, rows)
    digests = check_files(rows, files, identity.compatibility)
    _check_digest(request)
    if rows.companions:
        _judge_beside(request, identity, rows, files, gate)
    content = manifest.make_manifest(identity, request.target.name, rows, digests, describe_build(request, rows, facts), request.smokes)
    manifest.check_manifest(content, manifest.NAME)
    return _Contents(identity, rows, files, digests, content)


def _write(request: BundleRequest, contents: _Contents) -> BundleResult:
    target, tag, folder = request.target.name, request.tag, contents.rows.folder
    archive, text, sums = (request.output / name for name in (runtime_archive(target, tag), manifest.NAME, checksums.NAME))
    spelled = manifest.manifest_text(contents.manifest)
    members = {f"{folder}/{inner}": part for inner, part in contents.files.items()}
    write_tar_gz(archive, members, epoch=source_date_epoch(), comment=spelled)
    write_bytes(text, spelled.encode())
    extras = _write_extras(request, contents, archive)
    digests = {manifest.artifact_path(f"{folder}/{inner}"): digest for inner, digest in contents.digests.items()}
    checksums.write_sums(sums, digests | {path.name: checksums.sha256_file(path) for path in (archive, text, *extras)})
    signature = sign(sums)
    return BundleResult(archive, text, sums, contents.manifest, (*extras, signature) if signature else extras)


def _write_extras(request: BundleRequest, contents: _Contents, archive: Path) -> tuple[Path, ...]:
    """Write the SDK archive and the papers of the bundle where the request holds what they are made of; return them."""
    target, tag, rows, extras = request.target.name, request.tag, contents.rows, list[Path]()
    bill, licences, statement = (request.output / name for name in sidecars(target, tag))
    parts = [*request.components, *companion_components(rows.companions, contents.digests, contents.identity.compatibility)]
    if request.components:
        write_bytes(licences, notice(parts).encode())
        host = contents.digests[library_in(rows.host)]
        from litert_build.bundles.sbom import sbom  # half a second of imports that only a bundle needs

        write_bytes(bill, sbom(parts, host=rows.host, digest=host, version=tag, epoch=source_date_epoch()).encode())
        extras += [bill, licences]
    if request.headers and rows.platform != "ios":
        members = sdk_members(rows, request.headers, bundle_version(contents.identity.compatibility))
        if request.components:
            members[f"{rows.folder}/NOTICE.txt"] = licences
        extras.append(request.output / sdk_archive(target, tag))
        write_tar_gz(extras[-1], members, epoch=source_date_epoch())
    if request.components:
        subjects = {path.name: checksums.sha256_file(path) for path in (archive, *extras)}
        write_bytes(statement, provenance(subjects, parts, contents.manifest, builder=request.builder).encode())
        extras.append(statement)
    return tuple(extras)


def check_name(request: BundleRequest) -> ReleaseName:
    """Return the name of the release. Raises BuildError where the tag cannot name one of the lock's ref."""
    return name_release(request.tag, request.lock.ref, upstream=is_upstream_release(request.lock.ref))


def identify(request: BundleRequest, facts: BinaryFacts) -> manifest.Identity:
    """Return what the bundle is a release of. Raises BuildError where the tag or the lock cannot name a release."""
    lock, upstream, name = request.lock, is_upstream_release(request.lock.ref), check_name(request)
    compatibility = compatibility_of(lock)
    if upstream and len(lock.commit) != 40:
        raise BuildError(
            f"the lock of {lock.ref} names no commit", where=str(lock.file), mend=f"regenerate it with scons lock ref={lock.ref}"
        )
    if upstream and not compatibility:
        raise BuildError(
            f"the lock of {lock.ref} names no release whose rules hold",
            where=str(lock.file),
            mend='add "policy": the release it follows, as in v0.18.0',
        )
    stream, asr = read_abis(facts, request.stream_abi)
    return manifest.Identity(
        release=name,
        repository=UPSTREAM if upstream else lock.main,
        upstream_commit=lock.commit,
        compatibility=compatibility,
        native_commit=request.native_commit,
        stream_abi=stream,
        asr_abi=asr,
    )


def compatibility_of(lock: Lock) -> str:
    """Return the release of upstream whose rules hold for a lock; empty where its sources are not upstream's, or it names none."""
    if not is_upstream_release(lock.ref):
        return ""
    return lock.ref if lock.ref.startswith("v") else lock.policy


def read_abis(facts: BinaryFacts, called: int | None) -> tuple[int, int | None]:
    """Return (callback ABI of the stream proxy, ABI of the ASR bridge or None) of a host, from what it exports: the proxy is built for
    ABI 2 exactly where upstream has the chunk accessors.

    Raises BuildError where that is not what the function returned when it was `called`.
    """
    stream = 2 if CHUNK_PROBE in facts.exported_names else 1
    if called is not None and called != stream:
        raise BuildError(
            f"stream_proxy_callback_abi_version() returns {called}, but {CHUNK_PROBE} is {'' if stream == 2 else 'not '}exported",
            where=str(facts.file),
            mend="build bridge and upstream with the same define litert_lm_stream_chunk_api",
        )
    return stream, 1 if ASR_PROBE in facts.exported_names else None


def _check_gate(request: BundleRequest) -> None:
    gate, host = request.gate, request.host
    if gate.get("passed") is not True:
        failed = [rule["id"] for rule in gate.get("rules", ()) if rule["status"] == "failed"]
        raise BuildError(
            "the host did not pass its checks" if failed else "the host was not checked",
            where=str(host),
            notes=[f"failed: {name}" for name in failed],
            mend="run scons check and mend what it reports",
        )
    checked = gate.get("target"), gate.get("facts", {}).get("bytes")
    if checked != (request.target.name, host.stat().st_size if host.is_file() else None):
        raise BuildError(
            f"the checks are of another file: {gate.get('file')} for {checked[0]}, {checked[1]} bytes",
            where=str(host),
            mend="run scons check",
        )


def _check_digest(request: BundleRequest) -> None:
    """Raise BuildError where the host is no longer the file that passed its checks: an edit may keep the size."""
    checked, found = request.gate["facts"].get("sha256"), checksums.sha256_file(request.host)
    if checked != found:
        raise BuildError(
            "the host was changed after its checks",
            where=str(request.host),
            notes=[f"sha256 {found}", f"checked {checked}"],
            mend="run scons again",
        )


def gather(request: BundleRequest, rows: Layout) -> dict[str, Content]:
    """Return every file of the bundle by its path under the layout's folder. Raises BuildError for absent and extra files."""
    files: dict[str, Content] = {}
    if request.companions is not None:
        found = sorted(path for path in request.companions.rglob("*") if not path.is_dir())
        files = {path.relative_to(request.companions).as_posix(): path for path in found}
    if any(rows.owner(inner) == rows.host for inner in files):
        raise BuildError(
            f"{rows.host} lies among the companions", where=str(request.companions), mend="the host comes from the build alone"
        )
    if rows.platform == "ios":
        platform: Platform = "ios-sim" if rows.arch.endswith("-sim") else "ios"
        files |= framework(rows.host.removesuffix(".framework"), request.host, platform, version=request.tag).files
    else:
        files[rows.host] = request.host
    check_inventory(rows, files, str(request.companions or request.host))
    return files


def check_files(rows: Layout, files: Mapping[str, Content], compatibility: str) -> dict[str, str]:
    """Return the digest of each file. Raises BuildError where a library is none for the target or a pinned file has other bytes."""
    pinned = pinned_digests(rows, compatibility)
    digests = {}
    for inner, content in files.items():
        if isinstance(content, Path) and is_library(inner):
            check_library(content, rows.platform, rows.arch)
        digests[inner] = checksums.sha256_of(content)
        if pinned.get(inner, digests[inner]) != digests[inner]:
            raise BuildError(
                f"{inner} has other bytes than the pinned ones",
                where=str(content),
                notes=[f"sha256 {digests[inner]}", f"pinned {pinned[inner]}"],
                mend="run scons fetch; policy/companions.py says where it comes from",
            )
    return digests


def _judge_beside(request: BundleRequest, identity: manifest.Identity, rows: Layout, files: Mapping[str, Content], gate: Judge) -> None:
    """Put host and companions before the gate as they will lie in the bundle: a plug-in may lack what no file beside it exports."""
    product = request.lock.product
    policy = GatePolicy(
        link_mode=request.lock.link_mode,
        required=product.required,
        allowed=product.allowed,
        version=identity.compatibility,
        waivers=tuple(request.waivers),
        bundled=tuple(inner.rpartition("/")[2] for inner in files),
    )
    with tempfile.TemporaryDirectory(prefix="bundle-") as scratch:
        for inner, content in files.items():
            if isinstance(content, Path) and is_library(inner):
                (Path(scratch) / inner).parent.mkdir(parents=True, exist_ok=True)
                (Path(scratch) / inner).symlink_to(content.absolute())
        judge_libraries(Path(scratch), [inner for inner in files if is_library(inner)], request.target, policy, gate)


def judge_libraries(folder: Path, libraries: Sequence[str], target: Target, policy: GatePolicy, gate: Judge) -> list[str]:
    """Return the names of the libraries that the gate passed, which are all of them.

    Raises BuildError with the reports of those that break a rule, and where the gate did not look at one.
    """
    reports = gate(folder, target, policy)
    broken = [report for report in reports if not report.passed]
    if broken:
        raise BuildError(
            f"{', '.join(report.name for report in broken)} of the {target.name} bundle does not pass the gate",
            where=broken[0].name,
            notes=[line for report in broken for line in report.text.splitlines()],
            mend="take the library of the same upstream commit, or mend what the rule says",
        )
    unseen = sorted(set(libraries) - {report.name for report in reports})
    if unseen:
        raise BuildError("the gate did not look at every library", where=str(folder), notes=unseen)
    return sorted(report.name for report in reports)


def pinned_digests(rows: Layout, compatibility: str) -> dict[str, str]:
    """Return the digests that companions must have, by file name."""
    pinned = {row.file: row.sha256 for row in rows.companions if row.sha256}
    return pinned | {row.file: row.sha256 for row in overrides(f"{rows.platform}-{rows.arch}", compatibility)}


def is_library(inner: str) -> bool:
    """Whether a path under a layout's folder is a library: by its suffix, or as the binary that a framework is named after."""
    folder, _, name = inner.rpartition("/")
    return inner.endswith(LIBRARIES) or folder == f"{name}.framework"


def describe_build(request: BundleRequest, rows: Layout, facts: BinaryFacts) -> dict[str, Any]:
    """Return the manifest's `build` entry: the facts of this build that the other keys of schema 2 have no place for."""
    lock, tool, rules = request.lock, request.toolchain, request.gate["rules"]
    flags = [
        *request.flags, *lock.copts, *lock.cxxopts, *lock.conlyopts, *lock.linkopts,
        *(f"{name}={value}" for name, value in sorted({**lock.flags, **lock.defines}.items())),
    ]  # fmt: skip
    return {
        "host": rows.host,
        "exports": {"required": list(lock.product.required), "allowed": list(lock.product.allowed)},
        "toolchain": {"name": tool.name, "identity": tool.identity, "digest": checksums.digest_of(tool.identity)},
        "cxxRuntime": tool.cxx_runtime,
        "glibcFloor": glibc_floor(facts),
        "minimumOs": facts.minimum_os or None,
        "linkMode": request.link_mode_override or lock.link_mode,
        "linkModeOverride": request.link_mode_override or None,
        "staticGpu": request.static_gpu or None,
        "flagsDigest": checksums.digest_of(flags),
        "lockDigest": checksums.sha256_file(lock.file),
        "localTrees": sorted(request.local_trees),
        "gate": {"passed": True, "rules": [{key: rule[key] for key in ("id", "status", "summary")} for rule in rules]},
        "waivers": [
            {"rule": rule["id"], **{key: waived[key] for key in ("subject", "reason", "until")}}
            for rule in rules
            for waived in rule["waived"]
        ],
        "sections": {name: size for name, size in facts.sections if name},
    }


def glibc_floor(facts: BinaryFacts) -> str | None:
    """Return the lowest glibc that the file runs on (the highest GLIBC_x.y it needs), or None where it needs none."""
    versions = [
        Version(name.removeprefix("GLIBC_"))
        for names in facts.version_needs.values()
        for name in names
        if name.startswith("GLIBC_") and name[6:7].isdigit()
    ]
    return str(max(versions)) if versions else None
