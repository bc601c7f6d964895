"""Owns what stands for a value that is not to be had: it may be passed on, but nothing may be decided by it.

value = Opaque("aar_with_jni", "of @rules_android//:defs.bzl", "that repository is not in the lock", "BUILD:3")
[value]             # fine
value + ["a"]       # again an Opaque
bool(value)         # BuildError that says what is missing, and where it was loaded
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from litert_build.errors import BuildError
from litert_build.starlark.values import Value


class Opaque(Value):
    """An unavailable value. What is computed from it is unavailable too; a test or a loop over it is an error."""

    type_name = "unavailable value"

    def __init__(self, name: str, owner: str, why: str, place: str = "") -> None:
        self.name, self.owner, self.why, self.place = name, owner, why, place

    def fault(self, use: str = "is used") -> BuildError:
        """Return the error of whoever needs the value after all."""
        return BuildError(
            f"'{self.name}' {self.owner} {use}, but {self.why}".replace("  ", " "),
            notes=[f"loaded at {self.place}"] if self.place else [],
            mend="add the repository to the lock, replace the file by an overlay, or leave the target out",
        )

    def computed(self, name: str) -> Opaque:
        """Return what stands for a value made of this one."""
        return type(self)(name, self.owner, self.why, self.place)

    def starlark_attr(self, name: str) -> Any:
        return self.computed(f"{self.name}.{name}")

    def starlark_str(self) -> str:
        return f"<unavailable {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.computed(f"{self.name}()")

    def __bool__(self) -> bool:
        raise self.fault("decides something")

    def __iter__(self) -> Iterator[Any]:
        raise self.fault("is looped over")

    def __len__(self) -> int:
        raise self.fault("is measured")

    def __getitem__(self, key: Any) -> Any:
        return self.computed(self.name)

    def __contains__(self, key: Any) -> bool:
        raise self.fault("is searched")

    def _same(self, other: Any) -> Any:
        return self.computed(self.name)

    __add__ = __radd__ = __or__ = __ror__ = __mul__ = __rmul__ = __sub__ = __mod__ = _same


class Inert(Opaque):
    """A builtin that is there, which is all that `X if X else []` asks, and does nothing. What is computed from it is unavailable."""

    def computed(self, name: str) -> Opaque:
        return Opaque(name, self.owner, self.why, self.place)

    def __bool__(self) -> bool:
        return True
