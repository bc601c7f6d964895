"""The command line from a tag to a bundle: `scons lock`, `scons ref=...` and `scons patches` of a checkout, against a loopback GitHub.

What is published there is the sample's trees, as LiteRT-LM, LiteRT, ml-drift and a base library, with a WORKSPACE and prebuilt libraries
that are Git LFS pointers.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.engine import REPOSITORY, Result
from tests.e2e.test_bundle_companions import prebuild
from tests.loopback import Loopback
from tests.upstream_shape import UPSTREAM

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is absent: apt-get install g++")

SAMPLE = REPOSITORY / "third_party" / "sample"
NAMES = {"litert": "google-ai-edge/LiteRT", "ml_drift": "google-ai-edge/ml-drift", "base": "example/base"}
ARCHIVE = """
http_archive(
    name = "{name}",
    sha256 = "{sha256}",
    strip_prefix = "{folder}-{commit}",
    urls = ["https://github.com/{repository}/archive/{commit}.tar.gz"],
)
"""
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"


def sources(name: str) -> dict[str, str]:
    """Return the files of one repository of the sample, with a licence as an archive of its own must have one."""
    root = SAMPLE / name
    files = {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}
    return {**files, "LICENSE": (REPOSITORY / "LICENSE").read_text()}


@dataclass(frozen=True)
class Checkout:
    """A copy of this project that is free to change its locks, beside the server that stands for GitHub."""

    folder: Path
    server: Loopback
    cache: Path

    def publish(self, tag: str, parent: bool = False, **changed: str) -> str:
        """Publish the sample under a tag of LiteRT-LM and return the commit; `parent` adds a release to what is there."""
        if parent:
            return self.server.repository(UPSTREAM, dict(changed), tag=tag, parent=True)
        workspace = sources("litert_lm")["WORKSPACE"] + 'load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")\n'
        for name, repository in NAMES.items():
            commit = self.server.repository(repository, sources(name))
            sha256 = hashlib.sha256(self.server.archive(repository, commit)).hexdigest()
            workspace += ARCHIVE.format(name=name, sha256=sha256, folder=repository.split("/")[1], commit=commit, repository=repository)
        return self.server.repository(UPSTREAM, {**sources("litert_lm"), **self.pointers(), "WORKSPACE": workspace}, tag=tag)

    def pointers(self) -> dict[str, str]:
        """Put sound companions into the LFS store, and return the pointers that stand for them in the tree."""
        found = {}
        for library in sorted(prebuild(self.folder / "prebuilt").iterdir()):
            data = library.read_bytes()
            oid = hashlib.sha256(data).hexdigest()
            self.server.lfs[oid] = data
            found[f"prebuilt/linux_x86_64/{library.name}"] = POINTER.format(oid=oid, size=len(data))
        return found

    def scons(self, *arguments: str, online: bool = True) -> Result:
        """Run the checkout's scons to its end."""
        argv = [sys.executable, "-m", "SCons", "-Q", "-j2", *arguments, f"store={self.folder / 'store'}", f"cache={self.cache}"]
        argv += [f"github={self.server.base}"] if online else ["offline=yes"]
        environment = {name: value for name, value in os.environ.items() if name != "GITHUB_TOKEN"}
        done = subprocess.run(argv, cwd=self.folder / "project", env=environment, capture_output=True, text=True, timeout=500, check=False)
        return Result(done.returncode, done.stdout + done.stderr)

    def done(self, *arguments: str, online: bool = True) -> str:
        result = self.scons(*arguments, online=online)
        assert result.code == 0, result.text
        return result.text

    def refused(self, *arguments: str, online: bool = True) -> str:
        result = self.scons(*arguments, online=online)
        assert result.code == 2, result.text
        return result.text

    def waive(self, rule: str) -> None:
        """Tolerate a rule of v0.19 that the sample, which has the C API of v0.18, breaks."""
        waiver = {"rule": rule, "reason": "the sample has the C API of v0.18", "until": "2999-12-31"}
        (self.folder / "project" / "third_party" / "waivers.json").write_text(json.dumps([waiver]))

    def lock(self, ref: str) -> Path:
        return self.folder / "project" / "third_party" / "refs" / f"{ref}.json"

    def bundle(self, ref: str) -> Path:
        return self.folder / "project" / "build" / "linux-x64" / ref / "bundle"


