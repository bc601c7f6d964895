"""Owns Rust crates: one static library by `cargo build --locked --offline`, made once and kept in the store like a source tree.

    tree = build_crate(source, Cargo("templates", headers=("include/templates.h",)), "linux-x64", store, where="lock.json")
    tree / "BUILD.bazel"        # cc_library "templates" over tree / "lib" / "libtemplates.a"

A lock names a crate with `cargo` in the entry of its repository; what C++ code sees under that repository's name is the tree made here: the
library, its headers and a BUILD file that carries the native libraries which rustc asks for. Of a cxx bridge the C++ half comes too: what
cxxbridge writes, and the runtime of the crate cxx, which its build script is kept from compiling: all C++ of a host is compiled by one
toolchain. Sources of the rules: the Cargo reference (rustc --locked, source replacement, overriding build scripts), rustc's `--print
native-static-libs`, and cxx's own BUILD file in its Cargo.toml.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.sources.commands import run
from litert_build.sources.lock import Cargo
from litert_build.sources.store import Store, file_digest, remove_tree

FORMAT = 3
PAPERS = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)([._-].*)?", re.IGNORECASE)
TRIPLES = {
    "linux-x64": "x86_64-unknown-linux-gnu",
    "linux-arm64": "aarch64-unknown-linux-gnu",
    "windows-x64": "x86_64-pc-windows-msvc",
    "windows-arm64": "aarch64-pc-windows-msvc",
    "macos-x64": "x86_64-apple-darwin",
    "macos-arm64": "aarch64-apple-darwin",
    "ios-arm64": "aarch64-apple-ios",
    "ios-arm64-sim": "aarch64-apple-ios-sim",
    "android-arm64": "aarch64-linux-android",
    "android-x64": "x86_64-linux-android",
}
# Folders of a checkout that hold no sources: cargo's and Bazel's output, git's.
_MADE = re.compile(r"target|bazel-.*|\.git")
# What the driver of the C++ compiler links itself, from the runtime that the toolchain chose: named again, it would come as a second one.
_DRIVER_LIBRARIES = ("-lgcc_s", "-lc", "-lgcc", "-lc++", "-lstdc++")


def build_crate(source: Path, cargo: Cargo, target: str, store: Store, *, where: str, vendor: Path | None = None) -> Path:
    """Return the sealed tree of a crate for a target: lib/, include/, src/ (the C++ half of its bridges) and BUILD.bazel. `vendor` holds
    the crates it needs, by default its own folder of that name.

    Raises BuildError where cargo or cxxbridge is missing (and what needs it), Cargo.lock is absent or stale, or the crate does not build.
    """
    if not (source / "Cargo.lock").is_file():
        raise BuildError(
            f"crate {cargo.package!r} has no Cargo.lock", where=str(source), mend="run cargo generate-lockfile there, and commit it"
        )
    vendor = vendor or source / "vendor"
    version = _cargo_version(cargo, where)
    digest = _digest([_identity(source, store), _identity(vendor, store)], cargo, target, version)
    return store.make_tree(f"{cargo.package}-{target}", digest, lambda folder: _build(source, vendor, cargo, target, folder, where))


def outline_crate(cargo: Cargo, store: Store) -> Path:
    """Return a tree with the BUILD file and the file names of a crate, nothing built: for the evaluation of BUILD files, as a lock needs
    it, on machines that have no Rust for the target."""
    digest = hashlib.sha256(json.dumps([FORMAT, cargo.package, cargo.headers, cargo.bridges, bool(cargo.crates)]).encode()).hexdigest()

    def fill(folder: Path) -> None:
        library = f"lib{cargo.package}.a"
        names = [f"lib/{library}", *(f"include/{Path(header).name}" for header in cargo.headers)]
        names += [name for bridge in cargo.bridges for name in (f"include/{bridge}.h", f"src/{bridge}.cc")]
        names += ["src/cxx.cc", "include/cxx.h", "include/rust/cxx.h"] if cargo.bridges and cargo.crates else []
        for name in names:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        (folder / "BUILD.bazel").write_text(_build_file(cargo, library, []), encoding="utf-8")

    return store.make_tree(f"{cargo.package}-outline", digest, fill)


def _cargo_version(cargo: Cargo, where: str) -> str:
    for program in ("cargo", "rustc"):
        if shutil.which(program) is None:
            raise BuildError(
                f"crate {cargo.package!r} needs {program}, which is not installed",
                where=where,
                mend="install Rust (rustup, or the packages cargo and rustc of the system), or build a ref without crates",
            )
    return run(["rustc", "-vV"], cwd=Path.cwd(), where=where, what="rustc does not run")


def crate_sources(folder: Path) -> list[Path]:
    """Return the files of a crate, those behind links included, for a checkout under an overlay is a farm of them; without what cargo,
    Bazel and git keep there."""
    found: list[Path] = []
    seen: set[Path] = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        real = Path(parent).resolve()
        folders[:] = [] if real in seen else sorted(name for name in folders if not _MADE.fullmatch(name))
        files = [] if real in seen else [Path(parent) / name for name in sorted(names)]
        found += [path for path in files if path.is_file()]
        seen.add(real)
    return found


def _identity(source: Path, store: Store) -> object:
    """Return what tells one state of a folder from another: the name of a sealed tree of the store, else the digests of its files."""
    if source.parent == store.root / "trees":
        return source.name
    return {path.relative_to(source).as_posix(): file_digest(path) for path in crate_sources(source)}


def _digest(sources: list[object], cargo: Cargo, target: str, version: str) -> str:
    """Return the digest of everything that decides the library: sources, compiler, target and what is asked of it."""
    parts = [
        FORMAT,
        sources,
        target,
        version,
        cargo.package,
        cargo.headers,
        cargo.bridges,
        cargo.static_crt,
        os.environ.get("RUSTFLAGS", ""),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _build(source: Path, vendor: Path, cargo: Cargo, target: str, folder: Path, where: str) -> None:
    scratch = Path(tempfile.mkdtemp(prefix="cargo-"))
    try:
        argv, env = cargo_command(source, cargo, target, scratch, vendor)
        mend = "see the messages of rustc above; cargo works offline: vendor what it needs (cargo vendor) into the crate's folder vendor/"
        output = run(
            argv, cwd=source, where=where, what=f"crate {cargo.package!r} does not build", env=env, mend=mend, timeout=3600, merged=True
        )
        built = sorted((scratch / TRIPLES[target] / "release").glob(f"*{cargo.package.replace('-', '_')}.*"))
        libraries = [path for path in built if path.suffix in (".a", ".lib")]
        if not libraries:
            what = f"crate {cargo.package!r} makes no static library of its name"
            raise BuildError(what, where=str(source / "Cargo.toml"), mend="leave out the name of [lib]")
        (folder / "lib").mkdir()
        shutil.copyfile(libraries[0], folder / "lib" / libraries[0].name)
        for header in cargo.headers:
            place = folder / "include" / Path(header).name
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(_header(source, vendor, header, where), place)
        for bridge in cargo.bridges:
            _generate_bridge(source, bridge, folder, where)
        if cargo.bridges:
            _place_runtime(vendor, folder)
        _keep_papers(source, vendor, folder)
        (folder / "BUILD.bazel").write_text(_build_file(cargo, libraries[0].name, native_libraries(output)), encoding="utf-8")
    finally:
        remove_tree(scratch)


def _header(source: Path, vendor: Path, header: str, where: str) -> Path:
    """Return the file of a header: in the crate, or as `vendor/NAME/PATH` in a crate that it needs."""
    if not header.startswith("vendor/"):
        return source / header
    _, name, inner = header.split("/", 2)
    found = _vendored(vendor, name)
    if found is None:
        raise BuildError(
            f"the crate {name!r} of {header} is not among those that are needed", where=where, mend="correct headers in the lock"
        )
    return found / inner


def _vendored(vendor: Path, name: str) -> Path | None:
    """Return the folder of a vendored crate: NAME, or NAME-VERSION."""
    folders = [path for path in sorted(vendor.glob(f"{name}*")) if re.fullmatch(rf"{re.escape(name)}(-\d.*)?", path.name)]
    return folders[0] if folders else None


def _place_runtime(vendor: Path, folder: Path) -> None:
    """Copy the C++ of the crate cxx, which the generated sources call, to where cxx's own source and users include it."""
    runtime = _vendored(vendor, "cxx")
    if runtime is None:
        return
    for inner, outer in (("src/cxx.cc", "src/cxx.cc"), ("include/cxx.h", "include/cxx.h"), ("include/cxx.h", "include/rust/cxx.h")):
        place = folder / outer
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(runtime / inner, place)


