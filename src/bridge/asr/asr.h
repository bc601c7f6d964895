/* Speech recognition: a C ABI over upstream's C++ pipeline, which has none of its own. ABI 1.
 *
 *   LitertLmAsrConfig config;
 *   litert_lm_asr_config_init_for_model_preset(&config, LITERT_LM_ASR_MODEL_PRESET_WHISPER_TINY);
 *   config.model_path = "...", config.tokenizer_path = "...";
 *   litert_lm_asr_engine_create(&config, &engine, &error), litert_lm_asr_session_create(engine, &session, &error);
 *   push audio, finish it, and call process_next until END_OF_STREAM
 *
 * Whoever loads the library at run time compares litert_lm_asr_abi_version() with 1 and the two sizes with its own structs first.
 * Functions that fail return a status. They write NULL or a message to `*out_error_message`, where that is not NULL; the caller frees
 * it with litert_lm_asr_free_string(). Strings are UTF-8.
 */
#ifndef ASR_ASR_H_
#define ASR_ASR_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define LITERT_LM_ASR_EXPORT __declspec(dllexport)
#else
#define LITERT_LM_ASR_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LITERT_LM_ASR_ABI_VERSION 1u

/* In C++ a value outside of an enum is undefined, unless its type is named; a client may pass any number. */
#ifdef __cplusplus
#define LITERT_LM_ASR_ENUM : int32_t
#else
#define LITERT_LM_ASR_ENUM
#endif

typedef struct LitertLmAsrEngine LitertLmAsrEngine;
typedef struct LitertLmAsrSession LitertLmAsrSession;

typedef enum LitertLmAsrStatus LITERT_LM_ASR_ENUM {
  LITERT_LM_ASR_STATUS_OK = 0,
  LITERT_LM_ASR_STATUS_INVALID_ARGUMENT = 1,
  LITERT_LM_ASR_STATUS_FAILED_PRECONDITION = 2,
  LITERT_LM_ASR_STATUS_NOT_FOUND = 3,
  LITERT_LM_ASR_STATUS_ALREADY_EXISTS = 4,
  LITERT_LM_ASR_STATUS_OUT_OF_RANGE = 5,
  LITERT_LM_ASR_STATUS_UNAVAILABLE = 6,
  LITERT_LM_ASR_STATUS_CANCELLED = 7,
  LITERT_LM_ASR_STATUS_RESOURCE_EXHAUSTED = 8,
  LITERT_LM_ASR_STATUS_INTERNAL = 9,
  LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO = 10, /* process_next: no whole window is there yet */
  LITERT_LM_ASR_STATUS_END_OF_STREAM = 11,    /* process_next: the final result was given before */
  LITERT_LM_ASR_STATUS_WOULD_BLOCK = 12       /* push: the queue took a part, or nothing */
} LitertLmAsrStatus;

typedef enum LitertLmAsrBackend LITERT_LM_ASR_ENUM {
  LITERT_LM_ASR_BACKEND_CPU = 0,
  LITERT_LM_ASR_BACKEND_GPU = 1,
  LITERT_LM_ASR_BACKEND_NPU = 2
} LitertLmAsrBackend;

typedef enum LitertLmAsrDecoderType LITERT_LM_ASR_ENUM {
  LITERT_LM_ASR_DECODER_CTC = 0,
  LITERT_LM_ASR_DECODER_TDT = 1,
  LITERT_LM_ASR_DECODER_STATELESS = 2
} LitertLmAsrDecoderType;

typedef enum LitertLmAsrTextMergerType LITERT_LM_ASR_ENUM {
  LITERT_LM_ASR_TEXT_MERGER_LEVENSHTEIN = 0,
  LITERT_LM_ASR_TEXT_MERGER_TIMESTAMP = 1
} LitertLmAsrTextMergerType;

typedef enum LitertLmAsrLogMelNormType LITERT_LM_ASR_ENUM {
  LITERT_LM_ASR_LOG_MEL_NORM_STANDARD = 0,
  LITERT_LM_ASR_LOG_MEL_NORM_WHISPER = 1
} LitertLmAsrLogMelNormType;

typedef enum LitertLmAsrModelPreset LITERT_LM_ASR_ENUM {
  LITERT_LM_ASR_MODEL_PRESET_PARAKEET_TDT_0_6B_V3 = 1,
  LITERT_LM_ASR_MODEL_PRESET_PARAKEET_CTC_0_6B = 2,
  LITERT_LM_ASR_MODEL_PRESET_MOONSHINE_TINY = 3,
  LITERT_LM_ASR_MODEL_PRESET_WHISPER_TINY = 4,
  LITERT_LM_ASR_MODEL_PRESET_QWEN3_ASR_0_6B = 5
} LitertLmAsrModelPreset;

