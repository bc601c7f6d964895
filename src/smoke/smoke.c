/* smoke [--abi=status] [--backend=NAME] [--steps=A,B,...] HOST MODEL [CORE]
 *
 * Loads the host library at run time (after CORE, globally, where one is given) and walks its C API: settings, engine, session,
 * generate, streams and how they end, embedding, threads, speech, delete. Without --steps all of the sample's steps are walked.
 *
 * ABI "pointer" (up to v0.18): what makes an object returns it, or NULL. ABI "status" (from v0.19): it returns 0 or an error's code
 * and writes the object through its last parameter; getters do the same.
 *
 * The speech model lies beside MODEL: tiny.model, tiny.asr, tiny.words.
 *
 * Prints one "name: value" a line for comparison with golden.json. Exits with 0, or with 1 and the reason on stderr.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host.h"
#include "speech.h"

static bool by_status;
static const char* backend = "gpu";
static const char* steps = "about,generate,stream,direct,endings,conversation,embedding,threads,speech";

static bool has_step(const char* name) {
  const size_t size = strlen(name);
  for (const char* at = steps; (at = strstr(at, name)) != NULL; at += size) {
    if ((at == steps || at[-1] == ',') && (at[size] == ',' || at[size] == '\0')) return true;
  }
  return false;
}

static const char* last_error(void) { return CALL(const char*, "litert_lm_get_last_error_message", (void))(); }

static void check_ok(int status, const char* what) {
  if (status != 0) fail(what, last_error());
}

/* MAKE(object, "name", (int, void*), (3, engine)) calls the constructor `name` in the host's ABI. */
#define UNWRAP(...) __VA_ARGS__
#define MAKE(object, name, types, arguments)                                              \
  do {                                                                                    \
    if (by_status) {                                                                      \
      check_ok(CALL(int, name, (UNWRAP types, void**))(UNWRAP arguments, &object), name); \
    } else {                                                                              \
      object = CALL(void*, name, types) arguments;                                        \
    }                                                                                     \
    if (object == NULL) fail(name, last_error());                                         \
  } while (0)

static void delete_object(const char* name, void* object) { CALL(void, name, (void*))(object); }

static void* make_session_config(void) {
  void* config = NULL;
  if (by_status) {
    check_ok(CALL(int, "litert_lm_session_config_create", (void**))(&config), "litert_lm_session_config_create");
  } else {
    config = CALL(void*, "litert_lm_session_config_create", (void))();
  }
  if (config == NULL) fail("litert_lm_session_config_create", last_error());
  return config;
}

static void* make_engine(const char* model, int num_threads) {
  void *settings = NULL, *engine = NULL;
  MAKE(settings, "litert_lm_engine_settings_create", (const char*, const char*, const char*, const char*), (model, backend, NULL, NULL));
  CALL(void, "litert_lm_engine_settings_set_max_num_tokens", (void*, int))(settings, 128);
  if (num_threads > 0) CALL(void, "litert_lm_engine_settings_set_num_threads", (void*, int))(settings, num_threads);
  MAKE(engine, "litert_lm_engine_create", (void*), (settings));
  delete_object("litert_lm_engine_settings_delete", settings);
  return engine;
}

static void* make_input(const char* text) {
  void* input = NULL;
  MAKE(input, "litert_lm_input_data_create", (int, const void*, size_t), (0, text, strlen(text)));
  return input;
}

static const char* response_text(void* responses) {
  const char* text = NULL;
  if (!by_status) return CALL(const char*, "litert_lm_responses_get_response_text_at", (void*, int))(responses, 0);
  check_ok(CALL(int, "litert_lm_responses_get_response_text_at", (void*, size_t, const char**))(responses, 0, &text),
           "litert_lm_responses_get_response_text_at");
  return text;
}

/* What a client keeps of a stream: the strings, until the stream is over, and for cancelling the session that makes it. */
typedef struct {
  char* chunks[64];
  int count;
  char* error;
  void* cancels;       /* the session to cancel at the first chunk */
  atomic_int finished; /* set last, by the thread of the stream */
} Stream;

static void on_chunk(void* data, char* chunk, bool is_final, char* error) {
  Stream* stream = data;
  if (chunk != NULL && stream->count < 64) stream->chunks[stream->count++] = chunk;
  if (error != NULL) stream->error = error;
  if (stream->cancels != NULL && !is_final) CALL(void, "litert_lm_session_cancel_process", (void*))(stream->cancels);
  if (is_final) stream->finished = 1;
}

static char* copy_of(const char* text) {
  char* copy = text != NULL ? malloc(strlen(text) + 1) : NULL;
  return copy != NULL ? strcpy(copy, text) : NULL;
}