@pytest.fixture
def checkout(tmp_path: Path, cache: Path) -> Iterator[Checkout]:
    project = tmp_path / "project"
    for name in ("site_scons", "src", "third_party"):
        shutil.copytree(REPOSITORY / name, project / name, ignore=shutil.ignore_patterns("__pycache__", "v*.json"))
    (project / "third_party" / "waivers.json").unlink(missing_ok=True)
    (project / "docs").mkdir()
    for name in ("SConstruct", "LICENSE", "docs/manifest.schema.json"):
        shutil.copyfile(REPOSITORY / name, project / name)
    (tmp_path / "github").mkdir()
    with Loopback(tmp_path / "github") as server:
        yield Checkout(tmp_path, server, cache)


def test_a_tag_becomes_a_lock_a_host_and_a_bundle(checkout: Checkout) -> None:
    commit = checkout.publish("v0.19.1")
    real = ("target=linux-x64", "ref=v0.19.1")

    text = checkout.refused(*real, "locked=yes")
    assert "there is no lock of v0.19.1, and locked=yes forbids to make one" in text and not checkout.lock("v0.19.1").exists()

    text = checkout.done("lock", "ref=v0.19.1", "targets=linux-x64")
    assert f"v0.19.1.json: 5 repositories, commit {commit}" in text and "was trusted on first use" in text
    assert json.loads(checkout.lock("v0.19.1").read_text())["commit"] == commit

    text = checkout.refused(*real, "locked=yes")
    assert "BROKEN  c-abi" in text, "the rules of the lock's release hold"
    checkout.waive("c-abi")
    text = checkout.done(*real, "locked=yes", "link_mode=static")
    assert "Validated in-process LiteRT linkage on linux-x64" in text
    build = json.loads((checkout.bundle("v0.19.1") / "manifest.json").read_text())["build"]["linux-x64"]
    assert (build["linkMode"], build["linkModeOverride"], build["staticGpu"], build["localTrees"]) == ("static", None, None, []), (
        "the rule's own link mode, named, changes nothing"
    )
    (host,) = (checkout.bundle("v0.19.1").parent / "bazel-out").rglob("libLiteRtLm.so")
    assert ctypes.CDLL(str(host)).stream_proxy_callback_abi_version() == 2

    asked = len(checkout.server.requests)
    text = checkout.done(*real, "locked=yes", online=False)
    assert len(checkout.server.requests) == asked, "a lock and a full store ask nobody"

    moved = checkout.publish("v0.19.1", parent=True, README="moved\n")
    text = checkout.refused("lock", "ref=v0.19.1", "targets=linux-x64")
    assert "the tag v0.19.1 moved since it was locked" in text and f"locked {commit}" in text and f"now    {moved}" in text
    checkout.done(*real, "locked=yes", "host")

    oid = next(iter(checkout.server.lfs))
    for blob in (checkout.folder / "store").rglob(f"*{oid[2:]}*"):
        blob.unlink()
    del checkout.server.lfs[oid]
    shutil.rmtree(checkout.bundle("v0.19.1"))
    for tree in (checkout.folder / "store").rglob("prebuilt-*"):
        subprocess.run(["chmod", "-R", "u+w", tree], check=True)
        shutil.rmtree(tree)
    text = checkout.scons(*real).text
    assert f"the LFS object {oid} is not to be had" in text
    assert not list(checkout.bundle("v0.19.1").glob("*.tar.gz")), "no bundle with a pointer in it"


