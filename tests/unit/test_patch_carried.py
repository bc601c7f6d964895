"""What is carried against upstream: whom it serves, what it adds, what becomes of it at another ref."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from litert_build.errors import BuildError
from litert_build.sources.carried import Carried, apply_carried, audit, audit_text, declared, read_carried
from litert_build.sources.lock import Edit, Lock
from litert_build.sources.patches import apply_edit

PATCH = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-old\n+new\n"


def lock(tmp_path: Path, policy: str = "v0.18.0") -> Lock:
    archive = {"urls": ["https://host/a.tar.gz"], "sha256": "a" * 64}
    data = {
        "schema": 1,
        "ref": "r",
        "policy": policy,
        "main": "lib",
        "repositories": {"lib": archive, "here": {"path": "."}},
        "roots": ["//:x"],
        "product": {"kind": "host"},
    }
    (tmp_path / "lock.json").write_text(json.dumps(data))
    return Lock.read(tmp_path / "lock.json")


def carry(tmp_path: Path, name: str = "one", kind: str = "patches", **fields: Any) -> list[Carried]:
    folder = tmp_path / "third_party" / kind / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.patch").write_text(PATCH)
    (folder / "BUILD").write_text("")
    data = {"refs": ">=0.17", "why": "it breaks", "upstream": "reported", "until": "it is fixed", **fields}
    (folder / "carried.json").write_text(json.dumps({key: value for key, value in data.items() if value is not None}))
    return read_carried(tmp_path / "third_party")


LIB: dict[str, Any] = {
    "lib": {"patches": [{"file": "x.patch", "strip": 1}], "urls": ["https://mirror/a.tar.gz"], "overlay": {"BUILD": "BUILD"}}
}


def test_a_carried_change_adds_to_the_entry_of_its_repository(tmp_path: Path) -> None:
    carried = carry(tmp_path, repositories=LIB, roots=["@lib//:more"])
    it, applied = apply_carried(lock(tmp_path), carried, "linux-x64", {})
    assert [change.name for change in applied] == ["one"]
    lib = it.repositories["lib"]
    assert lib.urls == ("https://host/a.tar.gz", "https://mirror/a.tar.gz")
    assert (lib.patches[0].file.path, lib.patches[0].strip) == (tmp_path / "third_party/patches/one/x.patch", 1)
    assert it.roots == ("//:x", "@lib//:more")


@pytest.mark.parametrize(
    ("policy", "target", "options", "fields"),
    [
        ("v0.16.1", "linux-x64", {}, {}),
        ("", "linux-x64", {}, {}),
        ("v0.18.0", "linux-x64", {}, {"os": ["ios"]}),
        ("v0.18.0", "linux-x64", {}, {"option": "static_gpu=inject"}),
        ("v0.18.0", "linux-x64", {"static_gpu": "off"}, {"option": "static_gpu=inject"}),
    ],
)
def test_whom_it_does_not_serve_it_leaves_alone(
    tmp_path: Path, policy: str, target: str, options: dict[str, str], fields: dict[str, Any]
) -> None:
    before = lock(tmp_path, policy)
    assert apply_carried(before, carry(tmp_path, repositories=LIB, **fields), target, options) == (before, [])


def test_an_option_switches_it_on_and_another_archive_off(tmp_path: Path) -> None:
    carried = carry(tmp_path, repositories={"lib": {**LIB["lib"], "sha256": "b" * 64}}, option="static_gpu=inject")
    it, applied = apply_carried(lock(tmp_path), carried, "linux-x64", {"static_gpu": "inject"})
    assert len(applied) == 1
    assert it.repositories["lib"].patches == ()


@pytest.mark.parametrize(
    ("content", "repositories", "status", "detail"),
    [
        ("old\n", LIB, "applies", ""),
        ("new\n", LIB, "unneeded", "x.patch is in the sources already"),
        ("other\n", LIB, "no longer applies", "x.patch: hunk 1 of 1 does not fit x.c"),
        ("old\n", {"gone": {"patches": [{"file": "x.patch"}]}}, "no such repository", "gone"),
        ("old\n", {"lib": {"edits": [{"file": "*x.c", "find": "old", "replace": "new"}]}}, "applies", ""),
        (
            "new\n",
            {"lib": {"edits": [{"file": "*x.c", "find": "old", "replace": "new"}]}},
            "unneeded",
            "'new' stands in the sources already",
        ),
        (
            "old old",
            {"lib": {"edits": [{"file": "*x.c", "find": "old", "replace": "new"}]}},
            "no longer applies",
            "'old' stands 2 times in x.c",
        ),
        ("old\n", {"lib": {"sha256": "b" * 64, "patches": [{"file": "x.patch"}]}}, "unneeded", "lib is another archive"),
    ],
)
def test_an_audit_says_what_becomes_of_it(tmp_path: Path, content: str, repositories: dict[str, Any], status: str, detail: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "x.c").write_text(content)
    carried = carry(tmp_path, repositories=repositories)
    (found,) = audit(carried, lock(tmp_path), {"lib": tree, "here": tree})
    assert (found.status, detail in found.detail) == (status, True), found
    assert (tree / "x.c").read_text() == content
    text = audit_text(carried, {"v0.18.0": [found]})
    assert f"- v0.18.0: {status}" in text
    assert "- why: it breaks" in text


def test_an_audit_names_what_serves_other_releases_unneeded(tmp_path: Path) -> None:
    carried = carry(tmp_path, repositories=LIB, refs=">=0.15,<0.18")
    (found,) = audit(carried, lock(tmp_path), {})
    assert (found.status, found.detail) == ("unneeded", "it serves >=0.15,<0.18")
    assert audit(carried, lock(tmp_path, ""), {}) == [], "a lock without a policy is no release"


def test_an_edit_fits_one_file_and_one_place(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.c").write_text("old")
    assert apply_edit(tmp_path, Edit("*/x.c", "old", "new"), "here") == "a/x.c"
    assert (tmp_path / "a/x.c").read_text() == "new"
    with pytest.raises(BuildError, match=r"'old' stands 0 times in a/x\.c, not once"):
        apply_edit(tmp_path, Edit("a/x.c", "old", "new"), "here")
    (tmp_path / "x.c").write_text("old")
    with pytest.raises(BuildError, match=r"the edit of '\*x\.c' fits 2 files"):
        apply_edit(tmp_path, Edit("*x.c", "old", "new"), "here")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"why": " "}, "why: a sentence is expected"),
        ({"until": None}, "until: the field is missing"),
        ({"os": ["ios", "amiga"]}, "os: 'amiga' is not one of linux"),
        ({"repository": {}}, "unknown field 'repository' in the file\n  -> did you mean repositories?"),
        ({"repositories": {"lib": {"patches": [{"strip": 1}]}}}, "repositories.lib.patches[0].file: the field is missing"),
        ({"repositories": {"lib": {"edits": [{"file": "x"}]}}}, "repositories.lib.edits[0].find: the field is missing"),
    ],
)
def test_a_faulty_description_is_told(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BuildError) as caught:
        carry(tmp_path, **fields)
    assert message in str(caught.value)
    assert caught.value.where.endswith("third_party/patches/one/carried.json")


def test_what_the_project_carries_is_well_described() -> None:
    carried = read_carried(Path("third_party"))
    assert [change.name for change in carried] == [
        "gpu-environment-destroy",
        "ios-metal-accelerator",
        "ios-metal-sampler",
        "minizip-mirrors",
        "sentencepiece-nul-piece",
        "rust-crates",
        "static-gpu",
    ]
    assert [change.name for change in carried if not change.serves("v0.16.1")] == ["sentencepiece-nul-piece"]
    assert [change.name for change in carried if change.serves("v0.19.1")] == [
        "ios-metal-accelerator",
        "ios-metal-sampler",
        "sentencepiece-nul-piece",
        "rust-crates",
    ]
    for change in carried:
        for additions in change.repositories.values():
            for reference in (*(patch.file for patch in additions.patches), *additions.overlay.values()):
                assert Path(getattr(reference, "path", reference)).is_file()


def test_the_committed_audit_tells_what_is_carried() -> None:
    committed = Path("docs/patch-audit.md").read_text().splitlines()
    missing = [line for line in audit_text(read_carried(Path("third_party")), {}).splitlines() if line not in committed]
    assert missing == [], "run scons patches"


def test_a_repository_that_workspace_lacks_is_declared_for_the_lock(tmp_path: Path) -> None:
    entry = {"urls": ["https://host/ml-drift.tar.gz"], "sha256": "c" * 64, "build_file": "BUILD", "repo_mapping": {"@fp16": "@FP16"}}
    carried = carry(tmp_path, declares={"ml_drift": entry}, option="static_gpu=inject")
    assert declared(carried, "v0.18.0", {}) == declared(carried, "v0.16.0", {"static_gpu": "inject"}) == ({}, {})
    made = declared(carried, "v0.18.0", {"static_gpu": "inject"})[0]["ml_drift"]
    assert (made.urls, made.repo_mapping) == (("https://host/ml-drift.tar.gz",), {"fp16": "FP16"})
    assert made.build_file is not None and made.build_file.path == tmp_path / "third_party/patches/one/BUILD"
    with pytest.raises(BuildError, match=r"declares\.ml_drift\.sha256: 64 hex digits are expected"):
        carry(tmp_path, declares={"ml_drift": {**entry, "sha256": "c"}})


def test_a_repository_of_the_main_archive_takes_no_source_of_its_own(tmp_path: Path) -> None:
    cargo = {"package": "p", "crates": "https://host/crates", "crate_patches": {"a": [{"file": "x.patch", "strip": 1}]}}
    carried = carry(tmp_path, of_main={"rust": {"overlay": {"src/lib.rs": "x.patch"}, "cargo": cargo}})
    (made,) = declared(carried, "v0.18.0", {})[1].values()
    assert (made.path, made.urls, made.overlay) == (None, (), {"src/lib.rs": tmp_path / "third_party/patches/one/x.patch"})
    assert made.cargo is not None and made.cargo.crate_patches["a"][0].strip == 1
    with pytest.raises(BuildError, match=r"repository 'rust' needs exactly one of path, urls and git"):
        carry(tmp_path, of_main={"rust": {"urls": ["https://host/a"], "sha256": "c" * 64}})
    with pytest.raises(BuildError, match=r"unknown field 'crate_patch' in"):
        carry(tmp_path, of_main={"rust": {"cargo": {"package": "p", "crate_patch": {}}}})