def _keep_papers(source: Path, vendor: Path, folder: Path) -> None:
    """Copy what says which crates are in the library and under which licences: Cargo.lock, and of each vendored crate its manifest and
    licence files, as crates/<name>/."""
    shutil.copyfile(source / "Cargo.lock", folder / "Cargo.lock")
    crates = sorted(path for path in vendor.glob("*") if path.is_dir())
    for crate, place in ((source, folder), *((path, folder / "crates" / path.name) for path in crates)):
        place.mkdir(parents=True, exist_ok=True)
        for file in crate.iterdir():
            if file.is_file() and (PAPERS.fullmatch(file.name) or (crate != source and file.name == "Cargo.toml")):
                shutil.copyfile(file, place / file.name)


def cargo_command(source: Path, cargo: Cargo, target: str, scratch: Path, vendor: Path | None = None) -> tuple[list[str], dict[str, str]]:
    """Return the command that builds a crate, and what it adds to the environment. `vendor` holds the crates it needs, if it is there."""
    argv = ["cargo", "rustc", "--locked", "--offline", "--release", "--lib", "--crate-type", "staticlib", "--package", cargo.package]
    argv += ["--target", TRIPLES[target], "--target-dir", str(scratch)]
    if vendor is not None and vendor.is_dir():
        settings = ['source.crates-io.replace-with="vendored"', f'source.vendored.directory="{vendor.as_posix()}"']
        if cargo.bridges:  # in place of cxx's build script: it would compile C++ by a compiler of its own choice
            settings.append(f'target.{TRIPLES[target]}.cxxbridge1.rustc-cfg=["error_in_core"]')
        argv += [word for setting in settings for word in ("--config", setting)]
    argv += ["--", "--print", "native-static-libs"]
    places = {source: "crate", scratch: "target", **({vendor: "vendor"} if vendor else {})}
    flags = [*os.environ.get("RUSTFLAGS", "").split(), *(f"--remap-path-prefix={place}={name}" for place, name in places.items())]
    if TRIPLES[target].endswith("-msvc"):
        flags.append(f"-Ctarget-feature={'+' if cargo.static_crt else '-'}crt-static")
    return argv, {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags), "CARGO_TERM_COLOR": "never", "CARGO_INCREMENTAL": "0"}


