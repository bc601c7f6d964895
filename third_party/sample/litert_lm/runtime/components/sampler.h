#ifndef RUNTIME_COMPONENTS_SAMPLER_H_
#define RUNTIME_COMPONENTS_SAMPLER_H_

#include <cstddef>
#include <cstdint>

namespace litert::lm {

struct SamplerParams {
  enum class Type : int { kTopK = 1, kTopP = 2, kGreedy = 3 };
  Type type = Type::kGreedy;
  std::int32_t top_k = 4;
  float top_p = 0.95f;
  float temperature = 1.0f;
  std::int32_t seed = 0;
};

// A sampler as a table of functions, so that it can register itself without being named.
struct SamplerApi {
  const char* name;
  void* (*create)(const SamplerParams& params);
  void (*destroy)(void* sampler);
  bool (*can_handle_input)(std::size_t logit_count);
  std::int32_t (*sample_to_id)(void* sampler, const std::int64_t* logits, std::size_t count);
};

}  // namespace litert::lm

#endif  // RUNTIME_COMPONENTS_SAMPLER_H_
