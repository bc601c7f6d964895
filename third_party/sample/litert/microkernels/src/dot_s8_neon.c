#include <arm_neon.h>

#include "ukernels/dot.h"

UKERNEL_DOT_S8(neon) {
  int64x2_t sums = vdupq_n_s64(0);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const int16x8_t left = vmovl_s8(vld1_s8(a + i));
    const int32x4_t low = vmulq_s32(vmovl_s16(vget_low_s16(left)), vld1q_s32(b + i));
    const int32x4_t high = vmulq_s32(vmovl_s16(vget_high_s16(left)), vld1q_s32(b + i + 4));
    sums = vpadalq_s32(vpadalq_s32(sums, low), high);
  }
  return vgetq_lane_s64(sums, 0) + vgetq_lane_s64(sums, 1) + ukernel_dot_s8_scalar(a + i, b + i, count - i);
}
