"""Owns what differs between releases of upstream: one table from version ranges to link mode, defines, bridge and roots.

    policy = ref_policy("v0.19.1", "linux-x64")
    policy.link_mode, policy.defines        # 'static', {'resolve_symbols_in_exec': 'false', 'litert_link_capi_so': 'true'}

Required exports by version are in policy/exports, companions in policy/companions, carried patches in sources/carried, minimum systems
in policy/targets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from litert_build.errors import BuildError
from litert_build.policy.exports import required_exports
from litert_build.policy.targets import find_target
from litert_build.sources.lock import Lock

LinkMode = Literal["static", "dynamic", "none"]
OLDEST = Version("0.12.0")
ANY = ("linux", "windows", "macos", "ios", "android")


@dataclass(frozen=True)
class Rule:
    """One row: what holds for the releases `versions` (a PEP 440 specifier set) on the systems `os`. `why` is shown by `scons explain`."""

    versions: str
    why: str
    os: tuple[str, ...] = ANY
    link_mode: LinkMode | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    callback_abi: int | None = None
    asr: bool | None = None


CAPI_SO = {"litert_link_capi_so": "true"}
DYNAMIC = {"litert_runtime_link_mode": "dynamic"}

RULES: tuple[Rule, ...] = (
    Rule(
        ">=0.12",
        "the C API and the proxy that copies streamed strings are what every binding calls",
        defines={"resolve_symbols_in_exec": "false"},
        roots=("//c:engine", "@litert_lm_native//stream_proxy"),
        callback_abi=1,
        asr=False,
    ),
    Rule("<0.14", "the host links LiteRT's C API as a library of its own", link_mode="dynamic", defines=CAPI_SO),
    Rule(
        ">=0.14,<0.16",
        "litert_link_capi_so no longer selects the dynamic path: alone it means static",
        link_mode="static",
        defines=CAPI_SO,
    ),
    Rule(
        ">=0.16,<0.19",
        "the public static GPU targets are empty, so that the host uses the prebuilt core",
        os=("linux", "windows"),
        link_mode="dynamic",
        defines=DYNAMIC,
    ),
    Rule(">=0.16,<0.19", "Apple and Android kept the legacy define", os=("macos", "ios", "android"), link_mode="static", defines=CAPI_SO),
    Rule(
        ">=0.19",
        "external weights are written through C++ members of an opaque struct, which two C++ runtimes cannot share (issue 111)",
        link_mode="static",
        defines=CAPI_SO,
    ),
    Rule(
        ">=0.15",
        "upstream's callback hands over a chunk that accessors read",
        defines={"litert_lm_stream_chunk_api": "true"},
        callback_abi=2,
    ),
    Rule(">=0.16", "speech recognition came, and with it our C bridge over it", roots=("@litert_lm_native//asr",), asr=True),
    Rule("<0.17", "the capabilities are a target of their own", roots=("//schema/capabilities",)),
    Rule(
        ">=0.17",
        "the store refuses the prebuilt constraint provider",
        os=("ios",),
        defines={"LITERT_LM_FST_CONSTRAINTS_DISABLED": "1"},
    ),
)


@dataclass(frozen=True)
class RefPolicy:
    """What the rules say for one release and target. `callback_abi` is the stream proxy's (1: strings, 2: chunks), `asr` whether the ASR
    bridge is built; `required` and `roots` are cumulative. `overridden` holds the rule's link mode where the user chose another."""

    release: str
    target: str
    link_mode: LinkMode
    defines: dict[str, str]
    required: tuple[str, ...]
    roots: tuple[str, ...]
    callback_abi: int
    asr: bool
    overridden: str = ""


_RELEASE = re.compile(r"v\d+\.\d+")


def is_release(name: str) -> bool:
    """Return whether `name` has the form of a release of upstream, known or not."""
    return _RELEASE.match(name) is not None


