/* The C API of the sample host, in the shape of LiteRT-LM's.
 *
 * Every object is deleted by the function of its name; a NULL is ignored there. Functions that make an object return NULL on
 * failure, those that return int a non-zero value; litert_lm_get_last_error_message() tells why.
 */
#ifndef C_ENGINE_H_
#define C_ENGINE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define LITERT_LM_C_API_EXPORT __declspec(dllexport)
#else
#define LITERT_LM_C_API_EXPORT __attribute__((visibility("default")))
#endif

/* 1: the callback of v0.14 and before, which gets the strings; 2: that of v0.15, which gets a chunk. */
#ifndef LITERT_LM_STREAM_CALLBACK_ABI
#define LITERT_LM_STREAM_CALLBACK_ABI 2
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LiteRtLmEngineSettings LiteRtLmEngineSettings;
typedef struct LiteRtLmEngine LiteRtLmEngine;
typedef struct LiteRtLmSamplerParams LiteRtLmSamplerParams;
typedef struct LiteRtLmSessionConfig LiteRtLmSessionConfig;
typedef struct LiteRtLmSession LiteRtLmSession;
typedef struct LiteRtLmInputData LiteRtLmInputData;
typedef struct LiteRtLmResponses LiteRtLmResponses;
typedef struct LiteRtLmConversationConfig LiteRtLmConversationConfig;
typedef struct LiteRtLmConversationOptionalArgs LiteRtLmConversationOptionalArgs;
typedef struct LiteRtLmConversation LiteRtLmConversation;
typedef struct LiteRtLmJsonResponse LiteRtLmJsonResponse;

/* The reason why the last call on this thread failed, "" where it did not. Valid until the next call on this thread. */
LITERT_LM_C_API_EXPORT const char* litert_lm_get_last_error_message(void);

/* 1 debug, 2 info, 3 warning, 4 error, 1000 silent. */
LITERT_LM_C_API_EXPORT void litert_lm_set_min_log_level(int level);

/* What this host is made of: "static" where the core is linked in, else "dynamic"; the registered sampler or NULL. */
LITERT_LM_C_API_EXPORT const char* litert_lm_get_core_link_mode(void);
LITERT_LM_C_API_EXPORT const char* litert_lm_get_sampler_name(void);

/* ---- engine settings. The backend is "gpu" or "cpu"; vision and audio backends may be NULL and are not used here. */
LITERT_LM_C_API_EXPORT LiteRtLmEngineSettings* litert_lm_engine_settings_create(const char* model_path, const char* backend,
                                                                                const char* vision_backend, const char* audio_backend);
/* The engine that is created owns the descriptor and closes it. */
LITERT_LM_C_API_EXPORT LiteRtLmEngineSettings* litert_lm_engine_settings_create_from_raw_file_descriptor(int descriptor, const char* backend,
                                                                                                         const char* vision_backend,
                                                                                                         const char* audio_backend);
LITERT_LM_C_API_EXPORT void litert_lm_engine_settings_delete(LiteRtLmEngineSettings* settings);
LITERT_LM_C_API_EXPORT void litert_lm_engine_settings_set_max_num_tokens(LiteRtLmEngineSettings* settings, int max_num_tokens);
LITERT_LM_C_API_EXPORT void litert_lm_engine_settings_set_num_threads(LiteRtLmEngineSettings* settings, int num_threads);
LITERT_LM_C_API_EXPORT void litert_lm_engine_settings_set_audio_num_threads(LiteRtLmEngineSettings* settings, int num_threads);
LITERT_LM_C_API_EXPORT void litert_lm_engine_settings_set_lora_rank(LiteRtLmEngineSettings* settings, int rank);
LITERT_LM_C_API_EXPORT int litert_lm_engine_settings_set_supported_lora_ranks(LiteRtLmEngineSettings* settings, const int* ranks, size_t count);
LITERT_LM_C_API_EXPORT void litert_lm_engine_settings_set_audio_lora_rank(LiteRtLmEngineSettings* settings, int rank);
LITERT_LM_C_API_EXPORT int litert_lm_engine_settings_set_supported_audio_lora_ranks(LiteRtLmEngineSettings* settings, const int* ranks,
                                                                                    size_t count);

