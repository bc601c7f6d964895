/* StreamProxy between an upstream that frees its strings when the callback returns, on a thread of its own, and a client that reads
 * what it got later, on another thread. The headers of upstream are engine_abi1.h or engine_abi2.h. */
#include "stream_proxy/stream_proxy.h"

#include <pthread.h>

#include "c/engine.h"
#include "check.h"

/* ---- upstream */
#ifdef LITERT_LM_STREAM_CHUNK_API
struct LiteRtLmStreamChunk {
  char* text;
  bool is_final;
  char* error;
};
#ifdef CHUNK_STATUS
LiteRtLmStatusCode litert_lm_stream_chunk_get_text(const LiteRtLmStreamChunk* chunk, const char** text) { return *text = chunk->text, kLiteRtLmOk; }
LiteRtLmStatusCode litert_lm_stream_chunk_is_final(const LiteRtLmStreamChunk* chunk, bool* is_final) {
  return *is_final = chunk->is_final, kLiteRtLmOk;
}
LiteRtLmStatusCode litert_lm_stream_chunk_get_error(const LiteRtLmStreamChunk* chunk, const char** error) {
  return *error = chunk->error, kLiteRtLmOk;
}
#else
const char* litert_lm_stream_chunk_get_text(const LiteRtLmStreamChunk* chunk) { return chunk->text; }
bool litert_lm_stream_chunk_is_final(const LiteRtLmStreamChunk* chunk) { return chunk->is_final; }
const char* litert_lm_stream_chunk_get_error(const LiteRtLmStreamChunk* chunk) { return chunk->error; }
#endif
#endif

typedef struct {
  StreamProxyUpstreamCallback callback;
  void* data;
  const char* error; /* how the stream ends */
} Upstream;

static char* own(const char* text) { return text != NULL ? strcpy(malloc(strlen(text) + 1), text) : NULL; }

static void emit(const Upstream* upstream, const char* text, bool is_final, const char* error) {
  char *own_text = own(text), *own_error = own(error);
#ifdef LITERT_LM_STREAM_CHUNK_API
  LiteRtLmStreamChunk* chunk = malloc(sizeof *chunk);
  *chunk = (LiteRtLmStreamChunk){own_text, is_final, own_error};
  upstream->callback(upstream->data, chunk);
  free(chunk);
#else
  upstream->callback(upstream->data, own_text, is_final, own_error);
#endif
  if (own_text != NULL) memset(own_text, '#', strlen(own_text));
  free(own_text);
  free(own_error);
}

static void* run_stream(void* data) {
  const Upstream* upstream = data;
  emit(upstream, "one", false, NULL);
  emit(upstream, "", false, NULL);
  emit(upstream, "Gr\xC3\xBC\xC3\x9F" "e", false, NULL);
  emit(upstream, NULL, true, upstream->error);
  return NULL;
}

/* ---- the client: its callback posts a message, the main thread reads it */
typedef struct {
  char *chunk, *error;
  bool is_final;
} Message;

typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  Message messages[8];
  int posted;
} Mailbox;

static void on_chunk(void* data, char* chunk, bool is_final, char* error) {
  Mailbox* mailbox = data;
  pthread_mutex_lock(&mailbox->mutex);
  mailbox->messages[mailbox->posted++] = (Message){chunk, error, is_final};
  pthread_cond_signal(&mailbox->changed);
  pthread_mutex_unlock(&mailbox->mutex);
}

static void test_stream(const char* ends_with) {
  static const char* const texts[] = {"one", "", "Gr\xC3\xBC\xC3\x9F" "e"};
  Mailbox mailbox = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  Upstream upstream = {NULL, NULL, ends_with};
  pthread_t thread;
  upstream.data = stream_proxy_create(on_chunk, &mailbox, &upstream.callback);
  CHECK(upstream.data != NULL && upstream.callback != NULL);
  pthread_create(&thread, NULL, run_stream, &upstream);
  pthread_mutex_lock(&mailbox.mutex);
  while (mailbox.posted == 0 || !mailbox.messages[mailbox.posted - 1].is_final) pthread_cond_wait(&mailbox.changed, &mailbox.mutex);
  pthread_mutex_unlock(&mailbox.mutex);
  pthread_join(thread, NULL); /* upstream has freed everything */
  stream_proxy_delete(upstream.data);
  CHECK(mailbox.posted == 4);
  for (int i = 0; i < 3; ++i) {
    CHECK(strcmp(mailbox.messages[i].chunk, texts[i]) == 0 && mailbox.messages[i].error == NULL && !mailbox.messages[i].is_final);
    stream_proxy_free_string(mailbox.messages[i].chunk);
  }
  CHECK(mailbox.messages[3].chunk == NULL && mailbox.messages[3].is_final);
  CHECK(ends_with == NULL ? mailbox.messages[3].error == NULL : strcmp(mailbox.messages[3].error, ends_with) == 0);
  stream_proxy_free_string(mailbox.messages[3].error);
}

int main(void) {
  StreamProxyUpstreamCallback callback = NULL;
#ifdef LITERT_LM_STREAM_CHUNK_API
  CHECK(stream_proxy_callback_abi_version() == 2);
#else
  CHECK(stream_proxy_callback_abi_version() == 1);
#endif
  CHECK(stream_proxy_create(NULL, NULL, &callback) == NULL && callback == NULL);
  CHECK(stream_proxy_create(on_chunk, NULL, NULL) == NULL);
  stream_proxy_delete(NULL);
  stream_proxy_free_string(NULL);
  CHECK(stream_proxy_load_global(NULL) == NULL && stream_proxy_load_global("absent.so") == NULL);
  test_stream(NULL);
  test_stream("CANCELLED: cancelled");
  printf("passed\n");
  return 0;
}
