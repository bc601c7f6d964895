"""Owns unified diffs: reading them and applying them exactly.

    apply_patch(Path("a.patch").read_bytes(), folder, strip=1, source="a.patch")

Every line of context must be there as the patch says (what `patch` calls fuzz is an error that shows the hunk). A hunk may stand some
lines away from where the patch puts it only if there is a single place where it fits. Rules of the format: POSIX `diff -u`, GNU `patch`
for -p, git-diff's extended headers for new, deleted, renamed and executable files.
"""

from __future__ import annotations

import fnmatch
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from litert_build.errors import BuildError
from litert_build.sources.lock import Edit

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass
class Hunk:
    """One hunk: the line (from 1) and lines it expects, and what stands there afterwards. Lines keep their line ends."""

    line: int
    old: list[bytes] = field(default_factory=list)
    new: list[bytes] = field(default_factory=list)
    text: list[bytes] = field(default_factory=list)


@dataclass
class FileChange:
    """All changes of one file; an empty `old` name creates it, an empty `new` name deletes it. `mode` is set where git says so.

    `rename` marks a change of git's that moves the file; its names carry no a/ and b/, so that nothing is stripped from them.
    """

    old: str = ""
    new: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    mode: str = ""
    rename: bool = False


def apply_patch(patch: bytes, folder: Path, *, strip: int = 0, source: str = "", reverse: bool = False, dry_run: bool = False) -> list[str]:
    """Apply a unified diff below `folder` and return the paths it changed. `reverse` takes it back, `dry_run` writes nothing.

    Raises BuildError for the first hunk that does not fit, a missing or surplus file, a name outside the tree, and a patch that
    changes nothing.
    """
    changed = []
    contents: dict[str, list[bytes] | None] = {}
    modes: dict[str, str] = {}
    for change in parse_patch(patch, source):
        if reverse:
            change = _reversed(change)
        old, new = _names(change, folder, strip, source, contents)
        lines = _read(folder, old, new, contents, source)
        result = _apply_hunks(change, lines, old or new, source)
        if old and old != new:
            contents[old] = None
        if new:
            contents[new] = result
            modes[new] = change.mode
        elif result:
            raise BuildError(f"the patch deletes {old}, which holds more than the patch says", where=source)
        changed.append(new or old)
    if not changed:
        raise BuildError("the patch changes nothing", where=source, mend="is it a unified diff (diff -u, git diff)?")
    if not dry_run:
        _write(folder, contents, modes)
    return changed


def apply_edit(folder: Path, edit: Edit, where: str, *, dry_run: bool = False) -> str:
    """Replace one text below `folder` and return the path of its file. Raises BuildError where the pattern fits none or several files,
    or the text does not stand there exactly once."""
    names = sorted((Path(parent) / name).relative_to(folder).as_posix() for parent, _, files in os.walk(folder) for name in files)
    fitting = fnmatch.filter(names, edit.file)
    if len(fitting) != 1:
        raise BuildError(f"the edit of {edit.file!r} fits {len(fitting)} files", where=where, notes=fitting[:8], mend="name one file")
    path = folder / fitting[0]
    data, find = path.read_bytes(), edit.find.encode()
    if data.count(find) != 1:
        count = data.count(find)
        raise BuildError(
            f"{edit.find!r} stands {count} times in {fitting[0]}, not once", where=where, mend="adapt the edit to these sources"
        )
    if not dry_run:
        path.write_bytes(data.replace(find, edit.replace.encode()))
    return fitting[0]


def parse_patch(patch: bytes, source: str = "") -> list[FileChange]:
    """Return the changes of a unified diff; text between them is ignored. Raises BuildError for damaged hunks and binary patches."""
    return _Parser(patch.splitlines(keepends=True), source).parse()


