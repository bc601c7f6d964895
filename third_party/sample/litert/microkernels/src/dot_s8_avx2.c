#include <immintrin.h>
#include <string.h>

#include "ukernels/dot.h"

UKERNEL_DOT_S8(avx2) {
  __m256i sums = _mm256_setzero_si256();
  for (size_t i = 0; i < count; i += 4) {
    int32_t packed;
    memcpy(&packed, a + i, sizeof packed);
    const __m256i left = _mm256_cvtepi8_epi64(_mm_cvtsi32_si128(packed));
    const __m256i right = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i*)(const void*)(b + i)));
    sums = _mm256_add_epi64(sums, _mm256_mul_epi32(left, right));
  }
  int64_t lanes[4];
  _mm256_storeu_si256((__m256i*)(void*)lanes, sums);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