/* A client without StreamProxy reads upstream's chunk itself, while the callback runs. */
static void on_upstream_chunk(void* data, const void* chunk) {
  const char *text = NULL, *error = NULL;
  bool is_final = false;
  if (by_status) {
    check_ok(CALL(int, "litert_lm_stream_chunk_get_text", (const void*, const char**))(chunk, &text), "litert_lm_stream_chunk_get_text");
    check_ok(CALL(int, "litert_lm_stream_chunk_is_final", (const void*, bool*))(chunk, &is_final), "litert_lm_stream_chunk_is_final");
    check_ok(CALL(int, "litert_lm_stream_chunk_get_error", (const void*, const char**))(chunk, &error), "litert_lm_stream_chunk_get_error");
  } else {
    text = CALL(const char*, "litert_lm_stream_chunk_get_text", (const void*))(chunk);
    is_final = CALL(bool, "litert_lm_stream_chunk_is_final", (const void*))(chunk);
    error = CALL(const char*, "litert_lm_stream_chunk_get_error", (const void*))(chunk);
  }
  on_chunk(data, copy_of(text), is_final, copy_of(error));
}

typedef void (*upstream_callback)(void);

/* Waits on this thread, then reads what the stream's thread got: upstream has freed its own strings by then. `free_string` frees
 * the client's. */
static void finish(Stream* stream, const char* name, void (*free_string)(char*), bool may_fail) {
  for (int waited = 0; !stream->finished; ++waited) {
    if (waited > 20000) fail(name, "the stream does not end");
    pause_briefly();
  }
  if (stream->error != NULL && !may_fail) fail(name, stream->error);
  printf("%s: ", name);
  for (int i = 0; i < stream->count; ++i) {
    printf("%s", stream->chunks[i]);
    free_string(stream->chunks[i]);
  }
  printf("\n%s chunks: %d\n", name, stream->count);
  if (may_fail) printf("%s error: %s\n", name, stream->error != NULL ? stream->error : "none");
  if (stream->error != NULL) free_string(stream->error);
}

static void free_copy(char* copy) { free(copy); }

static void* new_proxy(Stream* stream, upstream_callback* callback) {
  void* (*create)(void (*)(void*, char*, bool, char*), void*, upstream_callback*) =
      CALL(void*, "stream_proxy_create", (void (*)(void*, char*, bool, char*), void*, upstream_callback*));
  if (create(NULL, stream, callback) != NULL || create(on_chunk, stream, NULL) != NULL) fail("stream_proxy_create", "accepts NULL");
  void* proxy = create(on_chunk, stream, callback);
  if (proxy == NULL) fail("stream_proxy_create", "returns NULL");
  return proxy;
}

static void stream_session(void* session, const char* prompt, upstream_callback callback, void* data) {
  void* input = make_input(prompt);
  check_ok(CALL(int, "litert_lm_session_generate_content_stream", (void*, void**, size_t, upstream_callback, void*))(session, &input, 1, callback, data),
           "litert_lm_session_generate_content_stream");
  delete_object("litert_lm_input_data_delete", input);
}

static const char prompt[] = "the river carries a question";

static void walk_generate(void* engine) {
  void *session = NULL, *responses = NULL, *input = make_input(prompt);
  MAKE(session, "litert_lm_engine_create_session", (void*, void*), (engine, NULL));
  MAKE(responses, "litert_lm_session_generate_content", (void*, void**, size_t), (session, &input, 1));
  printf("text: %s\n", response_text(responses));
  delete_object("litert_lm_responses_delete", responses);
  delete_object("litert_lm_session_delete", session);
  delete_object("litert_lm_input_data_delete", input);
}

static void walk_stream(void* engine) {
  Stream stream = {0};
  upstream_callback callback;
  void *params = NULL, *session = NULL, *config = make_session_config();
  MAKE(params, "litert_lm_sampler_params_create", (int), (1));
  CALL(void, "litert_lm_sampler_params_set_seed", (void*, int32_t))(params, 7);
  CALL(void, "litert_lm_session_config_set_sampler_params", (void*, void*))(config, params);
  CALL(void, "litert_lm_session_config_set_max_output_tokens", (void*, int))(config, 5);
  MAKE(session, "litert_lm_engine_create_session", (void*, void*), (engine, config));
  void* proxy = new_proxy(&stream, &callback);
  stream_session(session, prompt, callback, proxy);
  finish(&stream, "sampled", CALL(void, "stream_proxy_free_string", (char*)), false);
  delete_object("litert_lm_session_delete", session);
  delete_object("stream_proxy_delete", proxy);
  delete_object("litert_lm_session_config_delete", config);
  delete_object("litert_lm_sampler_params_delete", params);
}

static void walk_direct(void* engine) {
  Stream stream = {0};
  void* session = NULL;
  MAKE(session, "litert_lm_engine_create_session", (void*, void*), (engine, NULL));
  stream_session(session, prompt, (upstream_callback)on_upstream_chunk, &stream);
  finish(&stream, "streamed", free_copy, false);
  delete_object("litert_lm_session_delete", session);
}