def native_libraries(output: str) -> list[str]:
    """Return the link flags that rustc asks for in what it printed, without those that a C++ driver links itself.

    Raises BuildError where rustc said nothing about them.
    """
    notes: list[str] = re.findall(r"native-static-libs: (.*)", output)
    if not notes:
        raise BuildError(
            "rustc did not say which native libraries the crate needs", mend="use a rustc that knows --print native-static-libs"
        )
    return list(dict.fromkeys(flag for flag in notes[-1].split() if flag not in _DRIVER_LIBRARIES))


def _generate_bridge(source: Path, bridge: str, folder: Path, where: str) -> None:
    """Write header and source of a cxx bridge, as include/<path>.h and src/<path>.cc."""
    if shutil.which("cxxbridge") is None:
        raise BuildError(
            f"{bridge} needs cxxbridge, which is not installed",
            where=where,
            mend="cargo install cxxbridge-cmd, of the version in Cargo.lock",
        )
    for argv, place in ((["--header"], folder / "include" / f"{bridge}.h"), ([], folder / "src" / f"{bridge}.cc")):
        text = run(["cxxbridge", bridge, *argv], cwd=source, where=where, what=f"cxxbridge does not take {bridge}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def _build_file(cargo: Cargo, library: str, native: list[str]) -> str:
    return f"""package(default_visibility = ["//visibility:public"])

cc_import(
    name = "static_library",
    static_library = "lib/{library}",
)

cc_library(
    name = "{cargo.package}",
    srcs = glob(["src/**/*.cc"], allow_empty = True),
    hdrs = glob(["include/**/*.h"], allow_empty = True),
    includes = ["include"],
    linkopts = {json.dumps(native)},
    deps = [":static_library"],
)
"""
