/* The speech bridge over the sample's pipeline, as a C client meets it. argv: model, words. */
#include "asr/asr.h"

#include <pthread.h>
#include <stddef.h>

#include "check.h"

_Static_assert(sizeof(void*) == 8, "the layout below is that of 64 bits");
_Static_assert(sizeof(LitertLmAsrConfig) == 128, "config");
_Static_assert(offsetof(LitertLmAsrConfig, struct_size) == 0 && offsetof(LitertLmAsrConfig, abi_version) == 4, "size and version come first");
_Static_assert(offsetof(LitertLmAsrConfig, model_name) == 8 && offsetof(LitertLmAsrConfig, tokenizer_path) == 24, "paths");
_Static_assert(offsetof(LitertLmAsrConfig, sample_rate_hz) == 32 && offsetof(LitertLmAsrConfig, decoder_type) == 48, "audio");
_Static_assert(offsetof(LitertLmAsrConfig, num_threads) == 60 && offsetof(LitertLmAsrConfig, overlap_ratio) == 64, "threads");
_Static_assert(offsetof(LitertLmAsrConfig, has_log_mel_config) == 68 && offsetof(LitertLmAsrConfig, log_mel_norm_type) == 96, "log mel");
_Static_assert(offsetof(LitertLmAsrConfig, decode_start_token_id) == 100 && offsetof(LitertLmAsrConfig, blank_token_id) == 120, "tokens");
_Static_assert(sizeof(LitertLmAsrResult) == 32, "result");
_Static_assert(offsetof(LitertLmAsrResult, confirmed_text) == 8 && offsetof(LitertLmAsrResult, unconfirmed_text) == 16, "texts");
_Static_assert(offsetof(LitertLmAsrResult, is_final) == 24, "final");
_Static_assert(sizeof(LitertLmAsrStatus) == 4 && LITERT_LM_ASR_STATUS_WOULD_BLOCK == 12, "status codes");

enum { RATE = 16000, WINDOW = RATE / 10, STEP = 960 }; /* 100 ms, 40 % of which the next window hears again */

static const char *model, *words;

static LitertLmAsrConfig config_of(void) {
  LitertLmAsrConfig config;
  litert_lm_asr_config_init(&config);
  config.model_path = model;
  config.tokenizer_path = words;
  config.input_milliseconds = 100;
  config.max_buffered_audio_milliseconds = 200;
  return config;
}

static LitertLmAsrSession* new_session(void) {
  const LitertLmAsrConfig config = config_of();
  LitertLmAsrEngine* engine = NULL;
  LitertLmAsrSession* session = NULL;
  char* error = NULL;
  CHECK(litert_lm_asr_engine_create(&config, &engine, &error) == LITERT_LM_ASR_STATUS_OK && error == NULL);
  CHECK(litert_lm_asr_session_create(engine, &session, &error) == LITERT_LM_ASR_STATUS_OK && error == NULL);
  litert_lm_asr_engine_delete(engine); /* every session of this test outlives its engine */
  return session;
}

static void expect_refusal(LitertLmAsrStatus found, LitertLmAsrStatus wanted, char* error, const char* text) {
  if (found != wanted || error == NULL || strstr(error, text) == NULL) {
    fprintf(stderr, "status %d instead of %d, message %s instead of %s\n", found, wanted, error != NULL ? error : "NULL", text);
    exit(1);
  }
  litert_lm_asr_free_string(error);
}

/* `call` writes the message to `error`. */
#define EXPECT_REFUSAL(call, wanted, error, text)      \
  do {                                                 \
    const LitertLmAsrStatus found = call;              \
    expect_refusal(found, wanted, error, text);        \
  } while (0)

static void test_sizes_and_defaults(void) {
  LitertLmAsrConfig config;
  CHECK(litert_lm_asr_abi_version() == 1);
  CHECK(litert_lm_asr_config_size() == sizeof(LitertLmAsrConfig) && litert_lm_asr_result_size() == sizeof(LitertLmAsrResult));
  memset(&config, 0xAA, sizeof config);
  litert_lm_asr_config_init(&config);
  CHECK(config.struct_size == sizeof config && config.abi_version == 1);
  CHECK(config.model_name == NULL && config.model_path == NULL && config.sample_rate_hz == 16000 && config.num_channels == 1);
  CHECK(config.num_threads == 4 && config.decode_stop_token_id == -1 && config.has_log_mel_config == 0);
  litert_lm_asr_config_init(NULL);
  litert_lm_asr_result_init(NULL);
  litert_lm_asr_result_release(NULL);
  litert_lm_asr_free_string(NULL);
  litert_lm_asr_engine_delete(NULL);
  litert_lm_asr_session_delete(NULL);
}

