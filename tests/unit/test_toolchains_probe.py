"""What a version line says, what reaches a command's environment, and which tools are missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from litert_build.errors import BuildError
from litert_build.toolchains.options import require_version
from litert_build.toolchains.probe import Tool, examine, find_tool, fixed_environment


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", (12, 2, 0)),
        ("gcc (GCC) 13.2.1 20230801 (Red Hat 13.2.1-1)", (13, 2, 1)),
        ("x86_64-w64-mingw32-g++-posix (GCC) 12-posix", (12,)),
        ("x86_64-w64-mingw32-g++-posix (GCC) 10-posix 20220113", (10,)),
        ("Debian clang version 19.1.7 (3~deb12u1)", (19, 1, 7)),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", (15, 0, 0)),
        ("Microsoft (R) C/C++ Optimizing Compiler Version 19.44.35207.1 for x64", (19, 44, 35207, 1)),
        ("zig 0.17.1", (0, 17, 1)),
        ("no number here", ()),
    ],
)
def test_the_version_is_read_from_the_line(line: str, version: tuple[int, ...]) -> None:
    assert Tool("cc", line, "").version == version


def test_a_compiler_too_old_for_cxx20_names_its_version_and_the_need() -> None:
    old = Tool("/usr/bin/g++-9", "g++-9 (Debian 9.5.0) 9.5.0", "")
    with pytest.raises(BuildError) as caught:
        require_version("gcc", old, (11,), "apt-get install g++-12")
    assert str(caught.value) == (
        "toolchain=gcc: /usr/bin/g++-9 is too old for C++20: g++-9 (Debian 9.5.0) 9.5.0\n  -> gcc 11 or later: apt-get install g++-12"
    )


def test_a_missing_tool_says_what_was_looked_for_and_what_installs_it() -> None:
    with pytest.raises(BuildError) as caught:
        find_tool(("no-such-g++", "no-such-c++"), "C++ compiler for linux-x64", "apt-get install g++", where="toolchain=gcc")
    assert str(caught.value) == (
        "toolchain=gcc: no C++ compiler for linux-x64: no-such-g++, no-such-c++ not found\n  -> apt-get install g++"
    )


def test_a_compiler_that_does_not_run_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "g++"
    broken.write_text("#!/bin/sh\necho broken licence >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(BuildError, match="failed with exit code 3") as caught:
        examine(str(broken))
    assert caught.value.notes == ("broken licence",)


def test_nothing_of_the_shell_reaches_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CC", "CXX", "CFLAGS", "CPATH", "LIBRARY_PATH", "LD_PRELOAD"):
        monkeypatch.setenv(name, "evil")
    assert "evil" not in fixed_environment("/opt/llvm/bin/clang").values()
    assert fixed_environment("/opt/llvm/bin/clang")["PATH"].split(":")[0] == "/opt/llvm/bin"


def test_a_swapped_compiler_has_another_digest(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for file, comment in ((first, "1"), (second, "2")):
        file.write_text(f"#!/bin/sh\n# {comment}\necho g++ 12.2.0\n")
        file.chmod(0o755)
    one, two = examine(str(first)), examine(str(second))
    assert one.version_line == two.version_line
    assert one.sha256 != two.sha256
