#ifndef BASE_HASH_CRC32_H_
#define BASE_HASH_CRC32_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CRC-32 of ISO 3309, as zlib computes it, over `size` bytes. */
uint32_t base_crc32(const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* BASE_HASH_CRC32_H_ */
