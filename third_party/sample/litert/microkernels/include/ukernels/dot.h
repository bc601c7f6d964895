#ifndef UKERNELS_DOT_H_
#define UKERNELS_DOT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The sum of a[i] * b[i] over `count` values; `count` is a multiple of 4, |b[i]| < 32768. All variants agree on every bit. */
typedef int64_t (*ukernel_dot_s8_fn)(const int8_t* a, const int32_t* b, size_t count);

#define UKERNEL_DOT_S8(variant) int64_t ukernel_dot_s8_##variant(const int8_t* a, const int32_t* b, size_t count)

UKERNEL_DOT_S8(scalar);
UKERNEL_DOT_S8(sse2);
UKERNEL_DOT_S8(avx2);
UKERNEL_DOT_S8(neon);

/* The best variant of the processor that this runs on. */
ukernel_dot_s8_fn ukernel_select_dot_s8(void);

#ifdef __cplusplus
}
#endif

#endif /* UKERNELS_DOT_H_ */
