"""Owns typed flags: copts, cxxopts, conlyopts and linkopts, checked against what compilers know and rendered for one of them.

render(["-std=c++20", "-mavx2", "-Wall"], "msvc")      # ['/std:c++20', '/arch:AVX2']

An action's flags stay as upstream wrote them (that is what the oracle compares); a toolchain renders them when it makes a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from litert_build.actions import Traced
from litert_build.errors import BuildError, nearest
from litert_build.toolchains.flag_tables import (
    CL,
    CL_TO_GNU,
    CODEGEN,
    DROPS,
    GNU,
    GNU_TO_CL,
    LINK_DROPS,
    WITH_ARGUMENT,
    Dialect,
    Kind,
    LinkDialect,
    Spelling,
    kind_of,
)


def words(flags: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (flag, argument) pairs: the argument is empty unless it was the next word.

    Raises BuildError, at the flag's BUILD line, for a flag whose argument is missing.
    """
    rest = iter(flags)
    for flag in rest:
        if flag not in WITH_ARGUMENT:
            yield flag, ""
            continue
        argument = next(rest, None)
        if argument is None:
            raise BuildError(f"flag {flag!r} has no argument", where=_location(flag), mend="give it one, or remove it")
        yield flag, argument


def kind(flag: str) -> Kind:
    """Return the kind of `flag`. Raises BuildError, at its BUILD line, where no compiler knows it."""
    known = kind_of(str(flag))
    if known is None:
        raise BuildError(f"no compiler knows the flag {str(flag)!r}", where=_location(flag), mend=_suggest(flag))
    return known


def check(flags: Iterable[str]) -> None:
    """Raise BuildError for the first flag that no compiler knows, before any compile starts."""
    for flag, _ in words(flags):
        kind(flag)


def render(flags: Iterable[str], dialect: Dialect) -> list[str]:
    """Return `flags` as the compiler of `dialect` spells them, without those of the DROPS table.

    Raises BuildError, at the flag's BUILD line, for a flag that no compiler knows or that this one has no spelling for.
    """
    rendered: list[str] = []
    for flag, argument in words(flags):
        try:
            rendered += _render_one(str(flag), str(argument), dialect)
        except BuildError as error:
            raise BuildError(error.what, where=_location(flag), mend=error.mend) from error
    return rendered


def dropped(flags: Iterable[str], dialect: Dialect) -> list[tuple[str, str]]:
    """Return (flag, reason) for each flag that `dialect` leaves out on purpose."""
    return [(flag, reason) for flag, _ in words(flags) if (reason := drop_reason(str(flag), dialect))]


def drop_reason(flag: str, dialect: Dialect) -> str:
    """Return why `dialect` leaves `flag` out, or the empty string: what `explain` shows."""
    return next((drop.reason for drop in DROPS if drop.covers(flag, dialect)), "")


def render_link(flags: Iterable[str], dialect: LinkDialect) -> list[str]:
    """Return link options as a target's linker driver spells them, without those of the LINK_DROPS table.

    Raises BuildError, at the flag's BUILD line, for an option that no linker is known to take or that this one has no spelling for.
    """
    rendered: list[str] = []
    for flag, argument in words(flags):
        kind(flag)
        if any(drop.covers(str(flag), dialect) for drop in LINK_DROPS):
            continue
        spelled = [str(flag), str(argument)] if argument else [str(flag)]
        if dialect == "cl":
            library = re.fullmatch(r"-l:?(.+?)(?:\.lib)?", "".join(spelled))
            spelled = [f"{library.group(1)}.lib"] if library else [f"/{word[1:]}" if word.startswith("-") else word for word in spelled]
            if spelled[0].startswith("/W") and not spelled[0].startswith("/WHOLEARCHIVE"):
                raise BuildError(f"link.exe has no spelling for {flag!r}", where=_location(flag), mend="put it into a select() branch")
        rendered += spelled
    return rendered


@cache
def _render_one(flag: str, argument: str, dialect: Dialect) -> tuple[str, ...]:
    kind(flag)
    if drop_reason(flag, dialect):
        return ()
    ours = (flag, argument) if argument else (flag,)
    if flag.startswith("/") == (dialect in CL):
        return ours
    other = _respell(flag + argument, CL_TO_GNU if dialect in GNU else GNU_TO_CL)
    if other is not None:
        return (other,) if other else ()
    if dialect == "clang-cl":
        return tuple(f"/clang:{word}" for word in ours)
    raise BuildError(
        f"{dialect} has no spelling for the flag {flag!r}",
        mend="put it into a select() branch of its compilers, or into DROPS with the reason why it can go",
    )


def _respell(flag: str, table: Iterable[tuple[str, Spelling]]) -> str | None:
    for pattern, spelling in table:
        found = re.fullmatch(pattern, flag)
        if found:
            return found.expand(spelling) if isinstance(spelling, str) else spelling(found)
    return None


def _location(flag: str) -> str:
    origin = flag.origin if isinstance(flag, Traced) else None
    return origin.location if origin else ""


def _suggest(flag: str) -> str:
    prefix = "-fno-" if flag.startswith("-fno-") else "-f"
    return nearest(flag, [prefix + name for name in sorted(CODEGEN)]) or "remove it, or add its kind to flag_tables.py"
