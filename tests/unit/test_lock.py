"""What a lock may say, and what is said about a wrong one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from litert_build.errors import BuildError
from litert_build.sources.lock import FileRef, Lock

DIGEST = "a" * 64


def write(tmp_path: Path, **changes: Any) -> Path:
    data: dict[str, Any] = {
        "schema": 1,
        "ref": "sample",
        "main": "app",
        "repositories": {"app": {"path": "app"}},
        "roots": ["//c:engine"],
        "product": {"kind": "host"},
    }
    data.update(changes)
    file = tmp_path / "lock.json"
    file.write_text(json.dumps({key: value for key, value in data.items() if value is not None}), encoding="utf-8")
    return file


def repositories(**fields: Any) -> dict[str, Any]:
    return {"app": {"path": "app"}, "absl": fields}


def test_reads_every_field_of_a_repository(tmp_path: Path) -> None:
    lock = Lock.read(
        write(
            tmp_path,
            bindings={"zlib": "@zlib//:zlib"},
            repositories=repositories(
                rule="http_archive",
                location="WORKSPACE:12",
                urls=["https://x/a.tar.gz", "mirror/a.tar.gz"],
                sha256="A" * 64,
                strip_prefix="a-1",
                add_prefix="inner/a",
                build_file={"content": "exports_files(['x'])"},
                patches=[{"file": "@app//third_party:a.patch", "sha256": DIGEST, "strip": 1}, {"file": "b.patch"}],
                patch_cmds=["sed -i s/a/b/ x"],
                link_files={"build_defs.bzl": "@app//third_party:build_defs.bzl"},
                overlay={"x/BUILD": "overlay/x.BUILD"},
                repo_mapping={"@googletest": "@com_google_googletest"},
            ),
        )
    )
    absl = lock.repositories["absl"]
    assert absl.urls == ("https://x/a.tar.gz", (tmp_path / "mirror/a.tar.gz").as_uri())
    assert absl.sha256 == DIGEST
    assert absl.build_file == FileRef(content="exports_files(['x'])")
    assert absl.patches[0].file == FileRef(repository="app", inner="third_party/a.patch", sha256=DIGEST)
    assert (absl.patches[0].strip, absl.patches[1].strip) == (1, 0)
    assert absl.patches[1].file.path == tmp_path / "b.patch"
    assert absl.link_files["build_defs.bzl"].inner == "third_party/build_defs.bzl"
    assert absl.overlay["x/BUILD"] == tmp_path / "overlay/x.BUILD"
    assert lock.repositories["app"].path == tmp_path / "app"
    assert absl.repo_mapping == {"googletest": "com_google_googletest"}
    assert lock.release == "sample"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": 2}, "lock schema 2 is not 1"),
        ({"rots": []}, "unknown field 'rots' in the file\n  -> did you mean roots?"),
        ({"ref": "../../elsewhere"}, "ref: '../../elsewhere' cannot name a file\n  -> use letters, digits and . _ + ~ -"),
        ({"ref": ".."}, "ref: '..' cannot name a file"),
        ({"ref": "a\0b"}, "cannot name a file"),
        ({"repositories": {"../app": {"path": "x"}}}, "repositories: '../app' cannot name a file"),
        ({"product": {"kind": "host", "library": "../x.so"}}, "product.library: '../x.so' cannot name a file"),
        ({"main": None}, "main: the field is missing; a string is expected"),
        ({"main": "ap"}, "main repository 'ap' is not among the repositories\n  -> did you mean app?"),
        ({"roots": "//c:engine"}, "roots: a list is expected, not a string"),
        ({"roots": ["//c", 1]}, "roots[1]: a string is expected, not a number"),
        ({"roots": []}, "roots: at least one label is expected"),
        ({"link_mode": "statc"}, "link_mode: 'statc' is not one of static, dynamic, none\n  -> did you mean static?"),
        ({"defines": {"a": True}}, "defines.a: a string is expected, not true or false"),
        ({"product": {"kind": "hosts"}}, "product.kind: 'hosts' is not one of host, objects\n  -> did you mean host?"),
        ({"product": {"kind": "host", "require": []}}, "unknown field 'require' in product\n  -> did you mean required?"),
        ({"product": []}, "product: an object is expected, not a list"),
        ({"repositories": []}, "repositories: an object is expected, not a list"),
        ({"repositories": {"app": "x"}}, "repositories.app: an object is expected, not a string"),
        ({"repositories": repositories()}, "repository 'absl' needs exactly one of path, urls and git"),
        ({"repositories": repositories(path="a", urls=["b"])}, "repository 'absl' needs exactly one of path, urls and git"),
        ({"repositories": repositories(urls=["b"])}, "repository 'absl' has urls but no sha256"),
        ({"repositories": repositories(urls=[], sha256=DIGEST)}, "repositories.absl.urls: at least one address is expected"),
        ({"repositories": repositories(urls=["b"], sha256="abc")}, "repositories.absl.sha256: 64 hex digits are expected, not 'abc'"),
        ({"repositories": repositories(git="https://x", commit="v1")}, "repositories.absl.commit: the full 40 hex digits"),
        ({"repositories": repositories(path="a", strip_prefx="x")}, "'strip_prefx' in repositories.absl\n  -> did you mean strip_prefix?"),
        (
            {"repositories": repositories(path="a", patches=[{"file": "x", "strip": "1"}])},
            "patches[0].strip: a number is expected, not a string",
        ),
        ({"repositories": repositories(path="a", patches=["x"])}, "repositories.absl.patches[0]: an object is expected"),
        ({"repositories": repositories(path="a", build_file="@x:y")}, "build_file: '@x:y' is not a label of a file"),
        ({"repositories": repositories(path="a", build_file={"sha256": DIGEST})}, "build_file: exactly one of file, content and urls"),
        (
            {"repositories": repositories(path="a", build_file="@ap//:y")},
            "takes y from 'ap', which is not in the lock\n  -> did you mean app?",
        ),
        ({"repositories": repositories(path="a", overlay={"../x": "y"})}, "overlay.../x: '../x' is not a plain path inside the tree"),
        ({"repositories": repositories(path="a", link_files={"/x": "y"})}, "link_files./x: '/x' is not a plain path inside the tree"),
    ],
)
def test_a_wrong_lock_is_told_by_place(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    file = write(tmp_path, **changes)
    with pytest.raises(BuildError) as caught:
        Lock.read(file)
    assert message in str(caught.value)
    assert caught.value.where == str(file)


def test_a_field_given_twice_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "lock.json"
    file.write_text('{"schema": 1, "ref": "a", "ref": "b"}', encoding="utf-8")
    with pytest.raises(BuildError, match="'ref' stands twice in one object"):
        Lock.read(file)


def test_unreadable_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot read the file: No such file"):
        Lock.read(tmp_path / "none.json")
    (tmp_path / "lock.json").write_text("{", encoding="utf-8")
    with pytest.raises(BuildError, match="the file is not valid JSON"):
        Lock.read(tmp_path / "lock.json")