static void test_presets(void) {
  static const struct {
    const char* name;
    int decoder, milliseconds, n_mels, start;
  } rows[] = {{"parakeet-tdt-0.6b-v3", LITERT_LM_ASR_DECODER_TDT, 5000, 128, 8192},
              {"parakeet-ctc-0.6b", LITERT_LM_ASR_DECODER_CTC, 5000, 80, -1},
              {"moonshine-tiny", LITERT_LM_ASR_DECODER_STATELESS, 5000, 0, 1},
              {"whisper-tiny", LITERT_LM_ASR_DECODER_STATELESS, 30000, 80, 50258},
              {"qwen3-asr-0.6b", LITERT_LM_ASR_DECODER_STATELESS, 5000, 128, 198}};
  LitertLmAsrConfig config;
  for (int i = 0; i < 5; ++i) {
    CHECK(litert_lm_asr_config_init_for_model_preset(&config, (LitertLmAsrModelPreset)(i + 1)) == LITERT_LM_ASR_STATUS_OK);
    CHECK(strcmp(config.model_name, rows[i].name) == 0 && (int)config.decoder_type == rows[i].decoder);
    CHECK(config.input_milliseconds == rows[i].milliseconds && config.max_buffered_audio_milliseconds >= config.input_milliseconds);
    CHECK(config.has_log_mel_config == (rows[i].n_mels != 0) && (rows[i].n_mels == 0 || config.log_mel_n_mels == rows[i].n_mels));
    CHECK(config.decode_start_token_id == rows[i].start);
  }
  config.sample_rate_hz = 7;
  CHECK(litert_lm_asr_config_init_for_model_preset(&config, (LitertLmAsrModelPreset)6) == LITERT_LM_ASR_STATUS_INVALID_ARGUMENT);
  CHECK(litert_lm_asr_config_init_for_model_preset(&config, (LitertLmAsrModelPreset)0) == LITERT_LM_ASR_STATUS_INVALID_ARGUMENT);
  CHECK(config.sample_rate_hz == 7);
  CHECK(litert_lm_asr_config_init_for_model_preset(NULL, LITERT_LM_ASR_MODEL_PRESET_WHISPER_TINY) == LITERT_LM_ASR_STATUS_INVALID_ARGUMENT);
}

static void refuse_config(const LitertLmAsrConfig* config, LitertLmAsrStatus status, const char* text) {
  LitertLmAsrEngine* engine = (LitertLmAsrEngine*)config;
  char* error = NULL;
  EXPECT_REFUSAL(litert_lm_asr_engine_create(config, &engine, &error), status, error, text);
  CHECK(engine == NULL);
  CHECK(litert_lm_asr_engine_create(config, &engine, NULL) == status); /* who wants no message gets none */
}

#define REFUSE(field, value, status, text) \
  do {                                     \
    LitertLmAsrConfig c = config_of();     \
    c.field = value;                       \
    refuse_config(&c, status, text);       \
  } while (0)
#define INVALID(field, value, text) REFUSE(field, value, LITERT_LM_ASR_STATUS_INVALID_ARGUMENT, text)

