#include "base/hash/crc32.h"

uint32_t base_crc32(const void* bytes, size_t size) {
  const uint8_t* data = (const uint8_t*)bytes;
  uint32_t remainder = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; ++i) {
    remainder ^= data[i];
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1u) ? BASE_CRC32_POLYNOMIAL : 0u);
    }
  }
  return remainder ^ 0xFFFFFFFFu;
}
