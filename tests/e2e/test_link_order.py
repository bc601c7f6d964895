"""What a link takes from archives: a prebuilt one may need what only a library that was built here has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from litert_build.actions import Archive, Link
from litert_build.policy.targets import find_target
from litert_build.toolchains import find_toolchain

SOURCES = {
    "main": "int entry(void);\nint main(void) { return entry() - 7; }\n",
    "entry": "int answer(void);\nint entry(void) { return answer(); }\n",  # in the prebuilt archive
    "answer": "int answer(void) { return 7; }\n",  # built here, and needed by the prebuilt archive alone
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run(["gcc", "-c", f"{name}.c", "-o", f"{name}.o"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "qcs", "libentry.a", "entry.o"], cwd=tmp_path, check=True)
    return tmp_path


def test_a_prebuilt_archive_finds_what_it_needs_in_the_archive_before_it(folder: Path) -> None:
    toolchain = find_toolchain("gcc", find_target("linux-x64"))
    archive = Archive("//:main", "main.libraries.a", ("answer.o",))
    link = Link("//:main", "main", "executable", "target", ("main.o",), ("libentry.a",), archive=archive.output, members=archive.objects)
    (folder / "archive.args").write_text("\n".join(toolchain.archive_lines(archive)) + "\n")
    subprocess.run(toolchain.archive_argv(archive, "archive.args"), cwd=folder, check=True)
    (folder / "link.args").write_text("\n".join(toolchain.response_lines(link)) + "\n")
    subprocess.run(toolchain.link_argv(link, "link.args"), cwd=folder, check=True)
    assert subprocess.run([str(folder / "main")], check=False).returncode == 0
