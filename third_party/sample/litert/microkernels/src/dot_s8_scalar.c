#include "ukernels/dot.h"

UKERNEL_DOT_S8(scalar) {
  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += (int64_t)a[i] * b[i];
  return sum;
}
