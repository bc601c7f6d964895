"""Owns the reading of JSON files whose objects have known fields and types, so that each mistake is named by its place.

fields = Fields(Path("sample.json"), "repositories.absl", data, {"path", "urls", "sha256"})
fields.text("sha256", "")          # BuildError: sample.json: repositories.absl.sha256: a string is expected, not a number
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from litert_build.errors import BuildError, nearest

_NAMES = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}


def read_json(file: Path, mend: str, *, missing: str = "") -> Any:
    """Return the content of a JSON file. Raises BuildError where it cannot be read, is no JSON, or gives a name twice in one object."""
    try:
        return json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=lambda pairs: _unique(file, pairs))
    except OSError as error:
        raise BuildError(f"cannot read the file: {error.strerror}", where=str(file), mend=missing or mend) from error
    except ValueError as error:
        raise BuildError(f"the file is not valid JSON: {error}", where=str(file), mend=mend) from error


def _unique(file: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in pairs:
        if name in data:
            raise BuildError(f"{name!r} stands twice in one object", where=str(file), mend="keep one of them")
        data[name] = value
    return data


class Fields:
    """One object of a JSON file. Each reader returns the value of a field, or `default` where the field is absent; a field
    without a default is mandatory. All of them raise BuildError that names the file, the path of the field and what stood there."""

    def __init__(self, file: Path, place: str, data: Any, known: Collection[str]) -> None:
        self.file, self.place = file, place
        if not isinstance(data, dict):
            raise BuildError(f"{place or 'the whole'}: an object is expected, not {_NAMES[type(data)]}", where=str(file))
        self.data: dict[str, Any] = data
        for name in data:
            if name not in known:
                self.fault(
                    name,
                    "unknown field",
                    mend=nearest(name, known) or f"the fields here are {', '.join(sorted(known))}",
                    whole=f"unknown field {name!r}",
                )

    def __contains__(self, name: str) -> bool:
        return name in self.data

    def fault(self, name: str, what: str, *, mend: str = "", whole: str = "") -> NoReturn:
        """Raise BuildError for field `name`."""
        path = f"{self.place}.{name}" if self.place else name
        if whole:
            raise BuildError(f"{whole} in {self.place or 'the file'}", where=str(self.file), mend=mend)
        raise BuildError(f"{path}: {what}", where=str(self.file), mend=mend)

    def raw(self, name: str, kind: type, default: Any) -> Any:
        value = self.data.get(name, default)
        if value is None and name not in self.data:
            self.fault(name, f"the field is missing; {_NAMES[kind]} is expected")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fault(name, f"{_NAMES[kind]} is expected, not {_NAMES[type(value)]}")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        return str(self.raw(name, str, default))

    def number(self, name: str, default: int | None = None) -> int:
        return int(self.raw(name, int, default))

    def choice(self, name: str, allowed: Collection[str], default: str | None = None) -> Any:
        value = self.text(name, default)
        if value not in allowed:
            self.fault(name, f"{value!r} is not one of {', '.join(allowed)}", mend=nearest(value, allowed))
        return value

    def items(self, name: str, default: list[Any] | None = None) -> list[Any]:
        return list(self.raw(name, list, default))

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.items(name, [])
        for at, value in enumerate(values):
            if not isinstance(value, str):
                self.fault(f"{name}[{at}]", f"a string is expected, not {_NAMES[type(value)]}")
        return tuple(values)

    def mapping(self, name: str, default: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return dict(self.raw(name, dict, default))

    def text_mapping(self, name: str) -> dict[str, str]:
        values = self.mapping(name, {})
        for key, value in values.items():
            if not isinstance(value, str):
                self.fault(f"{name}.{key}", f"a string is expected, not {_NAMES[type(value)]}")
        return values
