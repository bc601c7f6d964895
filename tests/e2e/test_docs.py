"""README.md and docs/*.md against the project: every command line, option, path, test and link that they name exists.

Nothing is built: command lines are read as scons reads them. What the commands do is held by the tests of their parts.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from litert_build.commands import COMMANDS
from litert_build.errors import BuildError
from litert_build.options import GOALS, LOCAL, OPTIONS, read_options

ROOT = Path(__file__).parents[2]
PAGES = {
    page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
}
pages = pytest.mark.parametrize("page", sorted(PAGES))

SCONS_FLAGS = re.compile(r"-(?:[chknQ]|j\d+)")
# What a user may add, what stands for any release, and the folder of another project in an example.
NOT_COMMITTED = re.compile(r"third_party/waivers\.json|third_party/refs/v[\d.]+\.json|third_party/swiftshader")
OWN_FOLDERS = ("docs/", "src/", "tests/", "third_party/", "site_scons/", ".github/")
# `name=value` in running text that is no option of scons: a field of the CMake or shell world, or a placeholder.
NO_OPTION = {"name", "allow_empty"}


def code_lines(text: str) -> Iterator[str]:
    """Yield the lines of fenced blocks without a language and of blocks that are indented by four spaces, then the code in running text."""
    fence: str | None = None
    prose: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fence = None if fence is not None else line.strip().removeprefix("```")
        elif fence == "" or (fence is None and line.startswith("    ")):
            yield line.strip().removeprefix("$ ")
        elif fence is None:
            prose.append(line)
    yield from (re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", "\n".join(prose)))


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command line, without comments, assignments before the program and the virtual environment's folder."""
    for line in code_lines(text):
        for part in re.split(r"&&|;", line):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:  # a sentence with an apostrophe, in the output of a command
                continue
            while words and re.match(r"[A-Z_]+=", words[0]):
                words = words[1:]
            if words:
                yield [words[0].removeprefix(".venv/bin/"), *words[1:]]


def read_scons(words: list[str]) -> None:
    """Read one command line of scons; capitals stand for what the reader puts there. Raises BuildError for what scons does not know."""
    words = [word for word in words if not SCONS_FLAGS.fullmatch(word)]
    arguments = dict(word.split("=", 1) for word in words if "=" in word)
    if arguments.get("target", "").isupper():
        del arguments["target"]
    if any(name.startswith(LOCAL) and not value for name, value in arguments.items()):
        raise BuildError("names no folder")
    read_options(arguments, [word for word in words if "=" not in word], COMMANDS)


@pages
def test_scons_knows_every_command_line(page: str) -> None:
    for program, *words in commands(PAGES[page]):
        if program == "scons":
            try:
                read_scons(words)
            except BuildError as error:
                pytest.fail(f"{page}: scons {' '.join(words)}: {error}")


@pages
def test_every_module_that_is_run_exists_and_knows_its_options(page: str) -> None:
    for program, *words in commands(PAGES[page]):
        if program in ("python", "python3") and words[:1] == ["-m"] and words[1] != "venv":
            spec = importlib.util.find_spec(words[1])
            if spec is not None and spec.submodule_search_locations:
                spec = importlib.util.find_spec(f"{words[1]}.__main__")
            assert spec is not None and spec.origin is not None, f"{page}: no module {words[1]}"
            source = Path(spec.origin).read_text(encoding="utf-8")
            for option in (word.split("=")[0] for word in words if word.startswith("--")):
                assert f'"{option}' in source, f"{page}: {words[1]} has no {option}"


@pages
def test_every_named_option_exists(page: str) -> None:
    """`name=` and `name=value` in running text, outside of pages that list upstream's flags, are options of scons."""
    if page in ("docs/targets.md", "docs/upstream-constructs.md"):
        return
    for span in re.findall(r"`([a-z_]+)=[^` ]*`", PAGES[page]):
        assert span in OPTIONS or span in NO_OPTION or span.startswith(LOCAL), f"{page}: no option {span}="


@pages
def test_every_named_path_exists(page: str) -> None:
    for line in code_lines(PAGES[page]):
        for word in re.findall(r"[\w./*-]+", line):
            if word.startswith(OWN_FOLDERS) and not NOT_COMMITTED.fullmatch(word):
                assert list(ROOT.glob(word.rstrip("/."))), f"{page}: no {word}"
            if word.startswith("litert_build/"):
                assert (ROOT / "site_scons" / word).exists() or (ROOT / "site_scons" / f"{word}.py").exists(), f"{page}: no {word}"


@pages
def test_every_named_test_exists(page: str) -> None:
    defined = {
        name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
    }
    modules = {file.stem for file in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"\btest_\w+", "\n".join(code_lines(PAGES[page])))) <= defined | modules | {"test_suite"}


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pages
def test_every_relative_link_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]+`", "", PAGES[page])):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), f"{page}: dead link {target}"
        assert not anchor or anchor in anchors(file.read_text(encoding="utf-8")), f"{page}: no heading for {target}"


@pages
def test_every_heading_has_a_text(page: str) -> None:
    """A heading is followed by text, or by a heading below it."""
    text = re.sub(r"^ *```.*?^ *```", "text", PAGES[page], flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if line.strip()]
    for line, following in zip(lines, [*lines[1:], "#"]):
        if line.startswith("#") and following.startswith("#"):
            assert len(following.split()[0]) > len(line.split()[0]), f"{page}: nothing under {line}"


def test_every_page_is_named_in_the_readme() -> None:
    assert {name for name in PAGES if name not in PAGES["README.md"]} == {"README.md"}


def test_every_option_goal_and_command_is_explained() -> None:
    """`scons -h` lists them; the pages say what they are for."""
    text = "\n".join(line for page in PAGES.values() for line in code_lines(page))
    missing = [name for name in OPTIONS if not re.search(rf"\b{name}=", text)]
    missing += [name for name in (*GOALS, *COMMANDS) if not re.search(rf"\b{name}\b", text)]
    assert not missing


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("scons targt=linux-x64", "unknown option 'targt'"),
        ("$ scons bundel", "unknown goal 'bundel'"),
        ("scons target=linux-x46 host", "unknown target 'linux-x46'"),
        ("scons flag=-DX", "flag= and include= need explain="),
    ],
)
def test_what_is_not_there_is_found_in_blocks_and_in_text(line: str, fault: str) -> None:
    for page in (f"```\n{line}\n```", f"    {line}", f"| say | `{line.removeprefix('$ ')}` |"):
        ((program, *words),) = commands(page)
        assert program == "scons"
        with pytest.raises(BuildError, match=re.escape(fault)):
            read_scons(words)
