"""Crates of a Cargo.lock: fetched, checked, patched and laid out; and upstream's Rust labels, mapped to the one library of cargo."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError
from litert_build.policy.refs import apply_policy
from litert_build.policy.targets import find_target
from litert_build.sources.carried import apply_carried, read_carried
from litert_build.sources.crates import crates_of, vendor_crates
from litert_build.sources.download import Fetcher
from litert_build.sources.lock import Lock
from litert_build.sources.lock_command import LockRequest, run_lock
from litert_build.sources.lock_text import lock_text
from litert_build.sources.network import Network
from litert_build.sources.store import Store
from litert_build.sources.trees import materialize

from tests.loopback import Fault, Loopback
from tests.rust_shape import publish
from tests.upstream_shape import one_line_patch

REPOSITORY = Path(__file__).parents[2]
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
TARGETS = ("linux-x64", "linux-arm64", "windows-x64", "macos-arm64", "ios-arm64", "android-arm64")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    (tmp_path / "github").mkdir()
    with Loopback(tmp_path / "github") as server:
        yield server


def serve_crate(server: Loopback, name: str, version: str, files: dict[str, str]) -> str:
    """Serve a crate as a registry does, and return its entry in a Cargo.lock."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as box:
        for inner, text in files.items():
            info = tarfile.TarInfo(f"{name}-{version}/{inner}")
            info.size = len(text.encode())
            box.addfile(info, io.BytesIO(text.encode()))
    server.files[f"/crates/{name}/{name}-{version}.crate"] = stream.getvalue()
    checksum = hashlib.sha256(stream.getvalue()).hexdigest()
    return f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = "{REGISTRY}"\nchecksum = "{checksum}"\n'


def vendored(server: Loopback, tmp_path: Path, lock: str, offline: bool = False, **patches: str) -> Path:
    (tmp_path / "Cargo.lock").write_text("version = 4\n\n" + lock)
    network = Network(attempts=2, delay=0.01, timeout=10, token="", offline=offline)
    fetcher = Fetcher(Store(tmp_path / "store"), network)
    texts = {name: [(text.encode(), 1, "PATCH.x")] for name, text in patches.items()}
    try:
        return vendor_crates(tmp_path / "Cargo.lock", server.url("/crates/"), texts, fetcher)
    finally:
        fetcher.close()


def test_crates_are_laid_out_as_cargo_vendor_does(server: Loopback, tmp_path: Path) -> None:
    lock = serve_crate(server, "one", "1.0.0", {"Cargo.toml": "one", "src/lib.rs": "old\n"}) + serve_crate(
        server, "one", "2.0.0", {"x": ""}
    )
    lock += '[[package]]\nname = "own"\nversion = "0.1.0"\n'
    folder = vendored(server, tmp_path, lock)
    assert sorted(path.name for path in folder.iterdir()) == ["one-1.0.0", "one-2.0.0"]
    checksum = crates_of(tmp_path / "Cargo.lock")[0].sha256
    assert json.loads((folder / "one-1.0.0/.cargo-checksum.json").read_text()) == {"files": {}, "package": checksum}
    asked = len(server.requests)
    assert vendored(server, tmp_path, lock, offline=True) == folder
    assert len(server.requests) == asked, "made once"


def test_a_patched_crate_is_another_folder(server: Loopback, tmp_path: Path) -> None:
    lock = serve_crate(server, "one", "1.0.0", {"src/lib.rs": "old\n"})
    plain = vendored(server, tmp_path, lock)
    patched = vendored(server, tmp_path, lock, one=one_line_patch("src/lib.rs", "old", "new"))
    assert [(folder / "one-1.0.0/src/lib.rs").read_text() for folder in (plain, patched)] == ["old\n", "new\n"]
    with pytest.raises(BuildError, match=r"PATCH\.x: hunk 1 of 1 does not fit src/lib\.rs"):
        vendored(server, tmp_path, lock, one=one_line_patch("src/lib.rs", "older", "new"))
    with pytest.raises(BuildError, match=r"there is no crate 'two' to patch"):
        vendored(server, tmp_path, lock, two="")


def test_a_crate_with_another_checksum_is_refused_and_a_failing_registry_asked_again(server: Loopback, tmp_path: Path) -> None:
    lock = serve_crate(server, "one", "1.0.0", {"src/lib.rs": "old\n"})
    good = server.files["/crates/one/one-1.0.0.crate"]
    server.files["/crates/one/one-1.0.0.crate"] = good + b"forged"
    with pytest.raises(BuildError, match=r"the file of one-1\.0\.0 has the wrong digest"):
        vendored(server, tmp_path, lock)
    server.files["/crates/one/one-1.0.0.crate"] = good
    server.faults["/crates/one/one-1.0.0.crate"] = [Fault(status=503)]
    assert (vendored(server, tmp_path, lock) / "one-1.0.0/src/lib.rs").is_file()
    with pytest.raises(BuildError, match=r"the archive of two-1\.0\.0 is not in the store, and offline=yes forbids to fetch it"):
        vendored(server, tmp_path, serve_crate(server, "two", "1.0.0", {"x": ""}), offline=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[package]]\nname = "g"\nversion = "1"\nsource = "git+https://h/g#0"\n',
            "crate g 1 comes from git+https://h/g#0, which no checksum",
        ),
        ("[[package]\n", "cannot read Cargo.lock: "),
    ],
)
def test_what_no_checksum_pins_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "Cargo.lock").write_text(text)
    with pytest.raises(BuildError) as caught:
        crates_of(tmp_path / "Cargo.lock")
    assert message in str(caught.value)