/* ---- engine */
LITERT_LM_C_API_EXPORT LiteRtLmEngine* litert_lm_engine_create(const LiteRtLmEngineSettings* settings);
LITERT_LM_C_API_EXPORT void litert_lm_engine_delete(LiteRtLmEngine* engine);
/* The accelerator that runs the engine's matrix products, or NULL. */
LITERT_LM_C_API_EXPORT const char* litert_lm_engine_get_accelerator_name(const LiteRtLmEngine* engine);
/* Writes the embedding of `text` to `embedding`, which has room for `capacity` values, and their number to `size`. */
LITERT_LM_C_API_EXPORT int litert_lm_engine_compute_embedding(LiteRtLmEngine* engine, const char* text, float* embedding, size_t capacity,
                                                              size_t* size);

/* ---- sampler parameters */
typedef enum {
  kLiteRtLmSamplerTypeTopK = 1,
  kLiteRtLmSamplerTypeTopP = 2,
  kLiteRtLmSamplerTypeGreedy = 3,
} LiteRtLmSamplerType;

LITERT_LM_C_API_EXPORT LiteRtLmSamplerParams* litert_lm_sampler_params_create(LiteRtLmSamplerType type);
LITERT_LM_C_API_EXPORT void litert_lm_sampler_params_delete(LiteRtLmSamplerParams* params);
LITERT_LM_C_API_EXPORT void litert_lm_sampler_params_set_top_k(LiteRtLmSamplerParams* params, int32_t top_k);
LITERT_LM_C_API_EXPORT void litert_lm_sampler_params_set_top_p(LiteRtLmSamplerParams* params, float top_p);
LITERT_LM_C_API_EXPORT void litert_lm_sampler_params_set_temperature(LiteRtLmSamplerParams* params, float temperature);
LITERT_LM_C_API_EXPORT void litert_lm_sampler_params_set_seed(LiteRtLmSamplerParams* params, int32_t seed);

/* ---- inputs and sessions */
typedef enum {
  kLiteRtLmInputDataTypeText = 0,
} LiteRtLmInputDataType;

LITERT_LM_C_API_EXPORT LiteRtLmInputData* litert_lm_input_data_create(LiteRtLmInputDataType type, const void* data, size_t size);
LITERT_LM_C_API_EXPORT void litert_lm_input_data_delete(LiteRtLmInputData* input);

LITERT_LM_C_API_EXPORT LiteRtLmSessionConfig* litert_lm_session_config_create(void);
LITERT_LM_C_API_EXPORT void litert_lm_session_config_delete(LiteRtLmSessionConfig* config);
LITERT_LM_C_API_EXPORT void litert_lm_session_config_set_max_output_tokens(LiteRtLmSessionConfig* config, int max_output_tokens);
LITERT_LM_C_API_EXPORT void litert_lm_session_config_set_sampler_params(LiteRtLmSessionConfig* config, const LiteRtLmSamplerParams* params);
/* The sample has no LoRA: any path but the empty one fails. */
LITERT_LM_C_API_EXPORT int litert_lm_session_config_set_lora_path(LiteRtLmSessionConfig* config, const char* path);
LITERT_LM_C_API_EXPORT int litert_lm_session_config_set_audio_lora_path(LiteRtLmSessionConfig* config, const char* path);

/* `config` may be NULL. */
LITERT_LM_C_API_EXPORT LiteRtLmSession* litert_lm_engine_create_session(LiteRtLmEngine* engine, LiteRtLmSessionConfig* config);
/* Waits for a stream that is under way. */
LITERT_LM_C_API_EXPORT void litert_lm_session_delete(LiteRtLmSession* session);
LITERT_LM_C_API_EXPORT void litert_lm_session_cancel_process(LiteRtLmSession* session);
LITERT_LM_C_API_EXPORT LiteRtLmResponses* litert_lm_session_generate_content(LiteRtLmSession* session, const LiteRtLmInputData* const* inputs,
                                                                             size_t num_inputs);
LITERT_LM_C_API_EXPORT void litert_lm_responses_delete(LiteRtLmResponses* responses);
LITERT_LM_C_API_EXPORT int litert_lm_responses_get_num_candidates(const LiteRtLmResponses* responses);
LITERT_LM_C_API_EXPORT const char* litert_lm_responses_get_response_text_at(const LiteRtLmResponses* responses, int index);

