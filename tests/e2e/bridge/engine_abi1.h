/* Upstream's C API as far as the stream proxy knows it, up to v0.14. */
#include <stdbool.h>
typedef void (*LiteRtLmStreamCallback)(void* callback_data, const char* chunk, bool is_final, const char* error_msg);
