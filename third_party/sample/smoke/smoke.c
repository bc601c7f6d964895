/* smoke HOST MODEL [CORE]: loads the host library at run time (after CORE, globally, where one is given) and walks its C API:
 * settings, engine, session, generate, stream, conversation stream through StreamProxy, embedding, delete.
 *
 * Prints one "name: value" a line for comparison with golden.json. Exits with 0, or with 1 and the reason on stderr.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#include <unistd.h>
#endif

static void* host;

static void fail(const char* what, const char* why) {
  fflush(stdout);
  fprintf(stderr, "smoke: %s: %s\n", what, why != NULL ? why : "?");
  exit(1);
}

static void* load(const char* path) {
#if defined(_WIN32)
  void* library = (void*)LoadLibraryA(path);
  if (library == NULL) fail(path, "LoadLibrary failed");
#else
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) fail(path, dlerror());
#endif
  return library;
}

static void* symbol(const char* name) {
#if defined(_WIN32)
  void* address = (void*)GetProcAddress((HMODULE)host, name);
#else
  void* address = dlsym(host, name);
#endif
  if (address == NULL) fail(name, "the host does not export it");
  return address;
}

static void pause_briefly(void) {
#if defined(_WIN32)
  Sleep(1);
#else
  usleep(1000);
#endif
}

/* Calls an exported function by its type: CALL(int, "name", (void*, int))(object, 3). */
#define CALL(result, name, parameters) ((result(*) parameters)symbol(name))

static void check(const void* object, const char* what) {
  if (object == NULL) fail(what, CALL(const char*, "litert_lm_get_last_error_message", (void))());
}

static void check_ok(int status, const char* what) {
  if (status != 0) fail(what, CALL(const char*, "litert_lm_get_last_error_message", (void))());
}

/* What a client of StreamProxy keeps: the strings, until the stream is over. */
typedef struct {
  char* chunks[64];
  int count;
  char* error;
  atomic_int finished; /* set last, by the thread of the stream */
} Stream;

static void on_chunk(void* data, char* chunk, bool is_final, char* error) {
  Stream* stream = data;
  if (chunk != NULL && stream->count < 64) stream->chunks[stream->count++] = chunk;
  if (error != NULL) stream->error = error;
  if (is_final) stream->finished = 1;
}

typedef void (*upstream_callback)(void);

static void finish(Stream* stream, const char* name) {
  void (*free_string)(char*) = CALL(void, "stream_proxy_free_string", (char*));
  for (int waited = 0; !stream->finished; ++waited) {
    if (waited > 20000) fail(name, "the stream does not end");
    pause_briefly();
  }
  if (stream->error != NULL) fail(name, stream->error);
  printf("%s: ", name);
  for (int i = 0; i < stream->count; ++i) {
    printf("%s", stream->chunks[i]);
    free_string(stream->chunks[i]);
  }
  printf("\n%s chunks: %d\n", name, stream->count);
}

static void* new_proxy(Stream* stream, upstream_callback* callback) {
  void* (*create)(void (*)(void*, char*, bool, char*), void*, upstream_callback*) =
      CALL(void*, "stream_proxy_create", (void (*)(void*, char*, bool, char*), void*, upstream_callback*));
  if (create(NULL, stream, callback) != NULL || create(on_chunk, stream, NULL) != NULL) fail("stream_proxy_create", "accepts NULL");
  void* proxy = create(on_chunk, stream, callback);
  check(proxy, "stream_proxy_create");
  return proxy;
}

