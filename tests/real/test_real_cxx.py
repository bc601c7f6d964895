"""The real cxx: upstream's two bridges in their shape, by the real cxxbridge, with crates fetched as from a registry, into one library."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from litert_build.bazel.analysis import analyze
from litert_build.policy.refs import apply_policy
from litert_build.policy.targets import find_target, host_target
from litert_build.sources.carried import apply_carried, read_carried
from litert_build.sources.network import Network
from litert_build.sources.trees import materialize

from tests.e2e.test_sources_crates import REGISTRY, checkout, locked, serve_crate
from tests.loopback import Loopback
from tests.real.trees import TREES, TreeMissing, tree_path
from tests.rust_shape import publish

pytestmark = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is absent: apt-get install g++"),
]
# What of these crates needs what, on Linux: the dependency lists of a Cargo.lock.
NEEDS = {
    "cc": ("shlex",),
    "cxx": ("cc", "cxxbridge-flags", "cxxbridge-macro", "foldhash", "link-cplusplus"),
    "cxxbridge-macro": ("proc-macro2", "quote", "rustversion", "syn"),
    "link-cplusplus": ("cc",),
    "proc-macro2": ("unicode-ident",),
    "quote": ("proc-macro2",),
    "syn": ("proc-macro2", "quote", "unicode-ident"),
}
LLGUIDANCE = {
    "Cargo.toml": '[package]\nname = "llguidance"\nversion = "1.3.0"\nedition = "2021"\nlicense = "MIT"\n',
    "llguidance.h": 'extern "C" int llg_version();\n',
    "src/lib.rs": 'mod version;\n\n#[no_mangle]\npub extern "C" fn llg_version() -> i32 { version::VERSION }\n',
    "src/version.rs": "pub const VERSION: i32 = 1;\n",
}


def depend(names: tuple[str, ...]) -> str:
    return "dependencies = [\n" + "".join(f' "{name}",\n' for name in names) + "]\n" if names else ""


def serve_crates(server: Loopback) -> str:
    """Serve Debian's crates and a llguidance of a few lines, and return the Cargo.lock of litert_lm_deps with all of them."""
    entries = {}
    for name in (tree.name for tree in TREES.values() if tree.name.startswith("crate-")):
        (folder,) = (tree_path(name) / "usr/share/cargo/registry").iterdir()
        crate, _, version = folder.name.rpartition("-")
        parts = [path for path in folder.rglob("*") if path.suffix in (".rs", ".toml", ".c", ".cc", ".h")]
        files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in parts}
        entries[crate] = serve_crate(server, crate, version, files) + depend(NEEDS.get(crate, ()))
    entries["llguidance"] = serve_crate(server, "llguidance", "1.3.0", LLGUIDANCE)
    entries["json_parser"] = '[[package]]\nname = "json_parser"\nversion = "0.1.0"\n'
    entries["litert_lm_deps"] = '[[package]]\nname = "litert_lm_deps"\nversion = "0.1.0"\n' + depend(("cxx", "json_parser", "llguidance"))
    assert REGISTRY in entries["cxx"]
    return "version = 4\n\n" + "\n".join(entries[name] for name in sorted(entries))


def test_upstreams_bridges_are_built_and_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        monkeypatch.setenv("PATH", f"{tree_path('cxxbridge') / 'usr/bin'}{os.pathsep}{os.environ['PATH']}")
        (tmp_path / "github").mkdir()
        with Loopback(tmp_path / "github") as server:
            publish(server, serve_crates(server), 'cxx = "=1.0.141"\nllguidance = "=1.3.0"')
            lock, _ = locked(server, checkout(tmp_path, server), "linux-x64")
            effective, _ = apply_carried(apply_policy(lock, "linux-x64"), read_carried(tmp_path / "third_party"), "linux-x64", {})
            network = Network(github=server.base, token="")
            trees = materialize(effective, store=tmp_path / "store", overlays_dir=tmp_path / "o", network=network, target=host_target())
    except TreeMissing as missing:
        pytest.skip(str(missing))
    offline = materialize(effective, store=tmp_path / "store", overlays_dir=tmp_path / "o", offline=True, target=host_target())
    assert offline == trees, "made once"

    rust = trees["litert_lm_rust"]
    library = rust / "lib/liblitert_lm_deps.a"
    members = subprocess.run(["ar", "t", str(library)], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in members if name.endswith("cxx.o")], "cargo compiles no C++"
    assert "VERSION: i32 = 20000" in (next((tmp_path / "store/trees").glob("crates-*")) / "llguidance-1.3.0/src/version.rs").read_text()
    assert (rust / "crates/cxx-1.0.141/Cargo.toml").is_file(), "the papers of every crate"

    analysis = analyze(effective, trees, find_target("linux-x64"))
    roots = {"": trees["litert_lm"], **{f"external/{name}/": tree for name, tree in trees.items()}}
    sources = [
        str(tree / compile.source.removeprefix(prefix))
        for compile in analysis.actions.compiles()
        for prefix, tree in roots.items()
        if compile.source.startswith(prefix) and (tree / compile.source.removeprefix(prefix)).is_file()
    ]
    assert str(rust / "src/cxx.cc") in sources
    includes = [f"-I{path}" for path in (trees["litert_lm"], rust / "include", trees["tokenizers_cpp"])]
    made = tmp_path / "libengine.so"
    argv = ["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,--no-undefined", *includes]
    subprocess.run([*argv, *sources, str(library), *analysis.link.flags, "-o", str(made)], check=True)
    create = ctypes.CDLL(str(made)).litert_lm_engine_create
    # The length of "Hello Zoë" in UTF-8, those of the two words, the error that became an exception, and the two C APIs.
    assert create("Zoë".encode()) == 10 + 8 + 1000 + 20000 + 300000
