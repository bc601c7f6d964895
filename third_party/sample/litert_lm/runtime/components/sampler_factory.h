#ifndef RUNTIME_COMPONENTS_SAMPLER_FACTORY_H_
#define RUNTIME_COMPONENTS_SAMPLER_FACTORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status/statusor.h"
#include "runtime/components/sampler.h"

namespace litert::lm {

class Sampler {
 public:
  Sampler(const SamplerApi* api, void* instance) : api_(api), instance_(instance) {}
  ~Sampler() { api_->destroy(instance_); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  std::int32_t Sample(const std::vector<std::int64_t>& logits) { return api_->sample_to_id(instance_, logits.data(), logits.size()); }

 private:
  const SamplerApi* api_;
  void* instance_;
};

// FAILED_PRECONDITION where no sampler is part of this binary.
base::StatusOr<std::unique_ptr<Sampler>> CreateSampler(const SamplerParams& params, std::size_t logit_count);

}  // namespace litert::lm

#endif  // RUNTIME_COMPONENTS_SAMPLER_FACTORY_H_