static void walk_session(void* engine) {
  static const char prompt[] = "the river carries a question";
  Stream stream = {0};
  upstream_callback callback;
  void* input = CALL(void*, "litert_lm_input_data_create", (int, const void*, size_t))(0, prompt, sizeof prompt - 1);
  void* session = CALL(void*, "litert_lm_engine_create_session", (void*, void*))(engine, NULL);
  check(session, "litert_lm_engine_create_session");
  void* responses = CALL(void*, "litert_lm_session_generate_content", (void*, void**, size_t))(session, &input, 1);
  check(responses, "litert_lm_session_generate_content");
  printf("text: %s\n", CALL(const char*, "litert_lm_responses_get_response_text_at", (void*, int))(responses, 0));
  CALL(void, "litert_lm_responses_delete", (void*))(responses);
  CALL(void, "litert_lm_session_delete", (void*))(session);

  void* params = CALL(void*, "litert_lm_sampler_params_create", (int))(1);
  CALL(void, "litert_lm_sampler_params_set_seed", (void*, int32_t))(params, 7);
  void* config = CALL(void*, "litert_lm_session_config_create", (void))();
  CALL(void, "litert_lm_session_config_set_sampler_params", (void*, void*))(config, params);
  CALL(void, "litert_lm_session_config_set_max_output_tokens", (void*, int))(config, 5);
  session = CALL(void*, "litert_lm_engine_create_session", (void*, void*))(engine, config);
  check(session, "litert_lm_engine_create_session");
  void* proxy = new_proxy(&stream, &callback);
  check_ok(CALL(int, "litert_lm_session_generate_content_stream", (void*, void**, size_t, upstream_callback, void*))(session, &input, 1, callback, proxy),
           "litert_lm_session_generate_content_stream");
  finish(&stream, "sampled");
  CALL(void, "litert_lm_session_delete", (void*))(session);
  CALL(void, "stream_proxy_delete", (void*))(proxy);
  CALL(void, "litert_lm_session_config_delete", (void*))(config);
  CALL(void, "litert_lm_sampler_params_delete", (void*))(params);
  CALL(void, "litert_lm_input_data_delete", (void*))(input);
}

static void walk_conversation(void* engine) {
  Stream stream = {0};
  upstream_callback callback;
  void* conversation = CALL(void*, "litert_lm_conversation_create", (void*, void*))(engine, NULL);
  check(conversation, "litert_lm_conversation_create");
  void* proxy = new_proxy(&stream, &callback);
  check_ok(CALL(int, "litert_lm_conversation_send_message_stream", (void*, const char*, const char*, void*, upstream_callback, void*))(
               conversation, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Why does the wind turn?\"}]}", NULL, NULL, callback, proxy),
           "litert_lm_conversation_send_message_stream");
  finish(&stream, "conversation");
  CALL(void, "litert_lm_conversation_delete", (void*))(conversation);
  CALL(void, "stream_proxy_delete", (void*))(proxy);
}

static void walk_embedding(void* engine, const char* name, const char* text) {
  float embedding[64];
  size_t size = 0;
  check_ok(CALL(int, "litert_lm_engine_compute_embedding", (void*, const char*, float*, size_t, size_t*))(engine, text, embedding, 64, &size),
           "litert_lm_engine_compute_embedding");
  printf("%s: ", name);
  for (size_t i = 0; i < size; ++i) {
    uint32_t bits;
    memcpy(&bits, &embedding[i], sizeof bits);
    printf("%08x", (unsigned)bits);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: smoke HOST MODEL [CORE]\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IONBF, 0); /* what was reached is known even after a crash */
  if (argc == 4) load(argv[3]);
  host = load(argv[1]);
  printf("link mode: %s\n", CALL(const char*, "litert_lm_get_core_link_mode", (void))());
  printf("callback abi: %d\n", (int)CALL(int32_t, "stream_proxy_callback_abi_version", (void))());

  void* settings = CALL(void*, "litert_lm_engine_settings_create", (const char*, const char*, const char*, const char*))(argv[2], "gpu", NULL, NULL);
  check(settings, "litert_lm_engine_settings_create");
  void* engine = CALL(void*, "litert_lm_engine_create", (void*))(settings);
  check(engine, "litert_lm_engine_create");
  CALL(void, "litert_lm_engine_settings_delete", (void*))(settings);
  printf("accelerator: %s\n", CALL(const char*, "litert_lm_engine_get_accelerator_name", (void*))(engine));
  printf("sampler: %s\n", CALL(const char*, "litert_lm_get_sampler_name", (void))());

  walk_session(engine);
  walk_conversation(engine);
  walk_embedding(engine, "embedding", "the quiet river");
  walk_embedding(engine, "embedding of other words", "Grüße aus Köln, 42 times");
  walk_embedding(engine, "embedding of nothing", "");
  CALL(void, "litert_lm_engine_delete", (void*))(engine);
  printf("deleted\n");
  return 0;
}