/* ---- streams. The callback runs on another thread; what it gets is freed when it returns. A stream ends with one final call,
 * which carries an error or no text at all. */
#if LITERT_LM_STREAM_CALLBACK_ABI == 1
typedef void (*LiteRtLmStreamCallback)(void* callback_data, const char* chunk, bool is_final, const char* error_msg);
#else
typedef struct LiteRtLmStreamChunk LiteRtLmStreamChunk;
typedef void (*LiteRtLmStreamCallback)(void* callback_data, const LiteRtLmStreamChunk* chunk);

LITERT_LM_C_API_EXPORT const char* litert_lm_stream_chunk_get_text(const LiteRtLmStreamChunk* chunk);
LITERT_LM_C_API_EXPORT bool litert_lm_stream_chunk_is_final(const LiteRtLmStreamChunk* chunk);
LITERT_LM_C_API_EXPORT const char* litert_lm_stream_chunk_get_error(const LiteRtLmStreamChunk* chunk);
#endif

LITERT_LM_C_API_EXPORT int litert_lm_session_generate_content_stream(LiteRtLmSession* session, const LiteRtLmInputData* const* inputs,
                                                                     size_t num_inputs, LiteRtLmStreamCallback callback, void* callback_data);

/* ---- conversations: messages of JSON, {"role":"user","content":[{"type":"text","text":"..."}]} */
LITERT_LM_C_API_EXPORT LiteRtLmConversationConfig* litert_lm_conversation_config_create(void);
LITERT_LM_C_API_EXPORT void litert_lm_conversation_config_delete(LiteRtLmConversationConfig* config);
LITERT_LM_C_API_EXPORT void litert_lm_conversation_config_set_session_config(LiteRtLmConversationConfig* config,
                                                                             const LiteRtLmSessionConfig* session_config);
LITERT_LM_C_API_EXPORT void litert_lm_conversation_config_set_system_message(LiteRtLmConversationConfig* config, const char* message_json);
LITERT_LM_C_API_EXPORT void litert_lm_conversation_config_set_stream_tool_calls(LiteRtLmConversationConfig* config, bool stream_tool_calls,
                                                                                const char* channel_name);

LITERT_LM_C_API_EXPORT LiteRtLmConversationOptionalArgs* litert_lm_conversation_optional_args_create(void);
LITERT_LM_C_API_EXPORT void litert_lm_conversation_optional_args_delete(LiteRtLmConversationOptionalArgs* args);
LITERT_LM_C_API_EXPORT void litert_lm_conversation_optional_args_set_max_output_tokens(LiteRtLmConversationOptionalArgs* args,
                                                                                       int max_output_tokens);

/* `config` may be NULL. */
LITERT_LM_C_API_EXPORT LiteRtLmConversation* litert_lm_conversation_create(LiteRtLmEngine* engine, LiteRtLmConversationConfig* config);
/* Waits for a stream that is under way. */
LITERT_LM_C_API_EXPORT void litert_lm_conversation_delete(LiteRtLmConversation* conversation);
LITERT_LM_C_API_EXPORT void litert_lm_conversation_cancel_process(LiteRtLmConversation* conversation);
/* The string belongs to the conversation. */
LITERT_LM_C_API_EXPORT const char* litert_lm_conversation_render_preface_to_string(LiteRtLmConversation* conversation);
LITERT_LM_C_API_EXPORT LiteRtLmJsonResponse* litert_lm_conversation_send_message(LiteRtLmConversation* conversation, const char* message_json,
                                                                                 const char* extra_context,
                                                                                 const LiteRtLmConversationOptionalArgs* args);
LITERT_LM_C_API_EXPORT void litert_lm_json_response_delete(LiteRtLmJsonResponse* response);
LITERT_LM_C_API_EXPORT const char* litert_lm_json_response_get_string(const LiteRtLmJsonResponse* response);
LITERT_LM_C_API_EXPORT int litert_lm_conversation_send_message_stream(LiteRtLmConversation* conversation, const char* message_json,
                                                                      const char* extra_context, const LiteRtLmConversationOptionalArgs* args,
                                                                      LiteRtLmStreamCallback callback, void* callback_data);

#ifdef __cplusplus
}
#endif

#endif /* C_ENGINE_H_ */
