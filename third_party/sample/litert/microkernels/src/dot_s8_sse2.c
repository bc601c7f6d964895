#include <emmintrin.h>

#include "ukernels/dot.h"

/* Eight products a step: both sides fit 16 bits, their pairwise sums 32; these are widened before they add up. */
UKERNEL_DOT_S8(sse2) {
  const __m128i zero = _mm_setzero_si128();
  __m128i sums = zero;
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bytes = _mm_loadl_epi64((const __m128i*)(const void*)(a + i));
    const __m128i left = _mm_srai_epi16(_mm_unpacklo_epi8(zero, bytes), 8);
    const __m128i right = _mm_packs_epi32(_mm_loadu_si128((const __m128i*)(const void*)(b + i)), _mm_loadu_si128((const __m128i*)(const void*)(b + i + 4)));
    const __m128i pairs = _mm_madd_epi16(left, right);
    const __m128i signs = _mm_srai_epi32(pairs, 31);
    sums = _mm_add_epi64(sums, _mm_add_epi64(_mm_unpacklo_epi32(pairs, signs), _mm_unpackhi_epi32(pairs, signs)));
  }
  int64_t lanes[2];
  _mm_storeu_si128((__m128i*)(void*)lanes, sums);
  return lanes[0] + lanes[1] + ukernel_dot_s8_scalar(a + i, b + i, count - i);
}
