"""Owns the real source trees the tests read: which archives they are, their digests, how Debian's archive hands them over.

    python tests/real/trees.py fetch abseil-20240722      # prints the folder of each tree
    tree_path("abseil-20240722")                          # Path, extracted once, read-only
    require("tensorflow-2.14.1")                          # the same in a test: skips it, by name, where an optional tree is not to be had

Archives lie in `<cache>/archives`, trees in `<cache>/<name>-<digest>`; the cache is `.cache/trees` of the checkout or LITERT_LM_TREES.
The address of the archive is the one that this machine's own apt already uses; our apt state is kept apart from the system's.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

CHECKOUT = Path(__file__).resolve().parents[2]
SUITES = ("bookworm", "trixie", "sid")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Tree:
    """One upstream archive as Debian carries it. `file` and `sha256` are the pin: a later Debian revision of the same archive serves too.

    A `file` that ends in .deb is a binary package, for what has no source package with a BUILD file. A tree of sid is optional, since sid
    moves on and drops what it carried.
    """

    name: str
    suite: str
    package: str
    file: str
    sha256: str

    @property
    def optional(self) -> bool:
        return self.suite == "sid"

    @property
    def binary(self) -> bool:
        return self.file.endswith(".deb")


class TreeMissing(Exception):
    """A tree cannot be had: which one (unless it is not in the table) and why."""

    def __init__(self, reason: str, tree: Tree | None = None) -> None:
        super().__init__(f"{tree.name}: {reason}" if tree else reason)
        self.tree = tree


# fmt: off
TREES: dict[str, Tree] = {
    row.name: row
    for row in (
        Tree("abseil-20220623", "bookworm", "abseil", "abseil_20220623.1.orig.tar.gz",
             "abfe2897f3a30edaa74bc34365afe3c2a3cd012091a97dc7e008f7016adcd5fe"),
        Tree("abseil-20240722", "trixie", "abseil", "abseil_20240722.0.orig.tar.gz",
             "df6d1f5ef540725f3851201176a60486aab332410788465c9877910bb471c34a"),
        Tree("abseil-20260526", "sid", "abseil", "abseil_20260526.0.orig.tar.gz",
             "6e1aee535473414164bf83e4ebc40240dec71a4701f8a642d906e95bea1aea0c"),
        Tree("xnnpack-20241108", "trixie", "xnnpack", "xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz",
             "90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99"),
        Tree("cpuinfo", "sid", "cpuinfo", "cpuinfo_0.0~git20250905.877328f.orig.tar.xz",
             "557ca404a3836b9f335a3a06b65ff9fe9dbaaefab7fb5c0185f53d9f33615a10"),
        Tree("pthreadpool", "trixie", "pthreadpool", "pthreadpool_0.0~git20240616.560c60d.orig.tar.xz",
             "4cc3cbd933b28131d2a34edc54f76af9fb41bc490af5eae1a5bd3cd07ea90708"),
        Tree("fxdiv", "trixie", "fxdiv", "fxdiv_0.0~git20200417.b408327.orig.tar.xz",
             "7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b"),
        Tree("fp16", "trixie", "fp16", "fp16_0.0~git20200514.4dfe081.orig.tar.xz",
             "7d7782b37b74136e0e12593a2a93ccbe7db831f4374cc408e44623d9b708b54e"),
        Tree("psimd", "trixie", "psimd", "psimd_0.0~git20200517.072586a.orig.tar.xz",
             "32bbce81289866e3419e36cab6541bbddb6d45d3db10a7dcd2598dc9d0c8c6f4"),
        Tree(
            "re2-20240702", "trixie", "re2", "re2_20240702.orig.tar.gz", "eb2df807c781601c14a260a507a5bb4509be1ee626024cb45acbd57cb9d4032b"
        ),
        Tree("flatbuffers-23.5.26", "trixie", "flatbuffers", "flatbuffers_23.5.26+dfsg.orig.tar.xz",
             "0d309fd2c47bbbebd450e68d1419c336d53d1b8f5ce47e1f1f7f28f452fc6f3b"),
        Tree("protobuf-3.21.12", "trixie", "protobuf", "protobuf_3.21.12.orig.tar.gz",
             "930c2c3b5ecc6c9c12615cf5ad93f1cd6e12d0aba862b572e076259970ac3a53"),
        Tree(
            "highway", "trixie", "highway", "highway_1.2.0.orig.tar.gz", "7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343"
        ),
        Tree("bazel-skylib", "bookworm", "bazel-skylib", "bazel-skylib_1.0.3.orig.tar.xz",
             "b22f0f38d9a1ac565fce8a43df3d284f6b8e5e8775bda54b5cb687bed46b6ea4"),
        Tree("rules-cc", "bookworm", "bazel-rules-cc", "bazel-rules-cc_0.0.4.orig.tar.xz",
             "b147e1d69afb30b36616a9c7cf6c661b48e01d79581f36927eb39e04ffc572ff"),
        Tree("platforms", "bookworm", "bazel-platforms", "bazel-platforms_0.0.2.orig.tar.xz",
             "2e582a0841457e38ba2b263c7021bc57241f6934f86df8a1b5c5ae32169bf490"),
        Tree("gemmlowp", "trixie", "gemmlowp", "gemmlowp_0.0~git20211220.e844ffd.orig.tar.xz",
             "b43ad962deaa41ba6727888a48ecf4dad181a70fcdd82505d9dbdcc8388a98e7"),
        Tree("googletest", "trixie", "googletest", "googletest_1.16.0.orig.tar.gz",
             "2f54382b5d13d6cd0be2afc524f1e510d37f8ba78c2d439c5bea64ef37e30d01"),
        Tree("farmhash", "trixie", "farmhash", "farmhash_0~git20190513.0d859a8.orig.tar.xz",
             "e2fc97337d22a598d1b35697c20a9a9c638abccff2793e2cab12d01eec5bc496"),
        Tree("eigen3", "trixie", "eigen3", "eigen3_3.4.0.orig.tar.bz2", "b4c198460eba6f28d34894e3a5710998818515104d6e74e5cc331ce31e46e626"),
        Tree("neon-2-sse", "bookworm", "neon-2-sse", "neon-2-sse_0.0.0~git20220912.a15b489.orig.tar.xz",
             "3cfdcb2c40793a3194f9497062f64575e99783dfe15c23451c248946145695ee"),
        Tree("oourafft", "sid", "oourafft", "oourafft_1.0.orig.tar.gz",
             "5f4dabc2ae21e1f537425d58a49cdca1c49ea11db0d6271e2a4b27e9697548eb"),
        Tree("brotli", "trixie", "brotli", "brotli_1.1.0.orig.tar.gz",
             "10973f4b4199eafa1d5735ef661ddb2ec2f97319ee9fd1824d4aabe08cff5265"),
        Tree("snappy", "trixie", "snappy", "snappy_1.2.2.orig.tar.gz",
             "90f74bc1fbf78a6c56b3c4a082a05103b3a56bb17bca1a27e052ea11723292dc"),
        Tree("benchmark", "trixie", "benchmark", "benchmark_1.9.1.orig.tar.gz",
             "32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981"),
        Tree("grpc-1.51.1", "trixie", "grpc", "grpc_1.51.1.orig.tar.gz",
             "b55696fb249669744de3e71acc54a9382bea0dce7cd5ba379b356b12b82d4229"),
        Tree("mozc-2.29", "trixie", "mozc", "mozc_2.29.5160.102+dfsg.orig.tar.xz",
             "267432a38286dfcf04614a4874c38a723c1cfe85d3bfc64e27a83efadc0b184f"),
        Tree("sentencepiece", "sid", "sentencepiece", "sentencepiece_0.2.2.orig.tar.gz",
             "826fe65643ebc1fcbe3c6aaea7f3a939e75126c142a4202feeccca21bc498297"),
        Tree("tensorflow-2.14.1", "sid", "tensorflow", "tensorflow_2.14.1+dfsg.orig.tar.xz",
             "9dfff0627def4e999f66a80d0fb57fd0651d12d525dcd67d6c24f1e9bca72b93"),
        Tree("llvm-toolchain-19", "trixie", "llvm-toolchain-19", "llvm-toolchain-19_19.1.7.orig.tar.xz",
             "ae498f3bc58ae2d9f64ef5f0c035c4240152bf015a5b7738b15c22e93bdc97ce"),
        Tree("ruy", "trixie", "libruy-dev", "libruy-dev_0.0.0~git20230215.21a85fe-2_amd64.deb",
             "8ae5a08f2ae32d497dbd3dce143505da62e1d4ea667e9358cf7ddfd95868c6b8"),
        Tree("cxxbridge", "trixie", "cxxbridge-cmd", "cxxbridge-cmd_1.0.141-1+b1_amd64.deb",
             "c981581055aa5fa8cd6069e0f9a0d6d6e1f18ca226adcd8f40216f96c8005df6"),
    )
}
# Rust's cxx with all it needs, as source packages for cargo, and its generator.
_CRATES = (
    ("cxx", "1.0.141-1", "cde9389d7915a16c3e8e3650b538b0b3fbd51d0387962e25fb851140a49bb8ac"),
    ("cxxbridge-macro", "1.0.141-1", "abdc60c099c3ed579824ecc66be6c3f9cb6a21650f7d0fbb5a70236c0af45837"),
    ("cxxbridge-flags", "1.0.141-1", "637b06a8c91dc3443291a44b920e42d78377e732aaec7e1a3a80abbbe0a6a86d"),
    ("foldhash", "0.1.4-1", "203cdd1f8b66cc4c0bb0020e3dcef25858dbca7d50bdf9ef260227778f4e5ce6"),
    ("link-cplusplus", "1.0.10-1", "0ca420f2176cf8a8a5db686062a75c63e10570358b3433ae32ec54948c6dde44"),
    ("cc", "1.2.19-1", "4f03624faad1e0a87a7ad138d7d9127ec312fab4fe39563fef48c377424a7405"),
    ("syn", "2.0.98-1", "ef704aecf33a713f92dfef724fc10d747649ae6e7a90c31afe54aa2a1a3db71e"),
    ("quote", "1.0.40-1", "ce439fa5fb54fdd2d1f614737b1de55d159de5b8b8878c17aa86d90e881d4f1f"),
    ("proc-macro2", "1.0.92-1+b1", "c7c7dd7cdc8f16934fbcfd4d9f4de7d65aa457cdcc0e7fe59ecc8a56c665b502"),
    ("unicode-ident", "1.0.13-1", "afb26e7dfc91de355a433683493f361a2a415a3ca5831efa2fea35d42c0c1e43"),
    ("rustversion", "1.0.14-1+b2", "f261337bf8f86c0f591b5b2c653f8a9ae7fb629ee4d0f31162db71a9d1332e6f"),
    ("shlex", "1.3.0-1", "757dcf41be3b0b798a73241c96eae34a709b6b110228d3542ce70db88ed1638c"),
)
TREES |= {
    f"crate-{name}": Tree(f"crate-{name}", "trixie", f"librust-{name}-dev", f"librust-{name}-dev_{version}_amd64.deb", sha256)
    for name, version, sha256 in _CRATES
}
# fmt: on


def find_tree(name: str) -> Tree:
    """Return the row of `name`. Raises TreeMissing that lists the known names."""
    if name not in TREES:
        raise TreeMissing(f"no tree {name!r} in the table; known are {', '.join(TREES)}")
    return TREES[name]


def cache_folder() -> Path:
    """Return the folder that keeps archives and trees: LITERT_LM_TREES, or `.cache/trees` of the checkout."""
    return Path(os.environ.get("LITERT_LM_TREES") or CHECKOUT / ".cache" / "trees")


def archive_path(name: str) -> Path:
    """Return the archive of a tree, downloaded if need be, its sha256 checked on every call. Raises TreeMissing."""
    tree = find_tree(name)
    archive = cache_folder() / "archives" / tree.file
    with _locked(cache_folder()):
        if not archive.exists():
            _download(tree, archive)
        digest = _sha256(archive)
        if digest != tree.sha256:
            archive.unlink()
            raise TreeMissing(f"{tree.file} has sha256 {digest}, pinned is {tree.sha256}; the file was removed", tree)
    return archive


def tree_path(name: str) -> Path:
    """Return the folder of a tree, extracted read-only on first use, the archive's single top directory stripped. Raises TreeMissing."""
    tree = find_tree(name)
    folder = cache_folder() / f"{tree.name}-{tree.sha256[:8]}"
    if folder.exists():
        return folder
    archive = archive_path(name)
    with _locked(cache_folder()):
        if not folder.exists():
            _extract(archive, folder)
    return folder


