"""Owns the one error type that users see.

raise BuildError("glob() matched nothing: *.cc", where="absl/base/BUILD.bazel:12", mend="set allow_empty = True or fix the pattern")
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BuildError(Exception):
    """What failed, where it was declared and what mends it.

    `where` is `file:line` (or a file, or an option name), `mend` the next step in the imperative, `notes` further
    evidence, a line each: a macro stack, a dependency path, two digests.
    """

    def __init__(self, what: str, *, where: str = "", mend: str = "", notes: Iterable[str] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.mend = mend
        self.notes = tuple(notes)

    def __str__(self) -> str:
        """The text a console shows: place and fault first, evidence indented, the mend last."""
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        lines += [f"    {note}" for note in self.notes]
        if self.mend:
            lines.append(f"  -> {self.mend}")
        return "\n".join(lines)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `"did you mean NAME?"` for the closest of `known`, or the empty string where none is close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else ""
