"""Which toolchain is chosen, and what each refuses before anything is built."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.policy.targets import find_target
from litert_build.reports.doctor import doctor_text
from litert_build.toolchains import find_toolchain
from litert_build.toolchains.gnu import driver_pair
from litert_build.toolchains.limits import LINK_MEMORY, link_jobs, require_short_paths
from litert_build.toolchains.runtime import refuse_prebuilt_cxx


def fake(file: Path, line: str) -> str:
    """A compiler that only says its version."""
    file.write_text(f"#!/bin/sh\necho '{line}'\n")
    file.chmod(0o755)
    return str(file)


def refusal(name: str, target: str = "linux-x64", **options: str) -> str:
    with pytest.raises(BuildError) as caught:
        find_toolchain(name, find_target(target), **options)
    return str(caught.value)


def test_an_unknown_toolchain_names_the_nearest() -> None:
    assert refusal("clnag") == "toolchain=: unknown toolchain 'clnag'\n  -> did you mean clang?"


def test_a_toolchain_that_cannot_build_the_target_names_those_that_can() -> None:
    assert refusal("gcc", "windows-x64") == (
        "toolchain=: toolchain gcc cannot build windows-x64\n  -> one of msvc, clang-cl, mingw, zig can"
    )


def test_no_compiler_says_which_and_how_to_install_it() -> None:
    assert refusal("gcc", cc="no-such-gcc", cxx="no-such-g++") == (
        "toolchain=gcc: no C compiler for linux-x64: no-such-gcc not found\n"
        "  -> apt-get install g++ (Fedora: dnf install gcc-c++), or name one with cc=PATH cxx=PATH"
    )


def test_the_doctor_says_what_is_missing_and_what_installs_it() -> None:
    text = doctor_text([find_target("linux-x64")], cc="no-such-gcc", cxx="no-such-g++")
    assert "no C compiler for linux-x64: no-such-gcc not found\n           -> apt-get install g++" in text
    assert "  missing  clang: no C compiler for linux-x64: no-such-gcc not found\n           -> apt-get install clang" in text
    android = doctor_text([find_target("android-arm64")])
    assert "  missing  ndk (default): no Android NDK for android-arm64: sysroot= is not given\n           -> unpack NDK r28b" in android
    assert "  missing  runner: android-arm64 cannot be run on this machine\n           -> run it on android arm64" in android


@pytest.mark.parametrize(
    ("name", "line", "need"),
    [
        ("gcc", "g++ (Debian 9.5.0) 9.5.0", "gcc 11 or later"),
        ("clang", "Debian clang version 11.0.1", "clang 14 or later"),
    ],
)
def test_a_compiler_too_old_for_cxx20_is_refused(tmp_path: Path, name: str, line: str, need: str) -> None:
    compiler = fake(tmp_path / "cc", line)
    text = refusal(name, cc=compiler, cxx=compiler)
    assert f"{compiler} is too old for C++20: {line}" in text
    assert need in text


def test_clang_is_not_taken_for_gcc(tmp_path: Path) -> None:
    compiler = fake(tmp_path / "cc", "Debian clang version 19.1.7")
    assert "use toolchain=clang" in refusal("gcc", cc=compiler, cxx=compiler)


@pytest.mark.parametrize(
    ("name", "target", "runtime"),
    [
        ("gcc", "linux-x64", "libc++"),
        ("zig", "linux-x64", "libstdc++"),
        ("mingw", "windows-x64", "libc++"),
        ("clang", "linux-x64", "stlport"),
    ],
)
def test_a_runtime_that_the_toolchain_lacks_is_refused(name: str, target: str, runtime: str) -> None:
    assert refusal(name, target, runtime=runtime).startswith(f"runtime=: {name} cannot build with {runtime}\n  -> use runtime=")


def test_the_compiler_comes_from_the_command_line_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", fake(tmp_path / "evil", "g++ 99.0"))
    line = "g++ (Debian 12.2.0) 12.2.0"
    chosen = find_toolchain("gcc", find_target("linux-x64"), cc=fake(tmp_path / "gcc", line), cxx=fake(tmp_path / "g++", line))
    assert "evil" not in chosen.identity
    assert line in chosen.identity


def test_another_compiler_is_another_identity(tmp_path: Path) -> None:
    line = "g++ (Debian 12.2.0) 12.2.0"
    one = find_toolchain("gcc", find_target("linux-x64"), cc=fake(tmp_path / "gcc", line), cxx=fake(tmp_path / "g++", line))
    (tmp_path / "other").mkdir()
    swapped = fake(tmp_path / "other" / "g++", line)
    Path(swapped).write_text(Path(swapped).read_text() + "# patched\n")
    two = find_toolchain("gcc", find_target("linux-x64"), cc=fake(tmp_path / "gcc", line), cxx=swapped)
    assert one.identity != two.identity


@pytest.mark.parametrize(
    ("cc", "cxx", "pair"),
    [
        ("", "g++-14", ("gcc-14", "g++-14")),
        ("/opt/gcc/bin/gcc", "", ("/opt/gcc/bin/gcc", "/opt/gcc/bin/g++")),
        ("gcc", "c++", ("gcc", "c++")),
    ],
)
def test_one_half_of_a_pair_gives_the_other(cc: str, cxx: str, pair: tuple[str, str]) -> None:
    assert driver_pair(cc, cxx, (("gcc", "g++"),)) == pair


@pytest.mark.skipif(sys.platform == "win32", reason="msvc runs here")
def test_msvc_runs_on_windows_alone() -> None:
    assert refusal("msvc", "windows-x64") == "toolchain=msvc: msvc for windows-x64 runs on Windows alone\n  -> use toolchain=zig here"


def test_mingw_of_the_win32_thread_model_is_refused() -> None:
    assert "x86_64-w64-mingw32-g++-win32 has the win32 thread model: no std::mutex" in refusal(
        "mingw", "windows-x64", cxx="x86_64-w64-mingw32-g++-win32"
    )


def test_an_ndk_is_asked_for_and_its_revision_checked(tmp_path: Path) -> None:
    assert "sysroot= is not given\n  -> unpack NDK r28b" in refusal("ndk", "android-arm64")
    assert f"{tmp_path} is no Android NDK" in refusal("ndk", "android-arm64", sysroot=str(tmp_path))
    (tmp_path / "source.properties").write_text("Pkg.Desc = Android NDK\nPkg.Revision = 25.2.9519653\n")
    assert f"NDK revision 25.2.9519653 at {tmp_path}, not 28" in refusal("ndk", "android-arm64", sysroot=str(tmp_path))


def test_a_prebuilt_static_archive_with_cxx_is_named_before_the_link(tmp_path: Path) -> None:
    (tmp_path / "liba.a").write_bytes(b"!<arch>\n" + b"\0_ZNSt7__cxx1112basic_stringIcE\0")
    with pytest.raises(BuildError) as caught:
        refuse_prebuilt_cxx(["liba.a"], tmp_path, where="locks/a.json")
    assert str(caught.value) == (
        "locks/a.json: liba.a is a prebuilt static archive that holds C++: a second C++ runtime in the host\n"
        "    it refers to _ZNSt7__cxx1112basic_stringIcE\n"
        "  -> build it from source, or ship it as a shared library with a C API"
    )


def test_archives_of_c_and_archives_built_here_are_let_through(tmp_path: Path) -> None:
    (tmp_path / "libc_only.a").write_bytes(b"!<arch>\n\0memcpy\0puts\0_ZN4core3fmt5Write9write_fmt\0")
    (tmp_path / "bazel-out").mkdir()
    (tmp_path / "bazel-out" / "libmine.a").write_bytes(b"!<arch>\n\0_Znwm\0")
    refuse_prebuilt_cxx(["libc_only.a", "bazel-out/libmine.a", "libshared.so"], tmp_path, where="a.json")


def test_a_missing_archive_is_no_pass(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot read the library"):
        refuse_prebuilt_cxx(["absent.a"], tmp_path, where="a.json")


def test_links_are_as_many_as_memory_allows() -> None:
    assert link_jobs(3 * LINK_MEMORY, 8) == 3
    assert link_jobs(64 * LINK_MEMORY, 8) == 8
    assert link_jobs(LINK_MEMORY // 2, 8) == 1


def test_a_path_too_long_for_windows_names_it_and_how_much_shorter() -> None:
    long = "bazel-out/" + "d/" * 60 + "file.obj"
    with pytest.raises(BuildError) as caught:
        require_short_paths(Path("/" + "r" * 199), ["short.obj", long])
    assert str(caught.value) == (
        f"{long}: a path of 339 characters is longer than the 259 that Windows compilers open\n"
        f"    under /{'r' * 199}\n"
        "  -> name a build folder at least 80 characters shorter, such as build_dir=C:/b"
    )
    require_short_paths(Path("/" + "r" * 119), [long])
