#include "ukernels/dot.h"

#if defined(__x86_64__) && UKERNELS_ENABLE_AVX2
#include <cpuid.h>

/* AVX2 in the processor, and its registers saved by the operating system (XCR0 bits 1 and 2). */
static int has_avx2(void) {
  unsigned eax, ebx, ecx, edx, low, high;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 27))) return 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6u) != 6u) return 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & (1u << 5));
}
#endif

ukernel_dot_s8_fn ukernel_select_dot_s8(void) {
#if defined(__x86_64__) && UKERNELS_ENABLE_AVX2
  if (has_avx2()) return &ukernel_dot_s8_avx2;
#endif
#if defined(__x86_64__)
  return &ukernel_dot_s8_sse2;
#elif defined(__aarch64__)
  return &ukernel_dot_s8_neon;
#else
  return &ukernel_dot_s8_scalar;
#endif
}