static void test_bad_configurations(void) {
  char* error = NULL;
  const LitertLmAsrConfig good = config_of();
  EXPECT_REFUSAL(litert_lm_asr_engine_create(&good, NULL, &error), LITERT_LM_ASR_STATUS_INVALID_ARGUMENT, error, "out_engine is NULL");
  refuse_config(NULL, LITERT_LM_ASR_STATUS_INVALID_ARGUMENT, "config is NULL");
  INVALID(struct_size, sizeof(LitertLmAsrConfig) - 1, "struct_size");
  INVALID(abi_version, 0, "abi_version");
  INVALID(model_path, NULL, "model_path is empty");
  INVALID(tokenizer_path, "", "tokenizer_path is empty");
  INVALID(sample_rate_hz, 0, "sample_rate_hz");
  INVALID(num_channels, 2, "mono");
  INVALID(input_milliseconds, 0, "input_milliseconds");
  INVALID(input_milliseconds, 2147483647, "input_milliseconds");
  INVALID(max_buffered_audio_milliseconds, 99, "no window would ever be complete");
  INVALID(decoder_type, (LitertLmAsrDecoderType)3, "decoder_type");
  INVALID(backend, (LitertLmAsrBackend)7, "backend");
  INVALID(text_merger_type, (LitertLmAsrTextMergerType)2, "text_merger_type");
  INVALID(num_threads, 0, "num_threads");
  INVALID(overlap_ratio, 1.0f, "overlap_ratio");
  INVALID(overlap_ratio, 0.0f / 0.0f, "overlap_ratio");
  REFUSE(model_path, "absent.asr", LITERT_LM_ASR_STATUS_NOT_FOUND, "absent.asr");
  REFUSE(model_path, words, LITERT_LM_ASR_STATUS_INVALID_ARGUMENT, "no speech model");
  REFUSE(backend, LITERT_LM_ASR_BACKEND_NPU, LITERT_LM_ASR_STATUS_FAILED_PRECONDITION, "no NPU");
  LitertLmAsrConfig c = config_of();
  c.has_log_mel_config = 1;
  c.log_mel_hop_length = 0;
  refuse_config(&c, LITERT_LM_ASR_STATUS_INVALID_ARGUMENT, "log-mel");
}

static void test_a_later_client_is_served(void) {
  struct {
    LitertLmAsrConfig config;
    char later[64];
  } client = {config_of(), ""};
  LitertLmAsrEngine* engine = NULL;
  client.config.struct_size = sizeof client;
  client.config.abi_version = 2;
  CHECK(litert_lm_asr_engine_create(&client.config, &engine, NULL) == LITERT_LM_ASR_STATUS_OK);
  litert_lm_asr_engine_delete(engine);
}

static void test_null_arguments(void) {
  LitertLmAsrSession* session = (LitertLmAsrSession*)&model;
  LitertLmAsrResult result;
  float sample = 0;
  size_t accepted = 7;
  char* error = NULL;
  litert_lm_asr_result_init(&result);
  const LitertLmAsrStatus invalid = LITERT_LM_ASR_STATUS_INVALID_ARGUMENT;
  EXPECT_REFUSAL(litert_lm_asr_session_create(NULL, &session, &error), invalid, error, "engine is NULL");
  CHECK(session == NULL);
  session = new_session();
  EXPECT_REFUSAL(litert_lm_asr_session_push_audio_f32(NULL, &sample, 1, &accepted, &error), invalid, error, "session is NULL");
  CHECK(accepted == 0);
  EXPECT_REFUSAL(litert_lm_asr_session_push_audio_f32(session, NULL, 1, &accepted, &error), invalid, error, "samples is NULL");
  EXPECT_REFUSAL(litert_lm_asr_session_push_audio_f32(session, &sample, 1, NULL, &error), invalid, error, "out_accepted_samples");
  CHECK(litert_lm_asr_session_push_audio_f32(session, NULL, 0, &accepted, &error) == LITERT_LM_ASR_STATUS_OK && accepted == 0);
  EXPECT_REFUSAL(litert_lm_asr_session_finish_audio(NULL, &error), invalid, error, "session is NULL");
  EXPECT_REFUSAL(litert_lm_asr_session_process_next(NULL, &result, &error), invalid, error, "session is NULL");
  EXPECT_REFUSAL(litert_lm_asr_session_process_next(session, NULL, &error), invalid, error, "out_result is NULL");
  result.struct_size = 8;
  EXPECT_REFUSAL(litert_lm_asr_session_process_next(session, &result, &error), invalid, error, "struct_size");
  EXPECT_REFUSAL(litert_lm_asr_session_reset(NULL, &error), invalid, error, "session is NULL");
  CHECK(litert_lm_asr_session_cancel(NULL) == invalid);
  litert_lm_asr_session_delete(session);
}

