/* The walk of the speech functions (src/bridge/asr): presets, a full queue, windows, the end, reset and cancel. */
#ifndef SMOKE_SPEECH_H_
#define SMOKE_SPEECH_H_

#include <stdint.h>
#include <string.h>

#include "asr/asr.h"
#include "host.h"

enum { SPEECH_RATE = 16000, SPEECH_SECONDS = 8 };

/* Four words and a pause: a loudness every two seconds, in multiples of 1/64, which every processor holds exactly. */
static void speak(float* samples) {
  static const int loudness[SPEECH_SECONDS / 2] = {12, 0, 40, 63};
  for (int i = 0; i < SPEECH_RATE * SPEECH_SECONDS; ++i) {
    const float level = (float)loudness[i / (2 * SPEECH_RATE)] / 64.0f;
    samples[i] = i % 2 == 0 ? level : -level;
  }
}

static void check_speech(LitertLmAsrStatus status, LitertLmAsrStatus wanted, const char* what, const char* error) {
  char text[128];
  if (status == wanted) return;
  snprintf(text, sizeof text, "status %d instead of %d: %s", (int)status, (int)wanted, error != NULL ? error : "no message");
  fail(what, text);
}

static void* make_speech_engine(const char* model, int input_milliseconds) {
  char path[2][1024], *error = NULL;
  LitertLmAsrConfig config;
  void* engine = NULL;
  const size_t stem = strlen(model) - strlen(strrchr(model, '.') != NULL ? strrchr(model, '.') : "");
  snprintf(path[0], sizeof path[0], "%.*s.asr", (int)stem, model);
  snprintf(path[1], sizeof path[1], "%.*s.words", (int)stem, model);
  CALL(void, "litert_lm_asr_config_init", (LitertLmAsrConfig*))(&config);
  config.model_path = path[0];
  config.tokenizer_path = path[1];
  config.input_milliseconds = input_milliseconds;
  config.max_buffered_audio_milliseconds = 2 * input_milliseconds;
  LitertLmAsrStatus (*create)(const LitertLmAsrConfig*, void**, char**) =
      CALL(LitertLmAsrStatus, "litert_lm_asr_engine_create", (const LitertLmAsrConfig*, void**, char**));
  check_speech(create(&config, &engine, &error), LITERT_LM_ASR_STATUS_OK, "litert_lm_asr_engine_create", error);
  config.model_path = "absent.asr";
  void* none = NULL;
  check_speech(create(&config, &none, &error), LITERT_LM_ASR_STATUS_NOT_FOUND, "litert_lm_asr_engine_create", error);
  if (none != NULL || error == NULL) fail("litert_lm_asr_engine_create", "an absent model gives an engine, or no message");
  CALL(void, "litert_lm_asr_free_string", (char*))(error);
  return engine;
}

/* Pushes all samples, processing a window whenever the queue is full, and prints what is heard until the end. */
static void hear(void* session, const float* samples, size_t count) {
  LitertLmAsrResult result;
  LitertLmAsrStatus status = LITERT_LM_ASR_STATUS_OK;
  char* error = NULL;
  size_t pushed = 0, accepted = 0;
  int windows = 0, full = 0;
  printf("speech: ");
  while (status != LITERT_LM_ASR_STATUS_END_OF_STREAM) {
    if (pushed < count) {
      status = CALL(LitertLmAsrStatus, "litert_lm_asr_session_push_audio_f32", (void*, const float*, size_t, size_t*, char**))(
          session, samples + pushed, count - pushed, &accepted, &error);
      check_speech(status, accepted == count - pushed ? LITERT_LM_ASR_STATUS_OK : LITERT_LM_ASR_STATUS_WOULD_BLOCK, "push", error);
      full += status == LITERT_LM_ASR_STATUS_WOULD_BLOCK;
      pushed += accepted;
      if (pushed == count) CALL(LitertLmAsrStatus, "litert_lm_asr_session_finish_audio", (void*, char**))(session, &error);
    }
    CALL(void, "litert_lm_asr_result_init", (LitertLmAsrResult*))(&result);
    status = CALL(LitertLmAsrStatus, "litert_lm_asr_session_process_next", (void*, LitertLmAsrResult*, char**))(session, &result, &error);
    if (status == LITERT_LM_ASR_STATUS_END_OF_STREAM) break;
    check_speech(status, LITERT_LM_ASR_STATUS_OK, "process_next", error);
    windows += !result.is_final;
    printf("%s%s[%s]", windows > 1 || result.is_final ? "|" : "", result.confirmed_text, result.unconfirmed_text);
    CALL(void, "litert_lm_asr_result_release", (LitertLmAsrResult*))(&result);
  }
  printf("\nspeech windows: %d\nspeech queue full: %d\n", windows, full);
}

static void walk_speech(const char* model) {
  static float samples[SPEECH_RATE * SPEECH_SECONDS];
  char* error = NULL;
  LitertLmAsrResult result;
  void* session = NULL;
  if (CALL(uint32_t, "litert_lm_asr_abi_version", (void))() != LITERT_LM_ASR_ABI_VERSION) fail("litert_lm_asr_abi_version", "is not 1");
  if (CALL(size_t, "litert_lm_asr_config_size", (void))() != sizeof(LitertLmAsrConfig)) fail("litert_lm_asr_config_size", "differs from asr.h");
  if (CALL(size_t, "litert_lm_asr_result_size", (void))() != sizeof(LitertLmAsrResult)) fail("litert_lm_asr_result_size", "differs from asr.h");
  speak(samples);
  void* engine = make_speech_engine(model, 1000);
  check_speech(CALL(LitertLmAsrStatus, "litert_lm_asr_session_create", (void*, void**, char**))(engine, &session, &error), LITERT_LM_ASR_STATUS_OK,
               "litert_lm_asr_session_create", error);
  CALL(void, "litert_lm_asr_engine_delete", (void*))(engine); /* the session outlives it */
  hear(session, samples, SPEECH_RATE * SPEECH_SECONDS);
  LitertLmAsrStatus (*process)(void*, LitertLmAsrResult*, char**) =
      CALL(LitertLmAsrStatus, "litert_lm_asr_session_process_next", (void*, LitertLmAsrResult*, char**));
  CALL(void, "litert_lm_asr_result_init", (LitertLmAsrResult*))(&result);
  CALL(LitertLmAsrStatus, "litert_lm_asr_session_reset", (void*, char**))(session, &error);
  check_speech(process(session, &result, &error), LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO, "process_next after reset", error);
  CALL(LitertLmAsrStatus, "litert_lm_asr_session_cancel", (void*))(session);
  check_speech(process(session, &result, &error), LITERT_LM_ASR_STATUS_CANCELLED, "process_next after cancel", error);
  CALL(void, "litert_lm_asr_free_string", (char*))(error);
  CALL(void, "litert_lm_asr_session_delete", (void*))(session);
}

#endif /* SMOKE_SPEECH_H_ */
