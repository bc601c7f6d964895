#include "base/strings/str_cat.h"
#include "tflite/kernels/builtin_kernels.h"

namespace tflite {

// Row `token` of the table, scaled by the position: the last tokens weigh most.
base::Status EmbeddingLookup(const OpWeights& weights, const Activations& input, const MutableActivations& output) {
  for (std::size_t position = 0; position < input.rows; ++position) {
    const std::int32_t token = input.data[position];
    if (token < 0 || token >= weights.rows) return base::InvalidArgumentError(base::StrCat("token ", token, " is not in the table"));
    const std::int8_t* row = weights.data + token * weights.columns;
    const std::int32_t scale = static_cast<std::int32_t>(16 + 64 / (input.rows - position));
    for (std::size_t i = 0; i < output.columns; ++i) output.data[position * output.columns + i] = row[i] * scale;
  }
  return base::OkStatus();
}

}  // namespace tflite