/* Made by config_init, then changed field by field. `struct_size` comes first for good: a later ABI appends fields, and a library
 * takes every struct that is at least as long as its own. Strings are read by engine_create alone. */
typedef struct LitertLmAsrConfig {
  uint32_t struct_size;
  uint32_t abi_version;

  const char* model_name; /* may be NULL */
  const char* model_path;
  const char* tokenizer_path; /* may be empty for a .litertlm model, which brings its own */

  int32_t sample_rate_hz;
  int32_t num_channels;                    /* 1 */
  int32_t input_milliseconds;              /* length of a window */
  int32_t max_buffered_audio_milliseconds; /* what push takes before a window is processed; at least a window */
  LitertLmAsrDecoderType decoder_type;
  LitertLmAsrBackend backend;
  LitertLmAsrTextMergerType text_merger_type;
  int32_t num_threads;
  float overlap_ratio; /* of two windows, from 0 to less than 1 */

  int32_t has_log_mel_config; /* 0: the model takes samples, and what follows up to norm_type is not read */
  int32_t log_mel_n_fft;
  int32_t log_mel_n_mels;
  int32_t log_mel_hop_length;
  int32_t log_mel_n_frames;
  int32_t log_mel_transpose;
  float log_mel_preemphasis;
  LitertLmAsrLogMelNormType log_mel_norm_type;

  int32_t decode_start_token_id; /* -1: none, as for the next two */
  int32_t decode_stop_token_id;
  int32_t decode_skip_until_token_id;
  int32_t decode_statefully_after;
  int32_t vocab_size; /* 0: what the model says */
  int32_t blank_token_id;
} LitertLmAsrConfig;

/* Made by result_init, filled by process_next, emptied by result_release. */
typedef struct LitertLmAsrResult {
  uint32_t struct_size;
  char* confirmed_text;   /* new text, which stays as it is */
  char* unconfirmed_text; /* text that the next window may say otherwise */
  int32_t is_final;
} LitertLmAsrResult;

LITERT_LM_ASR_EXPORT uint32_t litert_lm_asr_abi_version(void);
LITERT_LM_ASR_EXPORT size_t litert_lm_asr_config_size(void);
LITERT_LM_ASR_EXPORT size_t litert_lm_asr_result_size(void);

/* The defaults. NULL is ignored. */
LITERT_LM_ASR_EXPORT void litert_lm_asr_config_init(LitertLmAsrConfig* config);
/* What upstream publishes for a model; the paths are the caller's. INVALID_ARGUMENT for an unknown preset. */
LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_config_init_for_model_preset(LitertLmAsrConfig* config, LitertLmAsrModelPreset preset);
LITERT_LM_ASR_EXPORT void litert_lm_asr_result_init(LitertLmAsrResult* result);
/* Frees the strings and makes the result as after result_init. */
LITERT_LM_ASR_EXPORT void litert_lm_asr_result_release(LitertLmAsrResult* result);
LITERT_LM_ASR_EXPORT void litert_lm_asr_free_string(char* value);

LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_engine_create(const LitertLmAsrConfig* config, LitertLmAsrEngine** out_engine,
                                                                   char** out_error_message);
/* Sessions keep what they need of their engine: it may be deleted before them. */
LITERT_LM_ASR_EXPORT void litert_lm_asr_engine_delete(LitertLmAsrEngine* engine);

LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_session_create(LitertLmAsrEngine* engine, LitertLmAsrSession** out_session,
                                                                    char** out_error_message);
/* No other call of the session may be under way. */
LITERT_LM_ASR_EXPORT void litert_lm_asr_session_delete(LitertLmAsrSession* session);

/* Queues mono samples from -1 to 1 and tells how many were taken. WOULD_BLOCK where not all were: process a window, then push the
 * rest. May run while process_next does. FAILED_PRECONDITION after finish_audio. */
LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_session_push_audio_f32(LitertLmAsrSession* session, const float* samples,
                                                                            size_t sample_count, size_t* out_accepted_samples,
                                                                            char** out_error_message);
/* No more audio comes: the last window is filled up with silence. */
LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_session_finish_audio(LitertLmAsrSession* session, char** out_error_message);
/* Runs one window at most, on the calling thread. The result with is_final = 1 is the last. */
LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_session_process_next(LitertLmAsrSession* session, LitertLmAsrResult* out_result,
                                                                          char** out_error_message);
/* Begins a new stream; what was queued and cancelled is forgotten. Waits for process_next. */
LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_session_reset(LitertLmAsrSession* session, char** out_error_message);
/* From now on push and process_next return CANCELLED, until reset. A window that is being processed ends first, its text is dropped.
 * May run at any time. */
LITERT_LM_ASR_EXPORT LitertLmAsrStatus litert_lm_asr_session_cancel(LitertLmAsrSession* session);

#ifdef __cplusplus
}
#endif

#endif /* ASR_ASR_H_ */
