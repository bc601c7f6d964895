"""Owns the list of rules, in the order in which they are reported.

@rule("soname", title="SONAME is the file name", why="...", mend="...", example=lambda good: good.changed(soname=""))
def soname(context: Context) -> Outcome: ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from litert_build.checks.model import Context, Outcome, Rule

RULES: dict[str, Rule] = {}


def rule(id: str, **fields: Any) -> Callable[[Callable[[Context], Outcome]], Callable[[Context], Outcome]]:
    """Register the decorated function; `fields` are those of Rule. Two rules of one id are a ValueError."""

    def register(check: Callable[[Context], Outcome]) -> Callable[[Context], Outcome]:
        if id in RULES:
            raise ValueError(f"two rules are called {id}")
        RULES[id] = Rule(id=id, check=check, **fields)
        return check

    return register


def with_facts(**changes: Any) -> Callable[[Context], Context]:
    """Return an example that changes facts of a sound library."""
    return lambda good: dataclasses.replace(good, facts=dataclasses.replace(good.facts, **changes))


def with_policy(**changes: Any) -> Callable[[Context], Context]:
    """Return an example that asks a sound library for something else."""
    return lambda good: dataclasses.replace(good, policy=dataclasses.replace(good.policy, **changes))
