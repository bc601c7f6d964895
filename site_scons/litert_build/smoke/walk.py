"""Owns the walk of the C API from Python: a program of its own, for a crash of the host must not be one of the build.

    python -m litert_build.smoke.walk --abi=status --backend=cpu --steps=generate,direct HOST MODEL

Prints the same lines as src/smoke for the steps they share. Exits with 1 and the reason on stderr where a call fails.
"""

from __future__ import annotations

import argparse
import ctypes
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

from litert_build.smoke.abi import FUNCTIONS, Abi, Kind
from litert_build.smoke.steps import CTYPES_STEPS

PROMPT = b"the river carries a question"
EMBEDDED = {"embedding": "the quiet river", "embedding of other words": "Grüße aus Köln, 42 times", "embedding of nothing": ""}
PATIENCE = 20.0  # seconds that a stream may last
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

_TYPES: dict[Kind, Any] = {
    "object": ctypes.c_void_p,
    "text": ctypes.c_char_p,
    "int": ctypes.c_int,
    "size": ctypes.c_size_t,
    "bool": ctypes.c_bool,
    "callback": CALLBACK,
    "pointer": ctypes.c_void_p,
    "none": None,
}


class WalkError(Exception):
    """What failed, and what the host says of it."""


class Host:
    """A loaded host in its ABI: `host.call("litert_lm_engine_create", settings)`."""

    def __init__(self, library: str, abi: Abi) -> None:
        self.abi = abi
        self.library = ctypes.CDLL(library)

    def function(self, name: str) -> Callable[..., Any]:
        try:
            return getattr(self.library, name)  # type: ignore[no-any-return]
        except AttributeError:
            raise WalkError(f"{name}: the host does not export it") from None

    def call(self, name: str, *arguments: object) -> Any:
        """Return what the function makes or gets. Raises WalkError where it is not exported, fails, or makes no object."""
        row, function = FUNCTIONS[name], self.function(name)
        types = [_TYPES[kind] for kind in row.takes]
        if row.plain or self.abi == "pointer":
            function.restype, function.argtypes = _TYPES[row.makes], types  # type: ignore[attr-defined]
            made = function(*arguments)
        else:
            out = _TYPES[row.makes]()
            function.restype, function.argtypes = ctypes.c_int, [*types, ctypes.POINTER(_TYPES[row.makes])]  # type: ignore[attr-defined]
            if function(*arguments, ctypes.byref(out)):
                raise WalkError(f"{name}: {self.last_error()}")
            made = out.value
        if row.makes == "object" and not made:
            raise WalkError(f"{name}: {self.last_error()}")
        return made

    def last_error(self) -> str:
        message = self.call("litert_lm_get_last_error_message")
        return message.decode(errors="replace") if message else "no reason is given"


def generate(host: Host, engine: int) -> None:
    session = host.call("litert_lm_engine_create_session", engine, None)
    source = host.call("litert_lm_input_data_create", 0, PROMPT, len(PROMPT))
    inputs = (ctypes.c_void_p * 1)(source)
    responses = host.call("litert_lm_session_generate_content", session, inputs, 1)
    print(f"text: {host.call('litert_lm_responses_get_response_text_at', responses, 0).decode()}", flush=True)
    for kind, made in (("responses", responses), ("session", session), ("input_data", source)):
        host.call(f"litert_lm_{kind}_delete", made)


def direct(host: Host, engine: int) -> None:
    """Stream without StreamProxy; the strings are copied while the callback runs, and read here."""
    chunks: list[str] = []
    errors: list[str] = []
    finished = threading.Event()

    def on_chunk(data: int, chunk: int) -> None:
        try:
            text = host.call("litert_lm_stream_chunk_get_text", chunk)
            error = host.call("litert_lm_stream_chunk_get_error", chunk)
            is_final = host.call("litert_lm_stream_chunk_is_final", chunk)
        except WalkError as failure:
            text, error, is_final = None, str(failure).encode(), True
        if text is not None:
            chunks.append(text.decode())
        if error:
            errors.append(error.decode(errors="replace"))
        if is_final:
            finished.set()

    callback = CALLBACK(on_chunk)
    session = host.call("litert_lm_engine_create_session", engine, None)
    source = host.call("litert_lm_input_data_create", 0, PROMPT, len(PROMPT))
    inputs = (ctypes.c_void_p * 1)(source)
    if host.call("litert_lm_session_generate_content_stream", session, inputs, 1, callback, None):
        raise WalkError(f"litert_lm_session_generate_content_stream: {host.last_error()}")
    if not finished.wait(PATIENCE):
        raise WalkError("streamed: the stream does not end")
    if errors:
        raise WalkError(f"streamed: {errors[0]}")
    print(f"streamed: {''.join(chunks)}\nstreamed chunks: {len(chunks)}", flush=True)
    host.call("litert_lm_session_delete", session)
    host.call("litert_lm_input_data_delete", source)


def embedding(host: Host, engine: int) -> None:
    for name, text in EMBEDDED.items():
        values, size = (ctypes.c_float * 64)(), ctypes.c_size_t()
        if host.call("litert_lm_engine_compute_embedding", engine, text.encode(), values, len(values), ctypes.byref(size)):
            raise WalkError(f"litert_lm_engine_compute_embedding: {host.last_error()}")
        print(f"{name}: {''.join(struct.pack('>f', value).hex() for value in values[: size.value])}", flush=True)


WALKS: dict[str, Callable[[Host, int], None]] = {"generate": generate, "direct": direct, "embedding": embedding}


def walk(library: str, model: str, abi: Abi, backend: str, steps: list[str]) -> None:
    """Walk `steps` through the host. Raises WalkError where a call fails, OSError where the library cannot be loaded."""
    host = Host(library, abi)
    host.call("litert_lm_set_min_log_level", 4)
    settings = host.call("litert_lm_engine_settings_create", model.encode(), backend.encode(), None, None)
    host.call("litert_lm_engine_settings_set_max_num_tokens", settings, 128)
    engine = host.call("litert_lm_engine_create", settings)
    host.call("litert_lm_engine_settings_delete", settings)
    for step in steps:
        WALKS[step](host, engine)
    host.call("litert_lm_engine_delete", engine)
    print("deleted: yes", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="litert_build.smoke.walk", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--abi", choices=("pointer", "status"), default="pointer")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--steps", default=",".join(CTYPES_STEPS))
    parser.add_argument("library")
    parser.add_argument("model")
    options = parser.parse_args()
    try:
        walk(options.library, options.model, options.abi, options.backend, options.steps.split(","))
    except (WalkError, OSError) as error:
        print(f"smoke: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