/* Loudness in 64ths: 12 is the second word of eight, 40 the fifth. */
static size_t push(LitertLmAsrSession* session, int loudness, size_t count, LitertLmAsrStatus wanted) {
  static float samples[4 * WINDOW];
  size_t accepted = 0;
  CHECK(count <= sizeof samples / sizeof *samples);
  for (size_t i = 0; i < count; ++i) samples[i] = (float)loudness / 64.0f;
  CHECK(litert_lm_asr_session_push_audio_f32(session, samples, count, &accepted, NULL) == wanted);
  return accepted;
}

static void expect_text(LitertLmAsrSession* session, const char* confirmed, const char* unconfirmed, int is_final) {
  LitertLmAsrResult result;
  litert_lm_asr_result_init(&result);
  CHECK(litert_lm_asr_session_process_next(session, &result, NULL) == LITERT_LM_ASR_STATUS_OK);
  if (strcmp(result.confirmed_text, confirmed) != 0 || strcmp(result.unconfirmed_text, unconfirmed) != 0 || result.is_final != is_final) {
    fprintf(stderr, "heard '%s' '%s' %d instead of '%s' '%s' %d\n", result.confirmed_text, result.unconfirmed_text, result.is_final, confirmed,
            unconfirmed, is_final);
    exit(1);
  }
  litert_lm_asr_result_release(&result);
  CHECK(result.confirmed_text == NULL && result.unconfirmed_text == NULL && result.struct_size == sizeof result);
  litert_lm_asr_result_release(&result);
}

static LitertLmAsrStatus next_status(LitertLmAsrSession* session) {
  LitertLmAsrResult result;
  litert_lm_asr_result_init(&result);
  const LitertLmAsrStatus status = litert_lm_asr_session_process_next(session, &result, NULL);
  litert_lm_asr_result_release(&result);
  return status;
}

static void test_queue_and_windows(void) {
  LitertLmAsrSession* session = new_session();
  CHECK(next_status(session) == LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO);
  CHECK(push(session, 12, WINDOW - 1, LITERT_LM_ASR_STATUS_OK) == WINDOW - 1);
  CHECK(next_status(session) == LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO);
  CHECK(push(session, 12, 1, LITERT_LM_ASR_STATUS_OK) == 1);
  CHECK(push(session, 40, 2 * WINDOW, LITERT_LM_ASR_STATUS_WOULD_BLOCK) == WINDOW);
  CHECK(push(session, 40, 1, LITERT_LM_ASR_STATUS_WOULD_BLOCK) == 0);
  expect_text(session, "wind", "", 0);
  CHECK(push(session, 40, 2 * WINDOW, LITERT_LM_ASR_STATUS_WOULD_BLOCK) == STEP); /* a step has made room */
  expect_text(session, "quiet", "", 0); /* from 960 to 2560: quiet comes at 1600, before the overlap at 1920 */
  expect_text(session, "", "", 0);
  CHECK(next_status(session) == LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO);
  litert_lm_asr_session_delete(session);
}

static void test_end_and_reset(void) {
  LitertLmAsrSession* session = new_session();
  char* error = NULL;
  float sample = 0;
  size_t accepted = 1;
  CHECK(push(session, 12, WINDOW, LITERT_LM_ASR_STATUS_OK) == WINDOW);
  CHECK(push(session, 0, 320, LITERT_LM_ASR_STATUS_OK) == 320); /* heard in the overlap of the second window */
  CHECK(push(session, 40, 160, LITERT_LM_ASR_STATUS_OK) == 160);
  CHECK(litert_lm_asr_session_finish_audio(session, &error) == LITERT_LM_ASR_STATUS_OK);
  CHECK(litert_lm_asr_session_finish_audio(session, &error) == LITERT_LM_ASR_STATUS_OK);
  EXPECT_REFUSAL(litert_lm_asr_session_push_audio_f32(session, &sample, 1, &accepted, &error), LITERT_LM_ASR_STATUS_FAILED_PRECONDITION, error,
                 "reset the session");
  CHECK(accepted == 0);
  expect_text(session, "wind", "", 0);
  expect_text(session, "", "quiet", 0); /* filled up with silence; quiet comes in its overlap */
  expect_text(session, "quiet", "", 1);
  CHECK(next_status(session) == LITERT_LM_ASR_STATUS_END_OF_STREAM);
  CHECK(next_status(session) == LITERT_LM_ASR_STATUS_END_OF_STREAM);
  CHECK(litert_lm_asr_session_reset(session, &error) == LITERT_LM_ASR_STATUS_OK);
  CHECK(next_status(session) == LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO);
  CHECK(litert_lm_asr_session_finish_audio(session, &error) == LITERT_LM_ASR_STATUS_OK);
  expect_text(session, "", "", 1); /* a stream without audio ends at once */
  litert_lm_asr_session_delete(session);
}