def require(name: str) -> Path:
    """Return tree_path(name) for a test. An optional tree that cannot be had skips the test by name, a mandatory one fails it."""
    with optional_trees_skip():
        return tree_path(name)


@contextlib.contextmanager
def optional_trees_skip() -> Iterator[None]:
    """Skip the running test, with the tree's name and the reason, where the body misses an optional tree."""
    import pytest

    try:
        yield
    except TreeMissing as missing:
        if missing.tree and missing.tree.optional:
            pytest.skip(f"optional tree {missing}")
        raise


@contextlib.contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """Hold the cache for one process: test workers ask for the same tree at the same time."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _extract(archive: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".extract-") as scratch:
        inner = Path(scratch) / "tree"
        inner.mkdir()
        subprocess.run(_unpack(archive, inner), check=True)
        subprocess.run(["chmod", "-R", "a-w", str(inner)], check=True)
        inner.chmod(0o755)  # a folder of which the owner may not write cannot be renamed
        inner.rename(folder)
        folder.chmod(0o555)


def _unpack(archive: Path, folder: Path) -> list[str]:
    if archive.suffix == ".deb":
        return ["dpkg-deb", "-x", str(archive), str(folder)]
    with tarfile.open(archive) as members:
        tops = {PurePosixPath(member.name).parts[0] for member in members if member.name not in (".", "./")}
    strip = ["--strip-components=1"] if len(tops) == 1 else []
    return ["tar", "-xf", str(archive), "-C", str(folder), "--no-same-owner", *strip]


def _download(tree: Tree, archive: Path) -> None:
    apt = _apt_root(cache_folder() / ("apt-binary" if tree.binary else "apt"), tree)
    version = _offered_version(apt, tree)
    if not version:
        _update(apt, tree)
        version = _offered_version(apt, tree)
    if not version:
        raise TreeMissing(f"no suite of {', '.join(SUITES)} offers {tree.file} with sha256 {tree.sha256}", tree)
    archive.parent.mkdir(parents=True, exist_ok=True)
    fetch = ["download"] if tree.binary else ["source", "--download-only", "--tar-only", "--only-source"]
    command = ["apt-get", *fetch, f"{tree.package}={version}"]
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".download-") as scratch:
        done = _apt(apt, command, cwd=Path(scratch))
        arrived = Path(scratch) / tree.file
        if not arrived.exists():
            raise TreeMissing(f"{' '.join(command)} brought no {tree.file}: {_last_lines(done)}", tree)
        arrived.rename(archive)


def _offered_version(apt: Path, tree: Tree) -> str:
    """Return the Debian version whose record holds the pinned file, or the empty string."""
    listing = _apt(apt, ["apt-cache", *(("show",) if tree.binary else ("showsrc", "--only-source")), tree.package]).stdout
    pinned = rf"^SHA256: {tree.sha256}$" if tree.binary else rf"^ {tree.sha256} \d+ {re.escape(tree.file)}$"
    for record in listing.split("\n\n"):
        version = re.search(r"^Version: (\S+)$", record, re.MULTILINE)
        if version and re.search(pinned, record, re.MULTILINE):
            return version[1]
    return ""


def _update(apt: Path, tree: Tree) -> None:
    done = _apt(apt, ["apt-get", "update"])
    if done.returncode:
        raise TreeMissing(f"apt-get update failed: {_last_lines(done)}", tree)


def _apt_root(root: Path, tree: Tree) -> Path:
    """Lay out an apt root of our own, with the indexes of source or of binary packages only, and return its configuration file."""
    for folder in ("etc/preferences.d", "etc/apt.conf.d", "state/lists/partial", "cache/archives/partial"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "state/status").touch()
    site = site_of(tree)
    # sid's indexes expire within days while a mirror may lag; the pinned sha256 is what an archive is held to.
    options = {suite: f"signed-by={KEYRING}{' check-valid-until=no' if suite == 'sid' else ''}" for suite in SUITES}
    lines = [f"deb-src [{text}] {site} {suite} main\n" for suite, text in options.items()]
    if tree.binary:
        lines = [f"deb [arch=amd64 {options[tree.suite]}] {site} {tree.suite} main\n"]
    (root / "etc/sources.list").write_text("".join(lines))
    settings = {
        "Dir::Etc": root / "etc",
        "Dir::Etc::sourcelist": root / "etc/sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State": root / "state",
        "Dir::State::status": root / "state/status",
        "Dir::Cache": root / "cache",
        "APT::Sandbox::User": "root",
        "APT::Architecture": "amd64",
    }
    configuration = root / "apt.conf"
    configuration.write_text("".join(f'{key} "{value}";\n' for key, value in settings.items()))
    return configuration


def site_of(tree: Tree) -> str:
    """Return the address of the Debian archive in this machine's apt configuration."""
    try:
        listing = subprocess.run(["apt-get", "update", "--print-uris"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        raise TreeMissing("real trees come through apt, and this machine has no apt-get", tree) from None
    names = {*SUITES, "oldstable", "stable", "testing", "unstable"}
    for site, suite in re.findall(r"^'(\S+)/dists/([a-z]+)/InRelease'", listing, re.MULTILINE):
        if suite in names:
            return str(site)
    raise TreeMissing("this machine's apt configuration names no Debian archive", tree)


def _apt(configuration: Path, command: list[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "APT_CONFIG": str(configuration), "LC_ALL": "C"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def _last_lines(done: subprocess.CompletedProcess[str]) -> str:
    return " | ".join((done.stderr or done.stdout).strip().splitlines()[-3:])


def main(arguments: list[str]) -> int:
    """Fetch the named trees and print each folder; return 1 if one of them is missing."""
    if len(arguments) < 2 or arguments[0] != "fetch":
        print("usage: python tests/real/trees.py fetch NAME...", file=sys.stderr)
        return 2
    missing = 0
    for name in arguments[1:]:
        try:
            print(name, tree_path(name))
        except TreeMissing as error:
            missing += 1
            print(f"missing: {error}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
