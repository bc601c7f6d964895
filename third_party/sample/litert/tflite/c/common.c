#include "tflite/c/common.h"

bool TfLiteDimensionIsValid(int64_t dimension) { return dimension >= 4 && dimension <= 1024 && dimension % 4 == 0; }

int32_t TfLiteSaturate(int64_t value) {
  if (value > TFLITE_ACTIVATION_MAX) return TFLITE_ACTIVATION_MAX;
  if (value < -TFLITE_ACTIVATION_MAX) return -TFLITE_ACTIVATION_MAX;
  return (int32_t)value;
}
