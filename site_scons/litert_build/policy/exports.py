"""Owns which C functions a host must export by version, which it may, and with which signatures.

required_exports("v0.15.0")        # ('litert_lm_engine_settings_create', ..., 'stream_proxy_callback_abi_version')
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from packaging.version import InvalidVersion, Version

# What bindings look up; each row adds to those before it. The bridge's own functions are among them.
_REQUIRED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "0",
        (
            "litert_lm_engine_settings_create", "litert_lm_engine_create", "litert_lm_conversation_create",
            "litert_lm_conversation_send_message_stream",
            *(f"stream_proxy_{name}" for name in ("load_global", "create", "delete", "free_string")),
        ),
    ),
    (
        "0.14",
        (
            *(f"litert_lm_sampler_params_{name}" for name in ("create", "delete", "set_top_k", "set_top_p", "set_temperature", "set_seed")),
            "litert_lm_session_config_set_lora_path", "litert_lm_session_config_set_audio_lora_path",
            "litert_lm_conversation_config_set_stream_tool_calls", "litert_lm_conversation_optional_args_set_max_output_tokens",
            "litert_lm_input_data_create", "litert_lm_input_data_delete", "litert_lm_engine_settings_create_from_raw_file_descriptor",
            *(
                f"litert_lm_engine_settings_set_{name}"
                for name in (
                    "num_threads", "audio_num_threads", "lora_rank", "supported_lora_ranks", "audio_lora_rank",
                    "supported_audio_lora_ranks",
                )
            ),
            "litert_lm_conversation_render_preface_to_string",
        ),
    ),
    (
        "0.15",
        (*(f"litert_lm_stream_chunk_{name}" for name in ("get_text", "is_final", "get_error")), "stream_proxy_callback_abi_version"),
    ),
    (
        "0.16",
        tuple(
            f"litert_lm_asr_{name}"
            for name in (
                "abi_version", "config_size", "result_size", "config_init", "config_init_for_model_preset", "result_init", "result_release",
                "free_string", "engine_create", "engine_delete", "session_create", "session_delete", "session_push_audio_f32",
                "session_finish_audio", "session_process_next", "session_reset", "session_cancel",
            )
        ),
    ),
)  # fmt: skip

# What a host may export beyond the required where no headers of the ref name the functions one by one.
API_PATTERNS = ("litert_lm_*", "stream_proxy_*")

# In the words of checks.headers. Read from the declarations that the 0.18.1 and 0.19.0.dev20261026 Python packages load the library with;
# a function whose result they leave open is left out.
_SIGNATURES: tuple[tuple[str, Mapping[str, str]], ...] = (
    (
        "0.18",
        {
            "litert_lm_engine_settings_create": "ptr(ptr, ptr, ptr, ptr)",
            "litert_lm_engine_create": "ptr(ptr)",
            "litert_lm_conversation_create": "ptr(ptr, ptr)",
            "litert_lm_sampler_params_create": "ptr(i32)",
            "litert_lm_session_config_set_lora_path": "i32(ptr, ptr)",
            "litert_lm_session_config_set_audio_lora_path": "i32(ptr, ptr)",
            "litert_lm_input_data_create": "ptr(i32, ptr, size)",
            "litert_lm_input_data_delete": "void(ptr)",
            "litert_lm_engine_settings_set_supported_lora_ranks": "i32(ptr, ptr, size)",
            "litert_lm_engine_settings_set_supported_audio_lora_ranks": "i32(ptr, ptr, size)",
            "litert_lm_stream_chunk_get_text": "ptr(ptr)",
            "litert_lm_stream_chunk_is_final": "bool(ptr)",
            "litert_lm_stream_chunk_get_error": "ptr(ptr)",
        },
    ),
    (
        "0.19",
        {
            "litert_lm_engine_settings_create": "i32(ptr, ptr, ptr, ptr, ptr)",
            "litert_lm_engine_create": "i32(ptr, ptr)",
            "litert_lm_conversation_create": "i32(ptr, ptr, ptr)",
            "litert_lm_sampler_params_create": "i32(i32, ptr)",
            "litert_lm_input_data_create": "i32(i32, ptr, size, ptr)",
            "litert_lm_stream_chunk_get_text": "i32(ptr, ptr)",
            "litert_lm_stream_chunk_is_final": "i32(ptr, ptr)",
            "litert_lm_stream_chunk_get_error": "i32(ptr, ptr)",
        },
    ),
)


def required_exports(version: str) -> tuple[str, ...]:
    """Return the functions that a host of release `version` must export; of the newest for a ref that is no version number."""
    return tuple(name for since, names in _REQUIRED if _reaches(version, since) for name in names)


def expected_signatures(version: str) -> Mapping[str, str]:
    """Return the signatures that bridge and bindings of release `version` are written for; empty before v0.18, where none were read."""
    return MappingProxyType({name: text for since, rows in _SIGNATURES if _reaches(version, since) for name, text in rows.items()})


def _reaches(version: str, since: str) -> bool:
    try:
        return Version(version.lstrip("v")).release >= Version(since).release
    except InvalidVersion:
        return True