/* A stream that is cancelled, and one whose prompt does not fit: both end with a final call that carries an error. */
static void walk_endings(void* engine) {
  static char long_prompt[2048];
  for (size_t i = 0; i + 1 < sizeof long_prompt; ++i) long_prompt[i] = i % 2 == 0 ? 'a' : ' ';
  Stream cancelled = {0}, refused = {0};
  void* session = NULL;
  MAKE(session, "litert_lm_engine_create_session", (void*, void*), (engine, NULL));
  cancelled.cancels = session;
  stream_session(session, prompt, (upstream_callback)on_upstream_chunk, &cancelled);
  finish(&cancelled, "cancelled", free_copy, true);
  delete_object("litert_lm_session_delete", session);
  MAKE(session, "litert_lm_engine_create_session", (void*, void*), (engine, NULL));
  stream_session(session, long_prompt, (upstream_callback)on_upstream_chunk, &refused);
  finish(&refused, "refused", free_copy, true);
  delete_object("litert_lm_session_delete", session);
}

static void walk_conversation(void* engine) {
  Stream stream = {0};
  upstream_callback callback;
  void* conversation = NULL;
  MAKE(conversation, "litert_lm_conversation_create", (void*, void*), (engine, NULL));
  void* proxy = new_proxy(&stream, &callback);
  check_ok(CALL(int, "litert_lm_conversation_send_message_stream", (void*, const char*, const char*, void*, upstream_callback, void*))(
               conversation, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Why does the wind turn?\"}]}", NULL, NULL, callback, proxy),
           "litert_lm_conversation_send_message_stream");
  finish(&stream, "conversation", CALL(void, "stream_proxy_free_string", (char*)), false);
  delete_object("litert_lm_conversation_delete", conversation);
  delete_object("stream_proxy_delete", proxy);
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

/* How many threads an engine of `num_threads` keeps, after it has answered once. */
static int threads_of(const char* model, int num_threads) {
  void* engine = make_engine(model, num_threads);
  void *session = NULL, *responses = NULL, *input = make_input(prompt);
  MAKE(session, "litert_lm_engine_create_session", (void*, void*), (engine, NULL));
  MAKE(responses, "litert_lm_session_generate_content", (void*, void**, size_t), (session, &input, 1));
  delete_object("litert_lm_responses_delete", responses);
  const int threads = count_threads();
  delete_object("litert_lm_session_delete", session);
  delete_object("litert_lm_input_data_delete", input);
  delete_object("litert_lm_engine_delete", engine);
  return threads;
}

static void walk_threads(const char* model) {
  const int one = threads_of(model, 1), four = threads_of(model, 4);
  if (one < 0) fail("set_num_threads", "the threads of a process cannot be counted here");
  printf("workers of 4 threads: %d\n", four - one + 1);
}

static void walk_about(void* engine) {
  printf("backend: %s\n", backend);
  printf("link mode: %s\n", CALL(const char*, "litert_lm_get_core_link_mode", (void))());
  printf("callback abi: %d\n", (int)CALL(int32_t, "stream_proxy_callback_abi_version", (void))());
  printf("accelerator: %s\n", CALL(const char*, "litert_lm_engine_get_accelerator_name", (void*))(engine));
  printf("sampler: %s\n", CALL(const char*, "litert_lm_get_sampler_name", (void))());
}

static void walk(const char* model) {
  void* engine = make_engine(model, 0);
  if (has_step("about")) walk_about(engine);
  if (has_step("generate")) walk_generate(engine);
  if (has_step("stream")) walk_stream(engine);
  if (has_step("direct")) walk_direct(engine);
  if (has_step("endings")) walk_endings(engine);
  if (has_step("conversation")) walk_conversation(engine);
  if (has_step("embedding")) {
    walk_embedding(engine, "embedding", "the quiet river");
    walk_embedding(engine, "embedding of other words", "Grüße aus Köln, 42 times");
    walk_embedding(engine, "embedding of nothing", "");
  }
  delete_object("litert_lm_engine_delete", engine);
  if (has_step("threads")) walk_threads(model);
  if (has_step("speech")) walk_speech(model);
  printf("deleted: yes\n");
}

int main(int argc, char** argv) {
  int at = 1;
  for (; at < argc && strncmp(argv[at], "--", 2) == 0; ++at) {
    const char* value = strchr(argv[at], '=');
    if (strcmp(argv[at], "--abi=status") == 0) by_status = true;
    else if (strcmp(argv[at], "--abi=pointer") == 0) by_status = false;
    else if (strncmp(argv[at], "--backend=", 10) == 0) backend = value + 1;
    else if (strncmp(argv[at], "--steps=", 8) == 0) steps = value + 1;
    else break;
  }
  if (argc - at < 2 || argc - at > 3) {
    fprintf(stderr, "usage: smoke [--abi=pointer|status] [--backend=NAME] [--steps=A,B,...] HOST MODEL [CORE]\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IONBF, 0); /* what was reached is known even after a crash */
  if (argc - at == 3) load(argv[at + 2]);
  host = load(argv[at]);
  CALL(void, "litert_lm_set_min_log_level", (int))(4);
  walk(argv[at + 1]);
  return 0;
}
