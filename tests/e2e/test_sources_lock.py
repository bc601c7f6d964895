"""From a tag to a lock to sealed trees, against a loopback GitHub in upstream's shape."""

from __future__ import annotations

import ctypes
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.sources.bump import lock_diff
from litert_build.sources.generate import Generated, Wanted, check_tag, generate_lock
from litert_build.sources.lock import Lock, Repository
from litert_build.sources.lock_command import LockRequest, closure_of, ensure_lock, run_lock, run_patches
from litert_build.sources.lock_text import lock_text
from litert_build.sources.network import Network
from litert_build.sources.prebuilt import prebuilt_tree
from litert_build.sources.trees import materialize

from tests.loopback import Loopback
from tests.upstream_shape import UPSTREAM, one_line_patch, publish

WANTED = Wanted("v0.19.1", policy="")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    (tmp_path / "github").mkdir()
    with Loopback(tmp_path / "github") as server:
        yield server


def generate(server: Loopback, tmp_path: Path, wanted: Wanted = WANTED) -> Generated:
    return generate_lock(
        wanted,
        tmp_path / "refs" / f"{wanted.ref}.json",
        store=tmp_path / "store",
        closure=closure_of(("linux-x64",), tmp_path),
        network=Network(github=server.base, attempts=2, delay=0.01, timeout=10, token=""),
    )


def save(made: Generated) -> Lock:
    made.lock.file.parent.mkdir(exist_ok=True)
    made.lock.file.write_text(lock_text(made.lock), encoding="utf-8")
    return Lock.read(made.lock.file)


def publish_main(
    server: Loopback, workspace: str, build: str = 'cc_library(name = "engine", srcs = ["engine.cc"])\n', **files: str
) -> None:
    server.repository(UPSTREAM, {"WORKSPACE": workspace, "c/BUILD": build, "c/engine.cc": "", **files}, tag="v0.19.1")


def test_a_tag_becomes_a_lock_that_builds_offline(server: Loopback, tmp_path: Path) -> None:
    commit = publish(server)
    made = generate(server, tmp_path)
    lock = save(made)
    assert lock_text(lock) == lock_text(made.lock), "what is written is what is read"
    assert (lock.commit, lock.roots, lock.bindings) == (commit, ("//c:engine",), {"re2_alias": "@re2//:re2"})
    assert list(lock.repositories) == ["litert_lm", "com_google_absl", "flatbuffers", "org_tensorflow", "litert", "re2", "stb"]
    assert not [path for _, path, _ in server.requests if "never" in path], "what is not needed is not fetched"

    trees = materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", offline=True)
    assert (trees["com_google_absl"] / "absl/base/base.cc").read_text() == "int absl_base() { return 7; }\n"
    assert "@com_google_googletest" in (trees["com_google_absl"] / "absl/base/BUILD.bazel").read_text()
    assert (trees["flatbuffers"] / "flatbuffers.cc").read_text() == "int flat() { return 2; }\n"
    assert '"@litert//third_party/odml:more"' in (trees["litert"] / "third_party/odml/BUILD").read_text()
    sources = sorted(action.source.split("/")[-1] for action in analyze(lock, trees, find_target("linux-x64")).actions.compiles())
    assert sources == ["base.cc", "engine.cc", "flatbuffers.cc", "litert.cc", "more.cc", "odml.cc", "re2.cc"]


