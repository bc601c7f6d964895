"""What a host is made of: licences found in the trees, crates, the bill of materials, NOTICE and provenance."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from litert_build.bundles.bundle import make_bundle
from litert_build.bundles.components import (
    Component,
    companion_components,
    crate_components,
    identify_licence,
    notice,
    repository_components,
    tree_digest,
)
from litert_build.bundles.layout import layout
from litert_build.bundles.provenance import LOCAL_BUILDER, builder_of, project_commit, provenance
from litert_build.bundles.sbom import sbom
from litert_build.errors import BuildError
from litert_build.sources.lock import Cargo, Lock

from tests.unit.bundle_samples import sample_request

APACHE = "                  Apache License\n            Version 2.0, January 2004\n"
MIT = 'Permission is hereby granted, free of charge, to any\nperson obtaining a copy of this software\nTHE SOFTWARE IS PROVIDED "AS IS"'
BSD3 = "Redistribution and use in source and binary forms, with or without\nNeither the name of the owner"


def lock_of(folder: Path) -> Lock:
    document = {
        "schema": 1,
        "ref": "v0.18.0",
        "commit": "9" * 40,
        "main": "litert_lm",
        "repositories": {
            "litert_lm": {"path": "litert_lm"},
            "com_google_absl": {"urls": ["https://example.org/abseil-cpp/archive/20240722.0.tar.gz"], "sha256": "a" * 64},
            "zlib": {"urls": ["https://example.org/zlib-1.3.1.tar.gz"], "sha256": "b" * 64},
        },
        "roots": ["//c:engine"],
        "product": {"kind": "host"},
    }
    (folder / "lock.json").write_text(json.dumps(document))
    return Lock.read(folder / "lock.json")


def trees_of(folder: Path) -> dict[str, Path]:
    trees = {name: folder / name for name in ("litert_lm", "com_google_absl", "zlib")}
    for tree in trees.values():
        tree.mkdir()
    (trees["com_google_absl"] / "LICENSE").write_text(APACHE)
    (trees["zlib"] / "LICENSE.txt").write_text("This software is provided 'as-is', without any express or implied\nwarranty.")
    (trees["zlib"] / "notice.c").write_text("no licence")
    return trees


@pytest.mark.parametrize(
    ("texts", "licence"),
    [
        ([APACHE], "Apache-2.0"),
        ([APACHE + "---- LLVM Exceptions to the Apache 2.0 License ----"], "Apache-2.0 WITH LLVM-exception"),
        ([MIT], "MIT"),
        ([BSD3], "BSD-3-Clause"),
        ([BSD3.split("\n")[0]], "BSD-2-Clause"),
        ([APACHE, MIT], "Apache-2.0 AND MIT"),
        (["All rights reserved."], "LicenseRef-some-repo"),
    ],
)
def test_licences_by_their_words(texts: list[str], licence: str) -> None:
    assert identify_licence(texts, "some_repo") == licence


def test_repositories(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text(APACHE)
    parts = repository_components(lock_of(tmp_path), trees_of(tmp_path), tmp_path / "LICENSE")
    rows = [(part.name, part.version, part.licence, part.sha256[:2], part.commit[:2]) for part in parts]
    own = tree_digest(tmp_path / "litert_lm")[:2]
    assert rows == [
        ("com_google_absl", "20240722.0", "Apache-2.0", "aa", ""),
        ("litert_lm", "v0.18.0", "Apache-2.0", own, "99"),
        ("zlib", "1.3.1", "Zlib", "bb", ""),
    ]


def test_a_repository_without_a_licence(tmp_path: Path) -> None:
    trees = trees_of(tmp_path)
    (trees["zlib"] / "LICENSE.txt").unlink()
    with pytest.raises(BuildError, match=r"zlib: repository 'zlib' has no licence file\n  -> add one to its overlay"):
        repository_components(lock_of(tmp_path), {"zlib": trees["zlib"]})


def test_a_tree_digest_is_of_paths_and_contents(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a").write_text("1")
    first = tree_digest(tmp_path)
    (tmp_path / ".git" / "index").write_text("x")
    assert tree_digest(tmp_path) == first
    (tmp_path / "a").rename(tmp_path / "b")
    assert tree_digest(tmp_path) != first


def vendored(folder: Path, manifest: str) -> Path:
    (folder / "vendor" / "regex-1.10.2").mkdir(parents=True)
    (folder / "vendor" / "regex-1.10.2" / "Cargo.toml").write_text(manifest)
    (folder / "Cargo.lock").write_text(
        'version = 3\n[[package]]\nname = "own"\nversion = "0.1.0"\n'
        f'[[package]]\nname = "regex"\nversion = "1.10.2"\nsource = "registry"\nchecksum = "{"c" * 64}"\n'
    )
    return folder / "Cargo.lock"


def test_crates(tmp_path: Path) -> None:
    lock = vendored(tmp_path, '[package]\nname = "regex"\nversion = "1.10.2"\nlicense = "MIT/Apache-2.0"\n')
    (part,) = crate_components(lock, tmp_path / "vendor")
    assert (part.name, part.licence, part.sha256, part.kind) == ("regex", "MIT OR Apache-2.0", "c" * 64, "crate")


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ('[package]\nname = "regex"\nversion = "1.10.1"\n', "crate regex 1.10.2 is not vendored\n  -> run cargo vendor"),
        ('[package]\nname = "regex"\nversion = "1.10.2"\n', "crate regex 1.10.2 states no licence"),
    ],
)
def test_crates_that_are_refused(tmp_path: Path, manifest: str, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        crate_components(vendored(tmp_path, manifest), tmp_path / "vendor")


def test_crates_of_a_repository_that_cargo_builds(tmp_path: Path) -> None:
    trees = trees_of(tmp_path)
    vendored(trees["zlib"], '[package]\nname = "regex"\nversion = "1.10.2"\nlicense = "MIT"\n')
    (trees["zlib"] / "vendor").rename(trees["zlib"] / "crates")
    lock = lock_of(tmp_path)
    lock.repositories["zlib"] = replace(lock.repositories["zlib"], cargo=Cargo("zlib"))
    (tmp_path / "LICENSE").write_text(APACHE)
    parts = repository_components(lock, trees, tmp_path / "LICENSE")
    assert [(part.name, part.kind) for part in parts][-2:] == [("zlib", "repository"), ("regex", "crate")]


def test_a_checkout_is_named_by_its_own_digest(tmp_path: Path) -> None:
    (part,) = repository_components(lock_of(tmp_path), {"zlib": trees_of(tmp_path)["zlib"]}, local=["zlib"])
    assert (part.version, part.url, part.sha256) == ("local", "", tree_digest(tmp_path / "zlib"))


def test_companions() -> None:
    rows = layout("windows-x64", "v0.18.0")
    parts = companion_components(rows.companions, dict.fromkeys(rows.files, "d" * 64), "v0.18.0")
    licences = {part.name: part.licence for part in parts}
    assert licences["dxil.dll"] == "LicenseRef-Microsoft-DXC" and licences["libLiteRt.dll"] == "Apache-2.0"
    assert "DXC-LICENSE-MS.txt" not in licences


PARTS = [
    Component("absl", "1", "repository", "https://example.org/absl.tar.gz", "a" * 64, "Apache-2.0", (("LICENSE", APACHE),), "1" * 40),
    Component("base", "2", "repository", "", "b" * 64, "Apache-2.0", (("LICENSE", APACHE),)),
    Component("regex", "1.10.2", "crate", "https://example.org/regex", "c" * 64, "MIT OR Apache-2.0", (("LICENSE-MIT", MIT),)),
    Component("own", "3", "companion", "https://example.org/own", "d" * 64, "LicenseRef-own"),
]


def test_notice_prints_each_text_once() -> None:
    text = notice(PARTS)
    assert text.count("Apache License") == 1 and text.count("Permission is hereby granted") == 1
    assert "absl 1: LICENSE\nbase 2: LICENSE\n" in text
    assert "own 3 (LicenseRef-own) https://example.org/own\n" in text


def test_bill_of_materials() -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = sbom(PARTS, host="libLiteRtLm.so", digest="e" * 64, version="v0.18.0", epoch=1700000000)
    assert text == sbom(PARTS, host="libLiteRtLm.so", digest="e" * 64, version="v0.18.0", epoch=1700000000)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    content = json.loads(text)
    assert content["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    assert [row["name"] for row in content["components"]] == ["absl", "base", "own", "regex"]
    regex = content["components"][3]
    assert (regex["purl"], regex["licenses"]) == ("pkg:cargo/regex@1.10.2", [{"expression": "MIT OR Apache-2.0"}])
    assert sbom(PARTS[:1], host="libLiteRtLm.so", digest="e" * 64, version="v0.18.0", epoch=0) != text


def test_provenance(tmp_path: Path) -> None:
    content = make_bundle(sample_request(tmp_path)).content
    statement = json.loads(provenance({"b": "1" * 64, "a": "0" * 64}, PARTS, content, builder="https://example.org/ci"))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert [row["name"] for row in statement["subject"]] == ["a", "b"]
    definition = statement["predicate"]["buildDefinition"]
    assert definition["externalParameters"]["target"] == "linux-x64"
    assert definition["resolvedDependencies"][0] == {
        "name": "absl",
        "uri": "https://example.org/absl.tar.gz",
        "digest": {"sha256": "a" * 64, "gitCommit": "1" * 40},
    }
    assert statement["predicate"]["runDetails"] == {"builder": {"id": "https://example.org/ci"}}


def test_who_builds_and_from_which_commit(tmp_path: Path) -> None:
    assert builder_of({}) == LOCAL_BUILDER
    ci = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/bundles.yml@refs/heads/main"}
    assert builder_of(ci) == "https://github.com/o/r/.github/workflows/bundles.yml@refs/heads/main"
    assert project_commit(tmp_path) == ""
    for words in (["init", "-q"], ["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert len(project_commit(tmp_path)) == 40
    (tmp_path / "new").touch()
    assert project_commit(tmp_path) == ""
