#include "ml_drift/delegate/webgpu_delegate.h"

#include <vector>

#include "base/log/log.h"
#include "ml_drift/delegate/shader_cache.h"
#include "ml_drift/kernels/matrix_product.h"
#include "ml_drift/kernels/requantize.h"

namespace ml_drift {
namespace {

base::Status FullyConnected(const tflite::OpWeights& weights, const tflite::Activations& input, const tflite::MutableActivations& output) {
  static ShaderCache* const cache = new ShaderCache;  // never destroyed: threads may outlive the statics
  if (weights.columns != static_cast<std::int64_t>(input.columns) || weights.rows != static_cast<std::int64_t>(output.columns)) {
    return base::InvalidArgumentError("FULLY_CONNECTED: the weights do not fit the activations");
  }
  bool compiled = false;
  const Task task = cache->Get({weights.rows, weights.columns}, &compiled);
  if (compiled) base::Log(base::Severity::kDebug, "compiled FULLY_CONNECTED " + Describe(task));
  std::vector<std::int64_t> sums(output.columns);
  for (std::size_t row = 0; row < input.rows; ++row) {
    MatrixTimesVector(task, weights.data, input.data + row * input.columns, sums.data());
    Requantize(sums.data(), sums.size(), output.data + row * output.columns);
  }
  return base::OkStatus();
}

}  // namespace

tflite::Kernel WebGpuKernel(tflite::OpCode code) { return code == tflite::OpCode::kFULLY_CONNECTED ? &FullyConnected : nullptr; }

}  // namespace ml_drift
