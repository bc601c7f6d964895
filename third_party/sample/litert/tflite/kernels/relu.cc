#include "tflite/kernels/builtin_kernels.h"

namespace tflite {

// Leaky: negative values keep an eighth.
base::Status Relu(const OpWeights&, const Activations& input, const MutableActivations& output) {
  for (std::size_t i = 0; i < input.rows * input.columns; ++i) output.data[i] = input.data[i] < 0 ? input.data[i] / 8 : input.data[i];
  return base::OkStatus();
}

}  // namespace tflite
