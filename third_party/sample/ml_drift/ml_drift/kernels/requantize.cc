#include "ml_drift/kernels/requantize.h"

#include "tflite/c/common.h"

namespace ml_drift {

void Requantize(const std::int64_t* sums, std::size_t count, std::int32_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = TfLiteSaturate(sums[i] >> ML_DRIFT_REQUANTIZE_SHIFT);
}

}  // namespace ml_drift