static void test_cancel(void) {
  LitertLmAsrSession* session = new_session();
  size_t accepted = 1;
  float sample = 0;
  char* error = NULL;
  LitertLmAsrResult result;
  litert_lm_asr_result_init(&result);
  push(session, 12, WINDOW, LITERT_LM_ASR_STATUS_OK);
  CHECK(litert_lm_asr_session_cancel(session) == LITERT_LM_ASR_STATUS_OK);
  EXPECT_REFUSAL(litert_lm_asr_session_process_next(session, &result, &error), LITERT_LM_ASR_STATUS_CANCELLED, error, "cancelled");
  EXPECT_REFUSAL(litert_lm_asr_session_push_audio_f32(session, &sample, 1, &accepted, &error), LITERT_LM_ASR_STATUS_CANCELLED, error, "cancelled");
  CHECK(litert_lm_asr_session_reset(session, NULL) == LITERT_LM_ASR_STATUS_OK);
  CHECK(next_status(session) == LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO); /* what was queued is forgotten */
  push(session, 12, WINDOW, LITERT_LM_ASR_STATUS_OK);
  expect_text(session, "wind", "", 0);
  litert_lm_asr_session_delete(session);
}

static void* speak(void* session) {
  float samples[500];
  size_t pushed = 0, accepted = 0;
  for (int i = 0; i < 500; ++i) samples[i] = 0.625f;
  while (pushed < 200 * WINDOW) {
    const LitertLmAsrStatus status = litert_lm_asr_session_push_audio_f32(session, samples, 500, &accepted, NULL);
    if (status == LITERT_LM_ASR_STATUS_CANCELLED) return NULL;
    CHECK(status == LITERT_LM_ASR_STATUS_OK || status == LITERT_LM_ASR_STATUS_WOULD_BLOCK);
    pushed += accepted;
  }
  litert_lm_asr_session_finish_audio(session, NULL);
  return NULL;
}

static void* cancel_session(void* session) {
  litert_lm_asr_session_cancel(session);
  return NULL;
}

/* A thread pushes while this one processes, and a third cancels after `cancel_after` windows (0: never). */
static void hear_from_thread(int cancel_after) {
  LitertLmAsrSession* session = new_session();
  pthread_t speaker, canceller;
  LitertLmAsrStatus status;
  int windows = 0;
  pthread_create(&speaker, NULL, speak, session);
  do {
    status = next_status(session);
    windows += status == LITERT_LM_ASR_STATUS_OK;
    if (cancel_after > 0 && windows == cancel_after) {
      pthread_create(&canceller, NULL, cancel_session, session);
      pthread_join(canceller, NULL);
      cancel_after = -1;
    }
  } while (status == LITERT_LM_ASR_STATUS_OK || status == LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO);
  pthread_join(speaker, NULL);
  CHECK(status == (cancel_after == 0 ? LITERT_LM_ASR_STATUS_END_OF_STREAM : LITERT_LM_ASR_STATUS_CANCELLED));
  CHECK(cancel_after != 0 || windows > 200 * WINDOW / STEP);
  litert_lm_asr_session_delete(session);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  model = argv[1];
  words = argv[2];
  test_sizes_and_defaults();
  test_presets();
  test_bad_configurations();
  test_a_later_client_is_served();
  test_null_arguments();
  test_queue_and_windows();
  test_end_and_reset();
  test_cancel();
  hear_from_thread(0);
  hear_from_thread(5);
  printf("passed\n");
  return 0;
}