def test_an_empty_store_is_filled_from_the_lock_alone(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    lock = save(generate(server, tmp_path))
    network = Network(github=server.base, delay=0.01, token="")
    fresh = materialize(lock, store=tmp_path / "fresh", overlays_dir=tmp_path / "overlays", network=network)
    again = materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", offline=True)
    assert [path.name for path in fresh.values()] == [path.name for path in again.values()]


def test_an_entry_says_where_it_comes_from_and_what_it_kept_out(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    made = generate(server, tmp_path)
    absl, flatbuffers = made.lock.repositories["com_google_absl"], made.lock.repositories["flatbuffers"]
    assert absl.location == "WORKSPACE:11"
    assert absl.shadowed == ()  # its macro asks existing_rule() first
    assert [place.split(" < ")[-1] for place in made.lock.repositories["litert"].shadowed] == ["WORKSPACE:44"]
    repo, macro, inner, outer = flatbuffers.location.split(" < ")
    assert repo.startswith("external/org_tensorflow/third_party/repo.bzl:")
    assert (macro, outer) == ("external/org_tensorflow/tensorflow/workspace2.bzl:5", "WORKSPACE:30")
    assert inner.startswith("external/org_tensorflow/tensorflow/workspace2.bzl:")
    assert flatbuffers.rule == "archive"
    assert flatbuffers.urls[0].startswith("https://storage.example.invalid/mirror/github.com/google/flatbuffers/archive/")
    assert all(patch.file.sha256 for patch in (*absl.patches, *flatbuffers.patches))
    assert made.lock.repositories["re2"].repo_mapping == {"abseil-cpp": "com_google_absl"}


def test_what_was_not_evaluated_or_needed_is_told(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    notes = generate(server, tmp_path).notes
    assert any(
        note.startswith("WORKSPACE:65: rules_rust_dependencies of @rules_rust//rust:repositories.bzl was not called") for note in notes
    )
    assert any("crates are built by cargo" in note for note in notes)
    assert {"unneeded is declared, but not needed", "crate_index is declared, but not needed"} <= set(notes)


def test_the_same_sources_make_the_same_bytes(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    one, other = (generate(server, tmp_path / name) for name in ("one", "two"))
    assert lock_text(one.lock) == lock_text(other.lock)


def test_a_moved_tag_is_an_error_that_names_both_commits(server: Loopback, tmp_path: Path) -> None:
    first = publish(server)
    lock = save(generate(server, tmp_path))
    second = server.repository(UPSTREAM, {"README": "moved"}, tag="v0.19.1", parent=True)
    with pytest.raises(BuildError) as caught:
        generate(server, tmp_path)
    assert "the tag v0.19.1 moved since it was locked" in str(caught.value)
    assert caught.value.notes == (f"locked {first}", f"now    {second}")
    check_tag(lock, first)
    pinned = generate(server, tmp_path, replace(WANTED, commit=first))
    assert lock_text(pinned.lock) == lock_text(lock)


def test_a_bump_is_shown_line_by_line(server: Loopback, tmp_path: Path) -> None:
    first = publish(server)
    old = generate(server, tmp_path).lock
    workspace = (server.root / "work" / UPSTREAM / "WORKSPACE").read_text().replace('    patches = ["//:PATCH.absl"],\n', "")
    newer = server.repository("nothings/stb", {"stb.h": "int stb2();\n"}, parent=True)
    workspace = workspace.replace(old.repositories["stb"].commit, newer)
    build = (server.root / "work" / UPSTREAM / "c/BUILD").read_text().replace('        "@flatbuffers",\n', "")
    second = server.repository(UPSTREAM, {"WORKSPACE": workspace, "c/BUILD": build}, tag="v0.20.0", parent=True)
    new = generate(server, tmp_path, replace(WANTED, ref="v0.20.0")).lock
    assert lock_diff(old, new) == [
        f"commit {first} -> {second}",
        f"~ litert_lm {first[:12]} -> {second[:12]}",
        "~ com_google_absl: patches changed",
        f"~ stb {old.repositories['stb'].commit[:12]} -> {newer[:12]}",
        f"- flatbuffers {old.repositories['flatbuffers'].urls[0].split('/')[-1][:12]}",
        f"- org_tensorflow {old.repositories['org_tensorflow'].urls[0].split('/')[-1][:12]}",
    ]
    assert lock_diff(old, old) == []


def test_a_release_takes_its_policy_and_additions(server: Loopback, tmp_path: Path) -> None:
    publish_main(server, 'workspace(name = "litert_lm")\n')
    server.repository(UPSTREAM, {"schema/capabilities/BUILD": 'cc_library(name = "capabilities")\n'}, tag="v0.15.0", parent=True)
    bridge = tmp_path / "bridge"
    (bridge / "stream_proxy").mkdir(parents=True)
    (bridge / "stream_proxy/BUILD").write_text('cc_library(name = "stream_proxy", srcs = ["x.cc"], visibility = ["//visibility:public"])\n')
    (bridge / "stream_proxy/x.cc").write_text("")
    additions = {"litert_lm_native": Repository("litert_lm_native", path=bridge)}
    lock = save(generate(server, tmp_path, Wanted("v0.15.0", additions=additions)))
    assert (lock.policy, list(lock.repositories)) == ("v0.15.0", ["litert_lm", "litert_lm_native"])
    assert '"path": "../bridge"' in lock.file.read_text()


def test_an_archive_without_a_digest_is_trusted_once_and_said_so(server: Loopback, tmp_path: Path) -> None:
    server.files["/x/a.tar.gz"] = server.files["/x/one.txt"] = b"plain"
    commit = server.repository("o/lib", {"BUILD": 'cc_library(name = "lib", visibility = ["//visibility:public"])\n'}, tag="v1")
    workspace = f"""
load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive", "http_file")
load("@bazel_tools//tools/build_defs/repo:git.bzl", "git_repository")
http_archive(name = "lib", url = "https://github.com/o/lib/archive/{commit}.tar.gz", strip_prefix = "lib-{commit}")
http_file(name = "one", url = "{server.url("/x/one.txt")}", downloaded_file_path = "one.txt")
git_repository(name = "tagged", remote = "https://github.com/o/lib", tag = "v1")
"""
    deps = '["@lib", "@tagged//:lib"], textual_hdrs = ["@one//file"]'
    publish_main(server, workspace, f'cc_library(name = "engine", srcs = ["engine.cc"], deps = {deps})\n')
    made = generate(server, tmp_path)
    digest = hashlib.sha256(server.archive("o/lib", commit)).hexdigest()
    assert made.lock.repositories["lib"].sha256 == digest
    assert f"lib: sha256 {digest} of https://github.com/o/lib/archive/{commit}.tar.gz was trusted on first use" in made.notes
    assert made.lock.repositories["tagged"].commit == commit
    one = made.lock.repositories["one"].link_files
    assert (one["file/one.txt"].sha256, list(one)) == (hashlib.sha256(b"plain").hexdigest(), ["file/one.txt", "file/BUILD"])
    lock = save(made)
    trees = materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "o", offline=True)
    assert (trees["one"] / "file/one.txt").read_bytes() == b"plain"


HTTP = 'load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")\nhttp_archive(name = "a"%s)\n'
GONE = 'load("@gone//:x.bzl", "it")\n%s\n'
RULE = """
def _impl(ctx):
    %s

made = repository_rule(implementation = _impl, attrs = {"x": attr.string(mandatory = True)})
"""


MADE = 'load("//:r.bzl", "made")\nmade(name = "a"%s)\n'


@pytest.mark.parametrize(
    ("workspace", "rule", "message"),
    [
        ("x = \n", "", "WORKSPACE:1: "),
        (HTTP % ', sha = "x", url = "u"', "", "WORKSPACE:2: repository '@a' cannot be locked: http_archive() has no attribute 'sha'"),
        (HTTP % "", "", "WORKSPACE:2: repository '@a' cannot be locked: http_archive 'a' has neither url nor urls"),
        (HTTP % ', urls = "u"', "", 'http_archive.urls takes a list of strings, not "u" (string)'),
        (HTTP % ', url = "u", patch_tool = "git"', "", "patch_tool is not supported"),
        (HTTP % ', url = "u", patch_args = ["-F3"]', "", "the patch argument '-F3' is not supported"),
        (HTTP % ', url = "u", type = "deb"', "", "archives of type 'deb' are not supported"),
        (HTTP % ', url = "u", integrity = "sha512-AA"', "", "the integrity 'sha512-AA' is no sha256"),
        ('local_repository(name = "a", path = "../x")\n', "", "lies outside of the main repository: '../x'"),
        (MADE % "", "pass", "WORKSPACE:2: repository 'a' lacks the mandatory attribute 'x'"),
        (MADE % ', x = "1", y = 2', "pass", "repository rule has no attribute 'y'"),
        (MADE % ', x = "1"', "pass", "'@a' cannot be locked: repository rule 'impl' makes nothing"),
        (MADE % ', x = "1"', 'ctx.execute(["uname"])', "which depends on the machine it runs on\n    in _impl at r.bzl:3"),
        (MADE % ', x = "1"', 'ctx.path("x").exists', "asks whether 'x' exists in the repository that is being made"),
        (MADE % ', x = "1"', 'ctx.file("../x")', "'../x' leads out of the repository"),
        (GONE % "x = 1 if it else 2", "", "WORKSPACE:2: 'it' of @gone//:x.bzl decides something, but no repository @gone is declared"),
        (GONE.replace("%s", 'x = "v%s" % it'), "", "'it' of @gone//:x.bzl becomes part of a text"),
        (GONE % "[x for x in it.items()]", "", "'it.items()' of @gone//:x.bzl is looped over, but no repository @gone is declared above"),
        (GONE % 'it(name = "a")', "", "repository '@a' cannot be locked: 'it' of @gone//:x.bzl declares it"),
        ("", "", "no such repository '@a'"),
    ],
)
def test_what_cannot_be_locked_is_told_at_its_declaration(
    server: Loopback, tmp_path: Path, workspace: str, rule: str, message: str
) -> None:
    publish_main(server, workspace, 'cc_library(name = "engine", deps = ["@a//:x"])\n', **{"BUILD": "", "r.bzl": RULE % (rule or "pass")})
    with pytest.raises(BuildError) as caught:
        generate(server, tmp_path)
    assert message in str(caught.value)


def test_an_unknown_tag_names_the_nearest(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    with pytest.raises(BuildError, match=r"has no tag or branch 'v0\.19\.2'\n  -> did you mean v0\.19\.1\?"):
        generate(server, tmp_path, replace(WANTED, ref="v0.19.2"))


def test_a_tree_without_workspace(server: Loopback, tmp_path: Path) -> None:
    server.repository(UPSTREAM, {"README": ""}, tag="v0.19.1")
    with pytest.raises(BuildError, match="there is no WORKSPACE file"):
        generate(server, tmp_path)


def test_a_folder_of_the_main_repository_is_locked_with_it(server: Loopback, tmp_path: Path) -> None:
    content = "cc_library(name = 'inner', srcs = ['i.cc'], visibility = ['//visibility:public'])"
    workspace = f'new_local_repository(name = "inner", path = "third_party/inner", build_file_content = "{content}")\n'
    build = 'cc_library(name = "engine", srcs = ["engine.cc"], deps = ["@inner"])\n'
    publish_main(server, workspace, build, **{"third_party/inner/i.cc": "int i;\n"})
    made = generate(server, tmp_path)
    inner = made.lock.repositories["inner"]
    assert inner.strip_prefix.endswith("/third_party/inner")
    trees = materialize(save(made), store=tmp_path / "store", overlays_dir=tmp_path / "o", offline=True)
    assert (trees["inner"] / "i.cc").read_text() == "int i;\n"


def request(tmp_path: Path, ref: str = "v0.19.1", **more: Any) -> LockRequest:
    return LockRequest(ref, root=tmp_path, targets=("linux-x64",), **{"policy": "", **more})


def test_a_build_without_a_lock_makes_it_and_a_locked_one_refuses(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    online = Network(github=server.base, delay=0.01, token="")
    with pytest.raises(BuildError, match=r"there is no lock of v0\.19\.1, and locked=yes forbids to make one"):
        ensure_lock(request(tmp_path), store=tmp_path / "store", locked=True, network=online)
    lock, notes = ensure_lock(request(tmp_path), store=tmp_path / "store", network=online)
    assert notes[0].startswith("there was no lock of v0.19.1: wrote ")
    assert notes[0].endswith(f"7 repositories, commit {lock.commit}; commit it")
    assert any(note.startswith("litert_lm: sha256 ") for note in notes[1:])
    assert ensure_lock(request(tmp_path), store=tmp_path / "store", locked=True, network=replace(online, offline=True)) == (lock, ())
    with pytest.raises(BuildError, match=r"has no tag or branch 'v0\.19\.2'") as caught:
        ensure_lock(request(tmp_path, "v0.19.2"), store=tmp_path / "store", network=online)
    assert "the locks here: v0.19.1" in caught.value.notes


def test_a_bump_shows_targets_units_and_flags(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    online = Network(github=server.base, delay=0.01, token="")
    first = run_lock(request(tmp_path), store=tmp_path / "store", network=online)
    assert "7 repositories" in first.splitlines()[0]
    build = (server.root / "work" / UPSTREAM / "c/BUILD").read_text().replace("alwayslink = True", 'copts = ["-O3"], defines = ["NEW=1"]')
    build = build.replace('"engine.cc"]', '"engine.cc", "more.cc"]').replace('        "@re2",\n', "")
    server.repository(UPSTREAM, {"c/BUILD": build, "c/more.cc": ""}, tag="v0.20.0", parent=True)
    text = run_lock(request(tmp_path, "v0.20.0"), store=tmp_path / "store", network=online, diff=True)
    assert not (tmp_path / "third_party/refs/v0.20.0.json").exists()
    lines = text.splitlines()
    assert lines[0] == "v0.19.1 -> v0.20.0"
    assert lines[3].startswith("- re2 ")
    assert lines[4:] == [
        "linux-x64: - target @re2//:re2",
        "linux-x64: + c/more.cc in //c:engine",
        "linux-x64: ~ flags +-O3: 1 translation units, first c/engine.cc",
        "linux-x64: ~ defines +NEW=1: 1 translation units, first c/engine.cc",
        "linux-x64: ~ includes --iquote external/re2 --iquote bazel-out/k8-opt/bin/external/re2: 1 translation units, first c/engine.cc",
    ]
    with pytest.raises(BuildError, match=r"there is no lock of v0\.19\.2\n  -> did you mean v0\.19\.1\?"):
        run_lock(request(tmp_path, "v0.20.0", against="v0.19.2"), store=tmp_path / "store", network=online, diff=True)


def test_what_is_carried_is_tried_on_the_sources_of_a_lock(server: Loopback, tmp_path: Path) -> None:
    publish(server)
    online = Network(github=server.base, delay=0.01, token="")
    lock, _ = ensure_lock(request(tmp_path), store=tmp_path / "store", network=online)
    lock.file.write_text(lock_text(replace(lock, policy="v0.19.1")), encoding="utf-8")
    folder = tmp_path / "third_party/patches/flat"
    folder.mkdir(parents=True)
    (folder / "x.patch").write_text(one_line_patch("flatbuffers.cc", "int flat() { return 3; }", "int flat() { return 4; }"))
    (folder / "carried.json").write_text(
        json.dumps(
            {
                "refs": ">=0.19",
                "why": "w",
                "upstream": "u",
                "until": "t",
                "repositories": {"flatbuffers": {"patches": [{"file": "x.patch", "strip": 1}]}},
            }
        )
    )
    text = run_patches(request(tmp_path), store=tmp_path / "store", network=replace(online, offline=True))
    assert "- v0.19.1: no longer applies (x.patch: hunk 1 of 1 does not fit flatbuffers.cc)" in text


def test_prebuilt_files_come_through_lfs(server: Loopback, tmp_path: Path) -> None:
    library = b"\x7fELF" + b"x" * 5000
    oid = hashlib.sha256(library).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(library)}\n"
    server.lfs[oid] = library
    publish_main(
        server, "", **{"prebuilt/linux_x86_64/libwebgpu_dawn.so": pointer, "prebuilt/android_arm64/x.so": pointer.replace(oid, "0" * 64)}
    )
    lock = generate(server, tmp_path).lock
    online = Network(github=server.base, delay=0.01, token="")
    tree = prebuilt_tree(lock, "linux_x86_64", store=tmp_path / "store", network=online)
    assert {path.relative_to(tree).as_posix(): path.read_bytes() for path in tree.rglob("*.so")} == {
        "linux_x86_64/libwebgpu_dawn.so": library
    }
    assert prebuilt_tree(lock, "linux_x86_64", store=tmp_path / "store", network=replace(online, offline=True)) == tree
    with pytest.raises(BuildError, match=r"the LFS object 0000.* is not to be had"):
        prebuilt_tree(lock, "android_arm64", store=tmp_path / "store", network=online)
    with pytest.raises(BuildError, match="the archive holds nothing under strip_prefix"):
        prebuilt_tree(lock, "windows_arm64", store=tmp_path / "store", network=online)
    local = replace(lock, repositories={"litert_lm": Repository("litert_lm", path=tmp_path)})
    assert prebuilt_tree(local, "linux_x86_64", store=tmp_path / "store") == tmp_path / "prebuilt"


def test_a_host_is_built_from_the_lock_alone(server: Loopback, tmp_path: Path) -> None:
    """The whole way: tag, lock, sealed trees, then `scons` offline to a checked host library that runs."""
    publish(server)
    lock = save(generate(server, tmp_path))
    materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "o", network=Network(github=server.base, delay=0.01, token=""))
    build = tmp_path / "build"
    scons = [
        sys.executable,
        "-m",
        "SCons",
        f"lock={lock.file}",
        f"store={tmp_path / 'store'}",
        f"build_dir={build}",
        "offline=yes",
        "-j2",
        "host",
    ]
    done = subprocess.run(scons, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validated in-process LiteRT linkage on linux-x64" in done.stdout
    (host,) = build.rglob("libLiteRtLm.so")
    assert ctypes.CDLL(str(host)).litert_lm_engine_create() == 1


LOOPING = """
def cuda_init(versions):
    for version in versions:
        native.local_repository(name = "cuda_" + version, path = "cuda")

def devices(versions):
    cuda_init(versions)
"""


def test_a_macro_that_needs_what_is_unknown_is_left_out_by_name(server: Loopback, tmp_path: Path) -> None:
    loads = 'load("@gone//:versions.bzl", "VERSIONS")\nload("//:loop.bzl", "cuda_init", "devices")\n'
    publish_main(server, loads + "cuda_init(VERSIONS)\n", **{"BUILD": "", "loop.bzl": LOOPING})
    assert any("cuda_init of //:loop.bzl was not called: a host has no use for it" in note for note in generate(server, tmp_path).notes)
    server.repository(UPSTREAM, {"WORKSPACE": loads + "devices(VERSIONS)\n"}, tag="v0.19.1", parent=True)
    with pytest.raises(BuildError) as caught:
        generate(server, tmp_path / "again")
    assert caught.value.where == "WORKSPACE:3"
    assert caught.value.notes[-1] == "in cuda_init at loop.bzl:3"
    assert "leave it out with skip=MACRO" in caught.value.mend
    notes = generate(server, tmp_path / "again", replace(WANTED, skip=("devices",))).notes
    assert "WORKSPACE:3: devices of //:loop.bzl was not called: skip= leaves it out" in notes
