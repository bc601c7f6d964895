#include "tflite/kernels/builtin_kernels.h"

namespace tflite {

base::Status MeanPool(const OpWeights&, const Activations& input, const MutableActivations& output) {
  if (input.rows == 0) return base::InvalidArgumentError("nothing to pool");
  for (std::size_t i = 0; i < output.columns; ++i) {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < input.rows; ++row) sum += input.data[row * input.columns + i];
    output.data[i] = static_cast<std::int32_t>(sum / static_cast<std::int64_t>(input.rows));
  }
  return base::OkStatus();
}

}  // namespace tflite
