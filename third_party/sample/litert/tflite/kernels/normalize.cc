#include "tflite/c/common.h"
#include "tflite/kernels/builtin_kernels.h"

namespace tflite {

// Scales every row so that its largest magnitude is 4096.
base::Status Normalize(const OpWeights&, const Activations& input, const MutableActivations& output) {
  for (std::size_t row = 0; row < input.rows; ++row) {
    const std::int32_t* from = input.data + row * input.columns;
    std::int64_t largest = 1;
    for (std::size_t i = 0; i < input.columns; ++i) {
      const std::int64_t magnitude = from[i] < 0 ? -std::int64_t{from[i]} : from[i];
      if (magnitude > largest) largest = magnitude;
    }
    for (std::size_t i = 0; i < input.columns; ++i) output.data[row * output.columns + i] = TfLiteSaturate(std::int64_t{from[i]} * 4096 / largest);
  }
  return base::OkStatus();
}

}  // namespace tflite
