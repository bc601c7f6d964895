/* What upstream throws or returns comes out as a status. The pipeline is upstream/omni/asr: the model's path says what goes wrong. */
#include "asr/asr.h"

#include "check.h"

static void expect(const char* fault, LitertLmAsrStatus status, const char* message) {
  LitertLmAsrConfig config;
  LitertLmAsrEngine* engine = NULL;
  char* error = NULL;
  litert_lm_asr_config_init(&config);
  config.model_path = fault;
  config.tokenizer_path = "words";
  const LitertLmAsrStatus found = litert_lm_asr_engine_create(&config, &engine, &error);
  if (found != status || error == NULL || strstr(error, message) == NULL || engine != NULL) {
    fprintf(stderr, "%s: status %d, message %s\n", fault, found, error != NULL ? error : "NULL");
    exit(1);
  }
  litert_lm_asr_free_string(error);
}

int main(void) {
  static const int canonical[][2] = {{1, LITERT_LM_ASR_STATUS_CANCELLED},         {2, LITERT_LM_ASR_STATUS_INTERNAL},
                                     {3, LITERT_LM_ASR_STATUS_INVALID_ARGUMENT},  {5, LITERT_LM_ASR_STATUS_NOT_FOUND},
                                     {6, LITERT_LM_ASR_STATUS_ALREADY_EXISTS},    {8, LITERT_LM_ASR_STATUS_RESOURCE_EXHAUSTED},
                                     {9, LITERT_LM_ASR_STATUS_FAILED_PRECONDITION}, {11, LITERT_LM_ASR_STATUS_OUT_OF_RANGE},
                                     {13, LITERT_LM_ASR_STATUS_INTERNAL},         {14, LITERT_LM_ASR_STATUS_UNAVAILABLE}};
  char fault[32];
  for (size_t i = 0; i < sizeof canonical / sizeof *canonical; ++i) {
    snprintf(fault, sizeof fault, "status %d", canonical[i][0]);
    expect(fault, (LitertLmAsrStatus)canonical[i][1], fault);
  }
  expect("throw memory", LITERT_LM_ASR_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  expect("throw error", LITERT_LM_ASR_STATUS_INTERNAL, "thrown by the pipeline");
  expect("throw number", LITERT_LM_ASR_STATUS_INTERNAL, "unknown exception");
#ifdef LATER
  expect("qwen.litertlm", LITERT_LM_ASR_STATUS_FAILED_PRECONDITION, "decoder 3");
#else
  expect("qwen.litertlm", LITERT_LM_ASR_STATUS_FAILED_PRECONDITION, "decoder 1"); /* the default: there is none of its own */
#endif

  LitertLmAsrConfig config;
  LitertLmAsrEngine* engine = NULL;
  LitertLmAsrSession* session = NULL;
  LitertLmAsrResult result;
  char* error = NULL;
  float samples[1600] = {0};
  size_t accepted = 0;
  litert_lm_asr_config_init(&config);
  config.model_path = config.tokenizer_path = "good";
  config.input_milliseconds = 100;
  CHECK(litert_lm_asr_engine_create(&config, &engine, NULL) == LITERT_LM_ASR_STATUS_OK);
  CHECK(litert_lm_asr_session_create(engine, &session, NULL) == LITERT_LM_ASR_STATUS_OK);
  litert_lm_asr_engine_delete(engine);
  litert_lm_asr_result_init(&result);
  CHECK(litert_lm_asr_session_push_audio_f32(session, samples, 1600, &accepted, NULL) == LITERT_LM_ASR_STATUS_OK);
  CHECK(litert_lm_asr_session_process_next(session, &result, NULL) == LITERT_LM_ASR_STATUS_OK);
  CHECK(strcmp(result.confirmed_text, "said") == 0 && strcmp(result.unconfirmed_text, "may be") == 0 && result.is_final == 0);
  litert_lm_asr_result_release(&result);
  CHECK(litert_lm_asr_session_push_audio_f32(session, samples, 1600, &accepted, NULL) == LITERT_LM_ASR_STATUS_OK);
  CHECK(litert_lm_asr_session_process_next(session, &result, &error) == LITERT_LM_ASR_STATUS_INTERNAL && strstr(error, "in a window") != NULL);
  litert_lm_asr_free_string(error);
  CHECK(litert_lm_asr_session_finish_audio(session, NULL) == LITERT_LM_ASR_STATUS_OK);
  CHECK(litert_lm_asr_session_process_next(session, &result, NULL) == LITERT_LM_ASR_STATUS_INTERNAL); /* the rest of the audio */
  CHECK(litert_lm_asr_session_process_next(session, &result, NULL) == LITERT_LM_ASR_STATUS_OK); /* NOT_FOUND: a step without text */
  CHECK(result.is_final == 1 && *result.confirmed_text == '\0');
  litert_lm_asr_result_release(&result);
  litert_lm_asr_session_delete(session);
  printf("passed\n");
  return 0;
}
