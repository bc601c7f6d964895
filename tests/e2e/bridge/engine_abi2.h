/* From v0.15 (getters return) and, with CHUNK_STATUS, from v0.19 (getters return a status). */
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct LiteRtLmStreamChunk LiteRtLmStreamChunk;
typedef void (*LiteRtLmStreamCallback)(void* callback_data, const LiteRtLmStreamChunk* chunk);
#ifdef CHUNK_STATUS
typedef enum { kLiteRtLmOk = 0 } LiteRtLmStatusCode;
LiteRtLmStatusCode litert_lm_stream_chunk_get_text(const LiteRtLmStreamChunk* chunk, const char** text);
LiteRtLmStatusCode litert_lm_stream_chunk_is_final(const LiteRtLmStreamChunk* chunk, bool* is_final);
LiteRtLmStatusCode litert_lm_stream_chunk_get_error(const LiteRtLmStreamChunk* chunk, const char** error);
#else
const char* litert_lm_stream_chunk_get_text(const LiteRtLmStreamChunk* chunk);
bool litert_lm_stream_chunk_is_final(const LiteRtLmStreamChunk* chunk);
const char* litert_lm_stream_chunk_get_error(const LiteRtLmStreamChunk* chunk);
#endif
#ifdef __cplusplus
}
#endif