def release_version(release: str) -> Version:
    """Return the version that a release tag vX.Y.Z (or its rebuild vX.Y.Z-N) stands for. Raises BuildError for anything else, and for
    what is older than the rules reach."""
    match = re.fullmatch(r"v(\d+\.\d+\.\d+)(?:-(?:native\.)?\d+)?", release)
    if match is None:
        raise BuildError(f"{release!r} is no release of upstream", where="policy", mend="name the release whose rules hold, as in v0.19.1")
    version = Version(match.group(1))
    if version < OLDEST:
        raise BuildError(f"{release} is older than the rules reach", where="policy", mend=f"build v{OLDEST} or later")
    return version


def ref_policy(release: str, target: str, *, link_mode: str = "") -> RefPolicy:
    """Return the policy of a release for a target; a `link_mode` that differs from the rule's is noted as overridden.

    Raises BuildError for an unknown release form or target, or a link mode that the release does not know.
    """
    version, row = release_version(release), find_target(target)
    rules = [rule for rule in RULES if row.os in rule.os and SpecifierSet(rule.versions).contains(version, prereleases=True)]
    ruled = next(rule.link_mode for rule in rules if rule.link_mode)
    defines = {name: value for rule in rules for name, value in rule.defines.items()}
    chosen = ruled
    if link_mode and link_mode != ruled:
        chosen, defines = _choose(version, link_mode, defines)
    return RefPolicy(
        release=release,
        target=row.name,
        link_mode=chosen,
        defines=defines,
        required=required_exports(release),
        roots=tuple(root for rule in rules for root in rule.roots),
        callback_abi=max(rule.callback_abi or 0 for rule in rules),
        asr=any(rule.asr for rule in rules),
        overridden=ruled if chosen != ruled else "",
    )


def _choose(version: Version, link_mode: str, defines: dict[str, str]) -> tuple[LinkMode, dict[str, str]]:
    """Replace the defines that select the link mode: before v0.14 the legacy one alone tells, later litert_runtime_link_mode."""
    rest = {name: value for name, value in defines.items() if name not in (*CAPI_SO, *DYNAMIC)}
    legacy = version < Version("0.14")
    if link_mode == "static":
        return "static", {**rest, **({} if legacy else CAPI_SO)}
    if link_mode == "dynamic":
        return "dynamic", {**rest, **(CAPI_SO if legacy else DYNAMIC)}
    if link_mode == "none" and not legacy:
        return "none", {**rest, "litert_runtime_link_mode": "none"}
    raise BuildError(f"v{version} has no link mode {link_mode!r}", where="link_mode=", mend="use static or dynamic")


def overridden_link_mode(lock: Lock, target: str, link_mode: str) -> str:
    """Return `link_mode` where it differs from what the rules of the lock's release, or the lock itself, say for a target; else an empty
    text. `lock` is as it was read."""
    if lock.policy:
        return link_mode if ref_policy(lock.policy, target, link_mode=link_mode).overridden else ""
    return link_mode if link_mode != lock.link_mode else ""


def apply_policy(lock: Lock, target: str, *, link_mode: str = "") -> Lock:
    """Return the lock as it holds for one target: with the rules of `lock.policy`, where it names a release, and the flags of the
    target's row, under its own settings.

    A lock without a policy stays as it is, but for an overriding `link_mode`.
    """
    if not lock.policy:
        return replace(lock, link_mode=link_mode) if link_mode else lock  # type: ignore[arg-type]
    policy = ref_policy(lock.policy, target, link_mode=link_mode)
    flags = find_target(target).flags
    required = (*policy.required, *(name for name in lock.product.required if name not in policy.required))
    return replace(
        lock,
        link_mode=policy.link_mode,
        defines={**dict(flags.defines), **policy.defines, **lock.defines},
        copts=(*flags.copts, *lock.copts),
        cxxopts=(*flags.cxxopts, *lock.cxxopts),
        conlyopts=(*flags.conlyopts, *lock.conlyopts),
        linkopts=(*flags.linkopts, *lock.linkopts),
        roots=(*lock.roots, *(root for root in policy.roots if root not in lock.roots)),
        product=replace(lock.product, required=required),
    )
