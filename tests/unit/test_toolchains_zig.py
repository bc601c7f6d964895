"""zig's refusals and its command lines, by an executable that only answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.actions import Link
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.toolchains import find_toolchain
from litert_build.toolchains.linkmodel import HostFiles

FILES = HostFiles("libLiteRtLm.so", "out/x.exports", "out/x.map", "out/x.lib")


def fake_zig(folder: Path, version: str = "0.17.1") -> str:
    """An executable that says its version, and nothing when it is asked to link."""
    file = folder / "zig"
    file.write_text(f'#!/bin/sh\nif [ "$1" = version ]; then echo {version}; else echo no idea >&2; fi\n')
    file.chmod(0o755)
    return str(file)


def fake_linker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "ld64.lld"
    file.write_text("#!/bin/sh\necho LLD 19.1.7\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_an_older_zig_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        find_toolchain("zig", find_target("linux-x64"), cc=fake_zig(tmp_path, "0.11.0"))
    assert caught.value.what.endswith("is too old for C++20: zig 0.11.0")
    assert caught.value.mend == "zig 0.17 or later: pip install --upgrade ziglang"


@pytest.mark.parametrize(
    ("target", "triple"),
    [
        ("linux-x64", "x86_64-linux-gnu.2.28"),
        ("linux-arm64", "aarch64-linux-gnu.2.28"),
        ("windows-x64", "x86_64-windows-gnu"),
        ("windows-arm64", "aarch64-windows-gnu"),
    ],
)
def test_the_triple_comes_from_the_row(tmp_path: Path, target: str, triple: str) -> None:
    zig = fake_zig(tmp_path)
    argv = find_toolchain("zig", find_target(target), cc=zig).link_argv(Link("//:h", "h", "shared", "target", ()), "h.rsp")
    assert argv == [zig, "c++", "-target", triple, "@h.rsp"]


def test_the_map_that_zig_prints_goes_into_its_file(tmp_path: Path) -> None:
    toolchain = find_toolchain("zig", find_target("linux-x64"), cc=fake_zig(tmp_path))
    argv = toolchain.link_argv(Link("//:h", "h", "shared", "target", (), side_outputs=("h.map",)), "h.rsp")
    assert argv[:4] == ["/bin/sh", "-c", 'exec "$@" > "$0"', "h.map"]
    assert "-Wl,--print-map" in toolchain.host_link_flags(FILES)


def test_a_dll_of_zig_has_no_time_stamp_and_no_map(tmp_path: Path) -> None:
    toolchain = find_toolchain("zig", find_target("windows-x64"), cc=fake_zig(tmp_path))
    assert not toolchain.writes_link_map
    assert "-Wl,-Brepro" in toolchain.host_link_flags(FILES)


def test_zig_keeps_its_cache_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    environment = find_toolchain("zig", find_target("linux-x64"), cc=fake_zig(tmp_path)).environment
    assert environment["ZIG_GLOBAL_CACHE_DIR"] == environment["ZIG_LOCAL_CACHE_DIR"] == "/cache/litert-lm-native/zig"


def test_a_zig_that_does_not_tell_its_libcxx_is_refused_before_a_macho_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_linker(tmp_path, monkeypatch)
    toolchain = find_toolchain("zig", find_target("macos-arm64"), cc=fake_zig(tmp_path))
    with pytest.raises(BuildError) as caught:
        toolchain.response_lines(Link("//:h", "h.dylib", "shared", "target", ("a.o",)))
    assert str(caught.value) == ("toolchain=zig: zig does not tell where its libc++ is\n    no idea\n  -> pip install ziglang==0.17.1")


def test_macos_without_a_linker_says_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="no Mach-O linker for macos-arm64") as caught:
        find_toolchain("zig", find_target("macos-arm64"), cc=fake_zig(tmp_path))
    assert caught.value.mend == "apt-get install lld-19"
