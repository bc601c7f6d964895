/* A host that answers every prompt with "a b", in one of two ABIs, with one fault.
 *
 * -DBY_STATUS: what makes an object or gets something returns a status. Faults: -DNO_GENERATE (a function is not exported),
 * -DCRASHES (in generate), -DHANGS (in generate), -DENDLESS (a stream without a final chunk), -DFAILS (engine_create gives an error),
 * -DWRONG (another text), -DEXITS (generate ends the process).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

typedef struct {
  const char* text;
  bool is_final;
} Chunk;
typedef void (*Callback)(void* data, const Chunk* chunk);

static int object;
#ifdef WRONG
static const char text[] = "a c";
#else
static const char text[] = "a b";
#endif

#ifdef BY_STATUS
#define MAKES(name, ...) API int name(__VA_ARGS__, void** out) { *out = &object; return 0; }
#else
#define MAKES(name, ...) API void* name(__VA_ARGS__) { return &object; }
#endif
#define DELETES(name) API void name(void* unused) { (void)unused; }
#pragma GCC diagnostic ignored "-Wunused-parameter"

API const char* litert_lm_get_last_error_message(void) { return "NOT_FOUND: the model has no weights"; }
API void litert_lm_set_min_log_level(int level) {}
MAKES(litert_lm_engine_settings_create, const char* a, const char* b, const char* c, const char* d)
API void litert_lm_engine_settings_set_max_num_tokens(void* settings, int number) {}
API void litert_lm_engine_settings_set_num_threads(void* settings, int number) {} /* and runs on one */
MAKES(litert_lm_engine_create_session, void* engine, void* config)
MAKES(litert_lm_input_data_create, int kind, const void* data, size_t size)
DELETES(litert_lm_engine_settings_delete)
DELETES(litert_lm_engine_delete)
DELETES(litert_lm_session_delete)
DELETES(litert_lm_input_data_delete)
DELETES(litert_lm_responses_delete)

#if !defined(FAILS)
MAKES(litert_lm_engine_create, void* settings)
#elif defined(BY_STATUS)
API int litert_lm_engine_create(void* settings, void** out) { return 5; }
#else
API void* litert_lm_engine_create(void* settings) { return NULL; }
#endif

#ifndef NO_GENERATE
static void misbehave(void) {
#if defined(CRASHES)
  *(volatile int*)0 = 1;
#elif defined(HANGS)
  for (;;) sleep(1);
#elif defined(EXITS)
  _exit(7);
#endif
}
#ifdef BY_STATUS
API int litert_lm_session_generate_content(void* session, void** inputs, size_t count, void** out) {
  misbehave();
  *out = &object;
  return 0;
}
#else
API void* litert_lm_session_generate_content(void* session, void** inputs, size_t count) {
  misbehave();
  return &object;
}
#endif
#endif

#ifdef BY_STATUS
API int litert_lm_responses_get_response_text_at(void* responses, size_t index, const char** out) { return *out = text, 0; }
API int litert_lm_stream_chunk_get_text(const Chunk* chunk, const char** out) { return *out = chunk->text, 0; }
API int litert_lm_stream_chunk_is_final(const Chunk* chunk, bool* out) { return *out = chunk->is_final, 0; }
API int litert_lm_stream_chunk_get_error(const Chunk* chunk, const char** out) { return *out = NULL, 0; }
#else
API const char* litert_lm_responses_get_response_text_at(void* responses, int index) { return text; }
API const char* litert_lm_stream_chunk_get_text(const Chunk* chunk) { return chunk->text; }
API bool litert_lm_stream_chunk_is_final(const Chunk* chunk) { return chunk->is_final; }
API const char* litert_lm_stream_chunk_get_error(const Chunk* chunk) { return NULL; }
#endif

API int litert_lm_session_generate_content_stream(void* session, void** inputs, size_t count, Callback callback, void* data) {
  const Chunk word = {text, false}, end = {NULL, true};
  callback(data, &word);
#ifndef ENDLESS
  callback(data, &end);
#endif
  (void)end;
  return 0;
}
