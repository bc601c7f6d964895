"""Owns the shape of the C API by release, as far as a walk calls it: one table, read by the ctypes walk and by the C program's options.

    abi_of("v0.19.1")                       # 'status'
    FUNCTIONS["litert_lm_engine_create"]    # Function(makes='object', takes=('object',))

Up to v0.18 what makes an object returns it, and NULL on failure; from v0.19 it returns a status (0 is OK) and writes the object through a
further last parameter, and getters do the same with what they get. The names stay, so that no export check sees the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from packaging.version import InvalidVersion, Version

Abi = Literal["pointer", "status"]
Kind = Literal["object", "text", "int", "size", "bool", "callback", "pointer", "none"]
STATUS_SINCE = Version("0.19")


def abi_of(release: str) -> Abi:
    """Return the ABI of a release (a tag, or a development version of it); of the newest for what is no version number."""
    try:
        version = Version(release.removeprefix("v"))
    except InvalidVersion:
        return "status"
    return "status" if version.release >= STATUS_SINCE.release else "pointer"


@dataclass(frozen=True)
class Function:
    """What a function takes, and what it makes or gets: an out-parameter in the ABI "status". `plain` functions are the same in both."""

    makes: Kind
    takes: tuple[Kind, ...] = ()
    plain: bool = False


def _deletes(*names: str) -> dict[str, Function]:
    return {f"litert_lm_{name}_delete": Function("none", ("object",), plain=True) for name in names}


FUNCTIONS: dict[str, Function] = {
    "litert_lm_get_last_error_message": Function("text", plain=True),
    "litert_lm_set_min_log_level": Function("none", ("int",), plain=True),
    "litert_lm_engine_settings_create": Function("object", ("text", "text", "text", "text")),
    "litert_lm_engine_settings_set_max_num_tokens": Function("none", ("object", "int"), plain=True),
    "litert_lm_engine_create": Function("object", ("object",)),
    "litert_lm_engine_create_session": Function("object", ("object", "object")),
    "litert_lm_input_data_create": Function("object", ("int", "text", "size")),
    "litert_lm_session_generate_content": Function("object", ("object", "pointer", "size")),
    "litert_lm_session_generate_content_stream": Function("int", ("object", "pointer", "size", "callback", "object"), plain=True),
    "litert_lm_responses_get_response_text_at": Function("text", ("object", "size")),
    "litert_lm_stream_chunk_get_text": Function("text", ("object",)),
    "litert_lm_stream_chunk_is_final": Function("bool", ("object",)),
    "litert_lm_stream_chunk_get_error": Function("text", ("object",)),
    # The sample's own: upstream embeds with engines of another kind.
    "litert_lm_engine_compute_embedding": Function("int", ("object", "text", "pointer", "size", "pointer"), plain=True),
    **_deletes("engine_settings", "engine", "session", "input_data", "responses"),
}
