r"""Owns the reading of depfiles, as gcc and clang write them with -MD, and cl.exe with /sourceDependencies.

read_depfile("x.o: x.cc include/my\\ header.h \\\n  y.h\n")      # ['x.cc', 'include/my header.h', 'y.h']
"""

from __future__ import annotations

import json
import re

_ESCAPED = re.compile(r"\\([ #\\:])|\$\$")


def read_depfile(text: str) -> list[str]:
    """Return the prerequisites in order, each once (GCC manual, "Preprocessor Options", -M: blanks, # and $ are escaped; MSVC,
    "/sourceDependencies": a JSON object)."""
    if text.startswith("{"):
        data = json.loads(text)["Data"]
        return list(dict.fromkeys([data["Source"], *data.get("Includes", ())]))
    _, separator, rest = text.replace("\r\n", "\n").replace("\\\n", " ").partition(": ")
    if not separator:
        return []
    rest = rest.partition("\n")[0]
    if "\\" not in rest and "$" not in rest:
        return list(dict.fromkeys(rest.split()))
    words = re.findall(r"(?:\\.|[^\s\\])+", rest)
    return list(dict.fromkeys(_ESCAPED.sub(lambda found: found.group(1) or "$", word) for word in words))
