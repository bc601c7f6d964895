/* StreamProxy: streams for clients whose callbacks run later than upstream's.
 *
 * Upstream frees the strings of a stream chunk as soon as its callback returns. A client that only posts a message from there
 * (a Dart isolate, a game engine's main loop) needs strings of its own: the proxy stands between, copies them, and the client
 * frees each with stream_proxy_free_string. Functions may be called from any thread.
 */
#ifndef STREAM_PROXY_STREAM_PROXY_H_
#define STREAM_PROXY_STREAM_PROXY_H_

#include <stdbool.h>
#include <stdint.h>

#if defined(_WIN32)
#define STREAM_PROXY_EXPORT __declspec(dllexport)
#else
#define STREAM_PROXY_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The client's callback. `chunk` and `error` are the client's to free; either is NULL where upstream gave none or memory ran
 * out while it was copied. */
typedef void (*StreamProxyCallback)(void* data, char* chunk, bool is_final, char* error);

/* Upstream's callback, as litert_lm_*_stream takes it: with strings (ABI 1), with a chunk object (ABI 2, from v0.15). */
#ifdef LITERT_LM_STREAM_CHUNK_API
struct LiteRtLmStreamChunk;
typedef void (*StreamProxyUpstreamCallback)(void* callback_data, const struct LiteRtLmStreamChunk* chunk);
#else
typedef void (*StreamProxyUpstreamCallback)(void* callback_data, const char* chunk, bool is_final, const char* error_msg);
#endif

/* The ABI of StreamProxyUpstreamCallback in this library: 1 or 2. */
STREAM_PROXY_EXPORT int32_t stream_proxy_callback_abi_version(void);

/* Loads a library and makes its symbols visible to libraries that are loaded later, so that GPU plug-ins find the host's.
 * `path` is UTF-8 on every platform. Returns the library's handle, or NULL. */
STREAM_PROXY_EXPORT void* stream_proxy_load_global(const char* path);

/* Makes a proxy that calls `callback` with `data`, and writes the function to pass to upstream, with the proxy as its
 * callback_data, to `*out_proxy`. Returns NULL where `callback` or `out_proxy` is NULL. */
STREAM_PROXY_EXPORT void* stream_proxy_create(StreamProxyCallback callback, void* data, StreamProxyUpstreamCallback* out_proxy);

/* Deletes a proxy; only after the final call of its stream. NULL is ignored. */
STREAM_PROXY_EXPORT void stream_proxy_delete(void* proxy);

/* Frees a string that a StreamProxyCallback got. NULL is ignored. */
STREAM_PROXY_EXPORT void stream_proxy_free_string(char* string);

#ifdef __cplusplus
}
#endif

#endif /* STREAM_PROXY_STREAM_PROXY_H_ */