def test_a_build_without_a_lock_makes_it_and_a_bump_is_shown(checkout: Checkout) -> None:
    first = checkout.publish("v0.18.0")
    text = checkout.done("target=linux-x64", "ref=v0.18.0", "targets=linux-x64", "actions")
    assert "there was no lock of v0.18.0: wrote " in text and "commit it" in text
    assert text.count("was trusted on first use") == 1 and "litert_lm: sha256 " in text
    assert "there was no lock" not in checkout.done("target=linux-x64", "ref=v0.18.0", "actions")

    build = sources("litert_lm")["c/BUILD"].replace("alwayslink = True", 'copts = ["-O3"],\n    alwayslink = True', 1)
    second = checkout.publish("v0.19.1", parent=True, **{"c/BUILD": build, "c/more.cc": "int more;\n"})
    lines = checkout.done("lock", "ref=v0.19.1", "diff=yes", "targets=linux-x64").splitlines()
    assert lines[:3] == ["v0.18.0 -> v0.19.1", f"commit {first} -> {second}", f"~ litert_lm {first[:12]} -> {second[:12]}"]
    assert "linux-x64: + c/more.cc in //c:engine" in lines
    assert any(line.startswith("linux-x64: ~ flags +-O3: ") for line in lines)
    assert not checkout.lock("v0.19.1").exists(), "a diff writes nothing"
    assert "did you mean v0.18.0?" in checkout.refused("lock", "ref=v0.19.1", "diff=yes", "against=v0.18.1", "targets=linux-x64")

    short = f"g{second[:12]}"
    assert f"{short}.json: 5 repositories, commit {second}" in checkout.done("lock", f"ref={short}", "policy=v0.18.0", "targets=linux-x64")
    assert json.loads(checkout.lock(short).read_text())["policy"] == "v0.18.0"
    assert "ends at g000000000000" in checkout.refused("lock", "ref=g000000000000", "targets=linux-x64")
    assert "has no tag or branch 'v0.19.2'" in checkout.refused("target=linux-x64", "ref=v0.19.2", "actions")


def test_what_is_carried_is_audited_by_the_command(checkout: Checkout) -> None:
    checkout.publish("v0.18.0")
    assert "make it: scons lock ref=v0.18.0" in checkout.refused("patches", "ref=v0.18.0")
    checkout.done("lock", "ref=v0.18.0", "targets=linux-x64")
    text = checkout.done("patches", "ref=v0.18.0", online=False)
    audit = (checkout.folder / "project" / "docs" / "patch-audit.md").read_text()
    assert audit.strip() in text
    assert "- on with: `static_gpu=inject`" in audit and "- v0.18.0: applies" in audit
    assert "- v0.18.0: no such repository (sentencepiece)" in audit
    assert "- v0.18.0: no longer applies (" in audit, "the sample has no file of the iOS edits"


def test_the_manifest_tells_what_the_command_line_changed(checkout: Checkout) -> None:
    checkout.publish("v0.18.0")
    checkout.done("lock", "ref=v0.18.0", "targets=linux-x64")
    text = checkout.refused("target=linux-x64", "ref=sample", "static_gpu=inject", "actions")
    assert "static_gpu= has nothing to add to sample on linux-x64" in text
    local = Path(shutil.copytree(SAMPLE / "base", checkout.folder / "base checkout"))
    shutil.copyfile(REPOSITORY / "LICENSE", local / "LICENSE")
    source = next(local.rglob("*.cc"))
    source.write_text(source.read_text() + "// edited\n")
    changed = (f"src_base={local}", "static_gpu=inject", "link_mode=static")
    checkout.done("target=linux-x64", "ref=v0.18.0", *changed)
    build = json.loads((checkout.bundle("v0.18.0") / "manifest.json").read_text())["build"]["linux-x64"]
    assert (build["linkMode"], build["linkModeOverride"]) == ("static", "static")
    assert (build["staticGpu"], build["localTrees"]) == ("inject", ["base"])