def checkout(tmp_path: Path, server: Loopback) -> Path:
    """This project's declarations, with crates from the loopback server."""
    for name in ("overlays", "patches"):
        shutil.copytree(REPOSITORY / "third_party" / name, tmp_path / "third_party" / name)
    shutil.copyfile(REPOSITORY / "LICENSE", tmp_path / "LICENSE")
    carried = tmp_path / "third_party/overlays/rust-crates/carried.json"
    carried.write_text(carried.read_text().replace("https://static.crates.io/crates", server.url("/crates")))
    (tmp_path / "src/bridge/stream_proxy").mkdir(parents=True)
    (tmp_path / "src/bridge/stream_proxy/BUILD").write_text('cc_library(name = "stream_proxy", visibility = ["//visibility:public"])\n')
    return tmp_path


def locked(server: Loopback, root: Path, *targets: str) -> tuple[Lock, str]:
    request = LockRequest("v0.14.0", root=root, targets=targets or TARGETS)
    network = Network(github=server.base, attempts=2, delay=0.01, timeout=10, token="")
    text = run_lock(request, store=root / "store", network=network)
    return Lock.read(request.file), text


def test_upstreams_rust_labels_are_locked_without_rust(server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of rules_rust is fetched, no crate built: a lock needs the names alone."""
    monkeypatch.setattr("litert_build.sources.trees.build_crate", lambda *_, **__: pytest.fail("a lock builds no crate"))
    commit = publish(server, "version = 4\n")
    lock, text = locked(server, checkout(tmp_path, server))
    assert "android_sdk_repository was not called: toolchain= chooses the compiler" in text
    assert {"litert_lm_rust", "rules_rust", "crate_index__llguidance-1.3.0", "tokenizers_cpp", "litert"} < set(lock.repositories)
    assert not {"crate_index", "crate_index__llguidance", "cxxbridge_cmd"} & set(lock.repositories), "what no target needs"
    assert not [path for _, path, _ in server.requests if "rules_rust" in path or "/crates/" in path]
    rust, main = lock.repositories["litert_lm_rust"], lock.repositories["litert_lm"]
    assert (rust.urls, rust.sha256, rust.strip_prefix) == (main.urls, main.sha256, f"LiteRT-LM-{commit}")
    assert rust.cargo is not None and rust.cargo.crates == server.url("/crates")
    (patch,) = rust.cargo.crate_patches["llguidance"]
    assert (patch.file.inner, patch.strip, len(patch.file.sha256)) == ("PATCH.llguidance_parser", 0, 64)
    assert lock_text(lock) == lock.file.read_text(), "what is written is what is read"


@pytest.mark.parametrize("target", TARGETS)
def test_a_host_links_one_library_and_no_allocator_of_upstreams(server: Loopback, tmp_path: Path, target: str) -> None:
    publish(server, "version = 4\n")
    lock, _ = locked(server, checkout(tmp_path, server), target)
    effective, _ = apply_carried(apply_policy(lock, target), read_carried(tmp_path / "third_party"), target, {})
    network = Network(github=server.base, token="")
    trees = materialize(effective, store=tmp_path / "store", overlays_dir=tmp_path / "o", network=network, outlines=True)
    row = find_target(target)
    analysis = analyze(effective, trees, row, compiler=row.release_toolchain)
    assert [Path(path).name for path in analysis.link.libraries] == ["liblitert_lm_deps.a"]
    compiled = {compile.source for compile in analysis.actions.compiles()}
    assert {"external/litert_lm_rust/src/runtime/components/rust/minijinja_template.rs.cc", "external/litert_lm_rust/src/cxx.cc"} < compiled
    allocators = sorted(source for source in compiled if "alloc_defs" in source)
    assert allocators == (["external/litert/support/util/alloc_defs.cc", "rust/alloc_defs.cc"] if target == "windows-x64" else [])
    for source in allocators:
        tree = trees["litert"] if source.startswith("external") else trees["litert_lm"]
        assert "#error" not in (tree / source.removeprefix("external/litert/")).read_text(), "the overlay's, that defines nothing"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gen_build_script = False", "patch_tool = 'git'", "crate.annotation() with patch_tool is not supported"),
        ("gen_build_script = False", "patchez = []", "crate.annotation() with patchez is not supported"),
        ('"llguidance": [', '"llguidance": [1, ', "annotations of crate 'llguidance' are made by crate.annotation(), not 1"),
    ],
)
def test_annotations_that_cannot_be_kept_are_told(server: Loopback, tmp_path: Path, old: str, new: str, message: str) -> None:
    publish(server, "version = 4\n")
    work = server.root / "work/google-ai-edge/LiteRT-LM/WORKSPACE"
    server.repository("google-ai-edge/LiteRT-LM", {"WORKSPACE": work.read_text().replace(old, new)}, tag="v0.14.0", parent=True)
    with pytest.raises(BuildError) as caught:
        locked(server, checkout(tmp_path, server), "linux-x64")
    assert message in str(caught.value)
    assert "WORKSPACE:" in str(caught.value)