class _Parser:
    def __init__(self, lines: list[bytes], source: str) -> None:
        self.lines, self.source, self.at = lines, source, 0
        self.changes: list[FileChange] = []
        self.git: FileChange | None = None
        self.git_counts = False

    def parse(self) -> list[FileChange]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith(b"diff --git "):
                self._keep_git()
                self._git_start(line)
            elif line.startswith(b"--- ") and self._peek(1).startswith(b"+++ ") and _HUNK.match(self._peek(2)):
                self._file()
                continue
            elif line.startswith((b"GIT binary patch", b"Binary files ")):
                raise self._fault("a binary patch cannot be applied")
            elif self.git is not None:
                self._git_header(line)
            self.at += 1
        self._keep_git()
        return self.changes

    def _peek(self, ahead: int) -> bytes:
        return self.lines[self.at + ahead] if self.at + ahead < len(self.lines) else b""

    def _fault(self, what: str) -> BuildError:
        return BuildError(what, where=f"{self.source}:{self.at + 1}", mend="make the patch anew with git diff")

    def _git_start(self, line: bytes) -> None:
        """Take the name from `diff --git a/NAME b/NAME`; where the two differ, rename headers follow."""
        both = line[len(b"diff --git ") :].decode("utf-8", "surrogateescape").rstrip("\r\n")
        old, new = both[: len(both) // 2], both[len(both) // 2 + 1 :]
        same = old.partition("/")[2] == new.partition("/")[2]
        self.git, self.git_counts = FileChange(old, new) if same else FileChange(), False

    def _git_header(self, line: bytes) -> None:
        assert self.git is not None
        key, _, value = line.decode("utf-8", "surrogateescape").rstrip("\r\n").rpartition(" ")
        if key in ("new mode", "new file mode"):
            self.git.mode, self.git_counts = value, True
            self.git.old = "" if key == "new file mode" else self.git.old
        elif key == "deleted file mode":
            self.git.new, self.git_counts = "", True
        elif line.startswith((b"rename from ", b"rename to ")):
            name = line.split(b" ", 2)[2].decode("utf-8", "surrogateescape").rstrip("\r\n")
            setattr(self.git, "old" if line.startswith(b"rename from ") else "new", name)
            self.git.rename = self.git_counts = True
        elif line.startswith(b"copy from "):
            raise self._fault("a git patch that copies files cannot be applied")

    def _keep_git(self) -> None:
        """Keep a git change that has no hunks: a move, a new mode, an empty file that comes or goes."""
        if self.git is not None and self.git_counts:
            self.changes.append(self.git)
        self.git = None

    def _file(self) -> None:
        change = FileChange(_name(self._peek(0)), _name(self._peek(1)))
        if self.git is not None and self.git.rename:
            change = self.git
        elif self.git is not None:
            change.mode = self.git.mode
        self.git = None
        self.at += 2
        while match := _HUNK.match(self._peek(0)):
            change.hunks.append(self._hunk(match))
        self.changes.append(change)

    def _hunk(self, match: re.Match[bytes]) -> Hunk:
        olds, news = (int(match.group(at)) if match.group(at) is not None else 1 for at in (2, 4))
        hunk = Hunk(int(match.group(1)) + (1 if olds == 0 else 0), text=[self._peek(0)])
        self.at += 1
        while len(hunk.old) < olds or len(hunk.new) < news:
            line = self._peek(0)
            sign, rest = (line[:1], line[1:]) if line.strip(b"\r\n") else (b" ", line)
            if not line or sign not in (b" ", b"-", b"+"):
                raise self._fault("the hunk is shorter than its first line says")
            if sign != b"+":
                hunk.old.append(rest)
            if sign != b"-":
                hunk.new.append(rest)
            hunk.text.append(line)
            self.at += 1
            if self._peek(0).startswith(b"\\"):
                for side in (hunk.old,) if sign == b"-" else (hunk.new,) if sign == b"+" else (hunk.old, hunk.new):
                    side[-1] = side[-1].rstrip(b"\r\n")
                self.at += 1
        if (len(hunk.old), len(hunk.new)) != (olds, news):
            raise self._fault("the hunk is longer than its first line says")
        return hunk


def _name(line: bytes) -> str:
    text = line[4:].decode("utf-8", "surrogateescape").rstrip("\r\n").split("\t")[0].strip()
    return "" if text == "/dev/null" else text.strip('"')


def _inner(name: str, strip: int, source: str) -> str:
    if not name:
        return ""
    parts = name.split("/")[strip:]
    if not parts or not parts[-1] or ".." in parts or parts[0] == "" or "\\" in name or ":" in parts[0]:
        raise BuildError(
            f"the patch names {name!r}, which is no path inside the tree after -p{strip}", where=source, mend="correct its strip level"
        )
    return "/".join(part for part in parts if part != ".")


def _names(change: FileChange, folder: Path, strip: int, source: str, contents: dict[str, list[bytes] | None]) -> tuple[str, str]:
    """Return the stripped old and new name. Two names of one file (x.orig and x) become the one that exists, as POSIX patch picks it."""
    level = 0 if change.rename else strip
    old, new = _inner(change.old, level, source), _inner(change.new, level, source)
    if change.rename or not old or not new:
        return old, new
    existing = [name for name in (new, old) if contents.get(name) is not None or (name not in contents and (folder / name).is_file())]
    if existing:
        return existing[0], existing[0]
    creates = change.hunks and not any(hunk.old for hunk in change.hunks)
    return ("", new) if creates else (old, old)


def _read(folder: Path, old: str, new: str, contents: dict[str, list[bytes] | None], source: str) -> list[bytes]:
    """Return the lines that a change starts from, of an earlier change of this patch or of the file."""
    for name in filter(None, {old, new}):
        if folder.resolve() not in (folder / name).resolve().parents:
            raise BuildError(f"the patch changes {name}, which leads out of the tree", where=source)
    if not old:
        if contents.get(new) or (new not in contents and (folder / new).exists() and (folder / new).stat().st_size):
            raise BuildError(f"the patch creates {new}, which exists", where=source, mend="the patch may be applied already")
        return []
    if old not in contents and not (folder / old).is_file():
        raise BuildError(f"the patch changes {old}, which does not exist", where=source, mend="correct the patch or its strip level")
    lines = contents[old] if old in contents else (folder / old).read_bytes().splitlines(keepends=True)
    return list(lines or ())


def _apply_hunks(change: FileChange, lines: list[bytes], name: str, source: str) -> list[bytes]:
    result: list[bytes] = []
    done, offset = 0, 0
    for number, hunk in enumerate(change.hunks, 1):
        wanted = max(hunk.line - 1 + offset, 0)
        at = _find(hunk, lines, done, wanted)
        if at is None:
            raise _misfit(hunk, lines, done, wanted, f"hunk {number} of {len(change.hunks)} does not fit {name}", source)
        offset = at - (hunk.line - 1)
        result += lines[done:at] + hunk.new
        done = at + len(hunk.old)
    return result + lines[done:]


def _find(hunk: Hunk, lines: list[bytes], done: int, wanted: int) -> int | None:
    size = len(hunk.old)
    if wanted >= done and lines[wanted : wanted + size] == hunk.old and (size or wanted <= len(lines)):
        return wanted
    if not size:
        return None
    places = [at for at in range(done, len(lines) - size + 1) if lines[at : at + size] == hunk.old]
    return places[0] if len(places) == 1 else None


def _misfit(hunk: Hunk, lines: list[bytes], done: int, wanted: int, what: str, source: str) -> BuildError:
    size = len(hunk.old)
    places = [at + 1 for at in range(done, len(lines) - size + 1) if size and lines[at : at + size] == hunk.old]
    notes = [line.decode("utf-8", "replace").rstrip("\r\n") for line in hunk.text]
    if places:
        notes.append(f"it fits at lines {', '.join(map(str, places))}, but not where the patch puts it, at {wanted + 1}")
    else:
        notes += [f"the file has there, from line {wanted + 1}:"]
        notes += [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines[wanted : wanted + size]]
        if [line.rstrip(b"\r\n") for line in lines[wanted : wanted + size]] == [line.rstrip(b"\r\n") for line in hunk.old]:
            notes.append("only the line ends differ")
    return BuildError(what, where=source, notes=notes, mend="rebase the patch on these sources")


def _reversed(change: FileChange) -> FileChange:
    added = 0
    hunks = []
    for hunk in change.hunks:
        hunks.append(Hunk(hunk.line + added, hunk.new, hunk.old, hunk.text))
        added += len(hunk.new) - len(hunk.old)
    return FileChange(change.new, change.old, hunks, rename=change.rename)


def _write(folder: Path, contents: dict[str, list[bytes] | None], modes: dict[str, str]) -> None:
    for name, lines in contents.items():
        path = folder / name
        if lines is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines))
        if modes.get(name):
            path.chmod(0o755 if modes[name].endswith("755") else 0o644)
