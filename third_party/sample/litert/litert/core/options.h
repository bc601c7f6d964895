// The C++ object behind a LiteRtOptions handle.
//
// The core creates, reads and destroys it, yet C++ callers write external_weights themselves (litert_cc/options.h). Both
// sides must therefore agree on what an std::unordered_map is, which holds only where they share one C++ runtime.
#ifndef LITERT_CORE_OPTIONS_H_
#define LITERT_CORE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "litert/c/litert_options.h"

namespace litert {

// A matrix of 8 bit weights, row by row, that somebody else owns.
struct WeightView {
  const std::int8_t* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

using ExternalWeights = std::unordered_map<std::string, WeightView>;

}  // namespace litert

struct LiteRtOptionsT {
  LiteRtHwAccelerators accelerators = kLiteRtHwAcceleratorNone;
  litert::ExternalWeights external_weights;
  std::int64_t cache_key = 0;
  std::int64_t max_tokens = 0;
};

#endif  // LITERT_CORE_OPTIONS_H_
