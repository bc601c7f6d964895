"""Real crates: those that orjson's source archive on PyPI carries, built offline from a lock and called through C."""

from __future__ import annotations

import ctypes
import http.server
import json
import re
import shutil
import subprocess
import tarfile
import threading
from functools import partial
from pathlib import Path

import pytest
from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target, host_target
from litert_build.sources.lock import Lock
from litert_build.sources.network import Network
from litert_build.sources.trees import materialize

from tests.real.sdists import SHA256, sdist

pytestmark = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is absent: apt-get install gcc"),
]

NAME = "orjson-3.10.18"
CRATES = ("itoa", "memchr", "proc-macro2", "quote", "ryu", "serde", "serde_derive", "serde_json", "syn", "unicode-ident")
MANIFEST = """[package]
name = "names"
version = "0.1.0"
edition = "2021"

[lib]
crate-type = ["staticlib"]

[dependencies]
serde = { version = "=1.0.219", features = ["derive"] }
serde_json = "=1.0.140"

[profile.release]
panic = "abort"
"""
SOURCE = """
#[derive(serde::Deserialize)]
struct Named {
    name: String,
    ages: Vec<u32>,
}

/// Returns the sum of the ages and the length of the name, or -1 where the text is no such JSON.
///
/// # Safety
/// `text` is `size` bytes long.
#[no_mangle]
pub unsafe extern "C" fn names_weigh(text: *const u8, size: usize) -> i64 {
    match serde_json::from_slice::<Named>(std::slice::from_raw_parts(text, size)) {
        Ok(named) => named.ages.iter().map(|&age| i64::from(age)).sum::<i64>() + named.name.chars().count() as i64,
        Err(_) => -1,
    }
}
"""
USER = """#include <stddef.h>

long long names_weigh(const char*, size_t);

long long weigh(const char* text, size_t size) { return names_weigh(text, size); }
"""


def write_crate(folder: Path, archive: Path) -> Path:
    """Write a crate of a few lines and return it; its Cargo.lock has the packages of the archive's, with their checksums."""
    with tarfile.open(archive) as files:
        member = files.extractfile(f"{NAME}/Cargo.lock")
        assert member
        packages = member.read().decode().split("[[package]]\n")[1:]
    found = {match.group(1): text for text in packages if (match := re.match(r'name = "(.+)"', text))}
    own = 'name = "names"\nversion = "0.1.0"\ndependencies = [\n "serde",\n "serde_json",\n]\n'
    entries = [own if name == "names" else found[name].rstrip() + "\n" for name in sorted((*CRATES, "names"))]
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(MANIFEST)
    (folder / "Cargo.lock").write_text("version = 4\n\n" + "\n".join(f"[[package]]\n{entry}" for entry in entries))
    (folder / "lib.rs").write_text(SOURCE)
    return folder


def lock_of(tmp_path: Path, url: str) -> Lock:
    """The archive as a repository of a lock: its vendored crates where cargo looks for them, and the crate laid over it."""
    write_crate(tmp_path / "crate", sdist(NAME))
    overlay = {"Cargo.toml": "Cargo.toml", "Cargo.lock": "Cargo.lock", "src/lib.rs": "lib.rs"}
    data = {
        "schema": 1,
        "ref": "crates",
        "main": "user",
        "repositories": {
            "user": {"path": "user"},
            "names": {
                "urls": [url],
                "sha256": SHA256[NAME],
                "strip_prefix": NAME,
                "patch_cmds": ["mv include/cargo vendor", "rm -r src build.rs include .cargo"],
                "overlay": {inner: f"crate/{outer}" for inner, outer in overlay.items()},
                "cargo": {"package": "names"},
            },
        },
        "roots": ["//:user"],
        "product": {"kind": "objects"},
    }
    (tmp_path / "user").mkdir()
    (tmp_path / "user/BUILD").write_text('cc_library(name = "user", srcs = ["user.c"], deps = ["@names"], alwayslink = True)\n')
    (tmp_path / "user/user.c").write_text(USER)
    (tmp_path / "lock.json").write_text(json.dumps(data))
    return Lock.read(tmp_path / "lock.json")


def test_the_crates_of_an_archive_are_built_offline_and_called(tmp_path: Path) -> None:
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(sdist(NAME).parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        lock = lock_of(tmp_path, f"http://127.0.0.1:{server.server_port}/{NAME}.tar.gz")
        places = {"store": tmp_path / "store", "overlays_dir": tmp_path / "overlays", "target": host_target()}
        trees = materialize(lock, **places, network=Network(token=""))
        server.shutdown()
    assert materialize(lock, **places, offline=True) == trees, "made once"
    assert (trees["names"] / "crates/serde_json-1.0.140/LICENSE-MIT").is_file()

    analysis = analyze(lock, trees, find_target(host_target()))
    library = tmp_path / "libuser.so"
    argv = ["gcc", "-shared", "-fPIC", "-Wl,--no-undefined", str(tmp_path / "user/user.c"), str(trees["names"] / "lib/libnames.a")]
    subprocess.run([*argv, *analysis.link.flags, "-o", str(library)], check=True)
    weigh = ctypes.CDLL(str(library)).weigh
    weigh.argtypes, weigh.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_longlong
    text = '{"ages": [30, 12], "name": "Zoë"}'.encode()
    assert weigh(text, len(text)) == 45
    assert weigh(b"{", 1) == -1


def test_a_changed_byte_of_a_vendored_crate_is_refused(tmp_path: Path) -> None:
    lock = lock_of(tmp_path, sdist(NAME).as_uri())
    data = json.loads(lock.file.read_text())
    data["repositories"]["names"]["patch_cmds"].append("echo >> vendor/ryu-1.0.20/src/lib.rs")
    lock.file.write_text(json.dumps(data))
    with pytest.raises(BuildError, match="crate 'names' does not build") as caught:
        materialize(Lock.read(lock.file), store=tmp_path / "store", overlays_dir=tmp_path / "overlays", target=host_target(), offline=True)
    assert "checksum" in str(caught.value) and "ryu" in str(caught.value)
