/* Generates a text with the host library of a bundle: consumer MODEL PROMPT [BACKEND] */

#include <c/engine.h>
#include <stdio.h>
#include <string.h>

static int fail(const char* what) {
  fprintf(stderr, "%s failed: %s\n", what, litert_lm_get_last_error_message());
  return 1;
}

static int generate(LiteRtLmEngine* engine, const char* prompt) {
  LiteRtLmSession* session = litert_lm_engine_create_session(engine, NULL);
  if (session == NULL) return fail("litert_lm_engine_create_session");
  LiteRtLmInputData* input = litert_lm_input_data_create(kLiteRtLmInputDataTypeText, prompt, strlen(prompt));
  const LiteRtLmInputData* inputs[] = {input};
  LiteRtLmResponses* responses = litert_lm_session_generate_content(session, inputs, 1);
  if (responses != NULL) printf("%s\n", litert_lm_responses_get_response_text_at(responses, 0));
  int status = responses != NULL ? 0 : fail("litert_lm_session_generate_content");
  litert_lm_responses_delete(responses);
  litert_lm_input_data_delete(input);
  litert_lm_session_delete(session);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: consumer MODEL PROMPT [BACKEND]\n");
    return 2;
  }
  litert_lm_set_min_log_level(4);
  const char* backend = argc == 4 ? argv[3] : "gpu";
  LiteRtLmEngineSettings* settings = litert_lm_engine_settings_create(argv[1], backend, NULL, NULL);
  if (settings == NULL) return fail("litert_lm_engine_settings_create");
  LiteRtLmEngine* engine = litert_lm_engine_create(settings);
  litert_lm_engine_settings_delete(settings);
  if (engine == NULL) return fail("litert_lm_engine_create");
  int status = generate(engine, argv[2]);
  litert_lm_engine_delete(engine);
  return status;
}
