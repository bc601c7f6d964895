#include "stream_proxy/stream_proxy.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include "c/engine.h"

static_assert(std::is_same_v<StreamProxyUpstreamCallback, LiteRtLmStreamCallback>,
              "the ref's callback has another ABI: set or remove the define litert_lm_stream_chunk_api in its lock");

namespace {

struct StreamProxy {
  StreamProxyCallback callback;
  void* data;
};

char* Copy(const char* string) {
  if (string == nullptr) return nullptr;
  const std::size_t size = std::strlen(string) + 1;
  char* copy = static_cast<char*>(std::malloc(size));
  if (copy != nullptr) std::memcpy(copy, string, size);
  return copy;
}

void PassOn(const StreamProxy* proxy, const char* chunk, bool is_final, const char* error) {
  proxy->callback(proxy->data, Copy(chunk), is_final, Copy(error));
}

#ifdef LITERT_LM_STREAM_CHUNK_API
// A field of a chunk by upstream's getter, which returns it, or (from v0.19) a status and the field through a pointer.
template <typename Field>
Field Get(Field (*getter)(const LiteRtLmStreamChunk*), const LiteRtLmStreamChunk* chunk) {
  return getter(chunk);
}

template <typename Status, typename Field>
Field Get(Status (*getter)(const LiteRtLmStreamChunk*, Field*), const LiteRtLmStreamChunk* chunk) {
  Field field = {};
  getter(chunk, &field);
  return field;
}

void OnChunk(void* proxy, const LiteRtLmStreamChunk* chunk) {
  PassOn(static_cast<const StreamProxy*>(proxy), Get(&litert_lm_stream_chunk_get_text, chunk), Get(&litert_lm_stream_chunk_is_final, chunk),
         Get(&litert_lm_stream_chunk_get_error, chunk));
}
#else
void OnChunk(void* proxy, const char* chunk, bool is_final, const char* error) {
  PassOn(static_cast<const StreamProxy*>(proxy), chunk, is_final, error);
}
#endif

}  // namespace

int32_t stream_proxy_callback_abi_version() {
#ifdef LITERT_LM_STREAM_CHUNK_API
  return 2;
#else
  return 1;
#endif
}

void* stream_proxy_load_global(const char* path) {
  if (path == nullptr) return nullptr;
#ifdef _WIN32
  // LoadLibraryA would read the path in the ANSI code page, which cannot name every file.
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
  if (length <= 0) return nullptr;
  wchar_t* wide = static_cast<wchar_t*>(std::malloc(static_cast<std::size_t>(length) * sizeof(wchar_t)));
  if (wide == nullptr) return nullptr;
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, length);
  void* library = reinterpret_cast<void*>(LoadLibraryW(wide));
  std::free(wide);
  return library;
#else
  return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
#endif
}

void* stream_proxy_create(StreamProxyCallback callback, void* data, StreamProxyUpstreamCallback* out_proxy) {
  if (callback == nullptr || out_proxy == nullptr) return nullptr;
  StreamProxy* proxy = new (std::nothrow) StreamProxy{callback, data};
  if (proxy != nullptr) *out_proxy = &OnChunk;
  return proxy;
}

void stream_proxy_delete(void* proxy) { delete static_cast<StreamProxy*>(proxy); }

void stream_proxy_free_string(char* string) { std::free(string); }
