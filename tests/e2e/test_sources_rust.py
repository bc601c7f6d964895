"""Crates become static libraries that C++ sees as a repository."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from litert_build.bazel.analysis import analyze
from litert_build.errors import BuildError
from litert_build.policy.targets import TARGETS, find_target, host_target
from litert_build.sources.lock import Cargo, Lock
from litert_build.sources.rust import TRIPLES, cargo_command, native_libraries
from litert_build.sources.trees import materialize

SAMPLE = Path("third_party/sample").absolute()
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")


def lock(tmp_path: Path, crate: Path, cargo: dict[str, Any] | None = None) -> Lock:
    data = {
        "schema": 1,
        "ref": "t",
        "main": "rust_glue",
        "repositories": {
            "rust_glue": {"path": str(SAMPLE / "rust_glue")},
            "sample_templates": {
                "path": str(crate),
                "cargo": {"package": "sample_templates", "headers": ["include/sample_templates.h"], **(cargo or {})},
            },
        },
        "roots": ["//:glue"],
        "product": {"kind": "objects"},
    }
    (tmp_path / "lock.json").write_text(json.dumps(data))
    return Lock.read(tmp_path / "lock.json")


def trees(tmp_path: Path, lock: Lock) -> dict[str, Path]:
    return materialize(lock, store=tmp_path / "store", overlays_dir=tmp_path / "overlays", offline=True)


def crate(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE / "templates_crate", tmp_path / "a crate"))


@needs_cargo
def test_a_crate_is_linked_into_a_library_and_runs(tmp_path: Path) -> None:
    it = lock(tmp_path, crate(tmp_path))
    made = trees(tmp_path, it)
    tree = made["sample_templates"]
    assert sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()) == [
        "BUILD.bazel", "Cargo.lock", "include/sample_templates.h", "lib/libsample_templates.a",
    ]  # fmt: skip
    analysis = analyze(it, made, find_target(host_target()))
    assert [Path(path).name for path in analysis.link.libraries] == ["libsample_templates.a"]
    assert "-lgcc_s" not in analysis.link.flags
    library = tmp_path / "libglue.so"
    compile = ["g++", "-std=c++20", "-fPIC", "-shared", "-static-libgcc", "-static-libstdc++", "-Wl,--no-undefined", f"-I{tree}/include"]
    inputs = [str(SAMPLE / "rust_glue/glue.cc"), str(tree / "lib/libsample_templates.a")]
    subprocess.run([*compile, *inputs, *analysis.link.flags, "-o", str(library)], check=True)
    render = ctypes.CDLL(str(library)).litert_lm_render_template
    render.restype = ctypes.c_char_p
    assert render("Grüße, {{ name }}! {{other}} {{".encode(), b"name", b"A{{name}}") == "Grüße, A{{name}}! {{other}} {{".encode()
    assert render(b"\xff", b"name", b"x") is None
    assert trees(tmp_path, it) == made
    (tmp_path / "a crate/src/lib.rs").write_text((tmp_path / "a crate/src/lib.rs").read_text() + "// edited\n")
    assert trees(tmp_path, it)["sample_templates"] != tree


@needs_cargo
def test_an_edit_behind_an_overlay_builds_the_crate_anew(tmp_path: Path) -> None:
    here = crate(tmp_path)
    (here / "bazel-out").symlink_to(tmp_path)
    overlaid = {"overlay": {"NOTES": str(here / "Cargo.toml")}}
    it = lock(tmp_path, here)
    data = json.loads(it.file.read_text())
    data["repositories"]["sample_templates"] |= overlaid
    it.file.write_text(json.dumps(data))
    it = Lock.read(it.file)
    first = trees(tmp_path, it)["sample_templates"]
    assert trees(tmp_path, it)["sample_templates"] == first
    (here / "src/lib.rs").write_text((here / "src/lib.rs").read_text() + "// edited\n")
    assert trees(tmp_path, it)["sample_templates"] != first


@needs_cargo
def test_vendored_crates_build_offline(tmp_path: Path) -> None:
    here = crate(tmp_path)
    (here / "Cargo.toml").write_text((here / "Cargo.toml").read_text() + '\n[dependencies]\ntiny_words = "1.0.0"\n')
    it = lock(tmp_path, here)
    with pytest.raises(BuildError, match="crate 'sample_templates' does not build") as caught:
        trees(tmp_path, it)
    assert "tiny_words" in str(caught.value)
    vendored = here / "vendor/tiny_words"
    (vendored / "src").mkdir(parents=True)
    (vendored / "Cargo.toml").write_text('[package]\nname = "tiny_words"\nversion = "1.0.0"\nedition = "2021"\n')
    (vendored / "src/lib.rs").write_text('pub const WORD: &str = "word";\n')
    (vendored / ".cargo-checksum.json").write_text(json.dumps({"files": {}, "package": "0" * 64}))
    registry = 'source = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "' + "0" * 64 + '"\n'
    entry = '\n[[package]]\nname = "tiny_words"\nversion = "1.0.0"\n' + registry
    (here / "Cargo.lock").write_text((here / "Cargo.lock").read_text() + 'dependencies = [\n "tiny_words",\n]\n' + entry)
    (here / "src/lib.rs").write_text(
        (here / "src/lib.rs").read_text().replace("rendered.push_str(rest);", "rendered.push_str(rest);\n    let _ = tiny_words::WORD;")
    )
    assert (trees(tmp_path, it)["sample_templates"] / "lib/libsample_templates.a").is_file()


def test_without_cargo_the_error_names_what_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = lock(tmp_path, crate(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"crate 'sample_templates' needs cargo, which is not installed\n.*install Rust"):
        trees(tmp_path, it)


@needs_cargo
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("src/lib.rs", "fn broken( {", "crate 'sample_templates' does not build"),
        (
            "Cargo.toml",
            '[package]\nname = "sample_templates"\nversion = "0.1.0"\n\n[lib]\nname = "other"\n',
            "no static library of its name",
        ),
        ("Cargo.lock", None, "crate 'sample_templates' has no Cargo.lock"),
    ],
)
def test_what_does_not_build(tmp_path: Path, old: str, new: str | None, message: str) -> None:
    here = crate(tmp_path)
    if new is None:
        (here / old).unlink()
    else:
        (here / old).write_text(new)
    with pytest.raises(BuildError) as caught:
        trees(tmp_path, lock(tmp_path, here))
    assert message in str(caught.value)


@needs_cargo
def test_a_cxx_bridge_needs_cxxbridge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "cxxbridge" else real(name))
    with pytest.raises(BuildError, match=r"src/lib\.rs needs cxxbridge, which is not installed"):
        trees(tmp_path, lock(tmp_path, crate(tmp_path), {"bridges": ["src/lib.rs"]}))


BRIDGE = """#!/bin/sh
case "$2" in
--header) printf '#pragma once\\nint bridged();\\n' ;;
*) printf '#include "%s.h"\\nint bridged() { return 3; }\\n' "$1" ;;
esac
"""


@needs_cargo
def test_what_cxxbridge_writes_is_compiled_with_the_crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script stands for cxxbridge, called as cxx documents it, once for each of the two files."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/cxxbridge").write_text(BRIDGE)
    (tmp_path / "bin/cxxbridge").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    it = lock(tmp_path, crate(tmp_path), {"bridges": ["src/lib.rs"]})
    made = trees(tmp_path, it)
    tree = made["sample_templates"]
    assert (tree / "include/src/lib.rs.h").read_text() == "#pragma once\nint bridged();\n"
    (compile,) = [action for action in analyze(it, made, find_target(host_target())).actions.compiles() if "lib.rs" in action.source]
    assert compile.source == "external/sample_templates/src/src/lib.rs.cc"
    subprocess.run(["g++", "-fsyntax-only", f"-I{tree}/include", str(tree / "src/src/lib.rs.cc")], check=True)


def test_every_target_has_a_triple_and_msvc_its_runtime(tmp_path: Path) -> None:
    assert set(TRIPLES) == set(TARGETS)
    flags = cargo_command(tmp_path, Cargo("x"), "windows-x64", tmp_path)[1]["CARGO_ENCODED_RUSTFLAGS"]
    assert flags.endswith("-Ctarget-feature=+crt-static")
    assert cargo_command(tmp_path, Cargo("x", static_crt=False), "windows-x64", tmp_path)[1]["CARGO_ENCODED_RUSTFLAGS"].endswith(
        "-crt-static"
    )
    assert "crt-static" not in cargo_command(tmp_path, Cargo("x"), "linux-x64", tmp_path)[1]["CARGO_ENCODED_RUSTFLAGS"]


def test_native_libraries_are_what_rustc_says() -> None:
    said = "note: link against these\nnote: native-static-libs: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc -lm\n"
    assert native_libraries(said) == ["-lutil", "-lrt", "-lpthread", "-lm", "-ldl"]
    with pytest.raises(BuildError, match="rustc did not say which native libraries"):
        native_libraries("")


@needs_cargo
def test_the_rust_sample_becomes_a_host_and_an_edit_of_its_crate_another(tmp_path: Path, cache: Path) -> None:
    project = tmp_path / "project"
    for name in ("site_scons", "src", "third_party"):
        shutil.copytree(REFS.parents[1] / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    (project / "docs").mkdir()
    for name in ("SConstruct", "LICENSE", "docs/manifest.schema.json"):
        shutil.copyfile(REFS.parents[1] / name, project / name)

    def scons() -> str:
        argv = [sys.executable, "-m", "SCons", "-Q", "-j2", "ref=sample-rust", "target=linux-x64", "host", f"cache={cache}"]
        done = subprocess.run(
            [*argv, f"cache={cache}", "offline=yes"], cwd=project, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (host,) = (project / "build/linux-x64/sample-rust/bazel-out").rglob("libLiteRtLm.so")
        code = f"import ctypes; f = ctypes.CDLL({str(host)!r}).litert_lm_render_template; f.restype = ctypes.c_char_p; "
        code += "print(f(b'Hello {{ name }}', b'name', b'x').decode())"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert scons() == "Hello x\n"
    source = project / "third_party/sample/templates_crate/src/lib.rs"
    source.write_text(source.read_text().replace("rendered.push_str(rest);", "rendered.push_str(rest);\n    rendered.push('!');"))
    assert scons() == "Hello x!\n"


REFS = Path(__file__).parents[2] / "third_party/refs"


def rust_sample() -> str:
    """Return the text of sample-rust.json: the sample, and a crate that it reaches through C++."""
    lock = json.loads((REFS / "sample.json").read_text())
    cargo = {"package": "sample_templates", "headers": ["include/sample_templates.h"]}
    lock["ref"] = "sample-rust"
    lock["repositories"]["sample_templates"] = {"path": "../sample/templates_crate", "cargo": cargo}
    lock["repositories"]["rust_glue"] = {"path": "../sample/rust_glue"}
    lock["roots"].append("@rust_glue//:glue")
    lock["product"]["required"].append("litert_lm_render_template")
    return json.dumps(lock, indent=2) + "\n"


def test_the_rust_sample_is_the_sample_and_a_crate() -> None:
    assert (REFS / "sample-rust.json").read_text() == rust_sample(), "run python tests/e2e/test_sources_rust.py to write it anew"


if __name__ == "__main__":
    (REFS / "sample-rust.json").write_text(rust_sample())
