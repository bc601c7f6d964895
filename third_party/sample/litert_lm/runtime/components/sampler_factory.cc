#include "runtime/components/sampler_factory.h"

#include "base/log/log.h"
#include "runtime/components/sampler_static_registry.h"

namespace litert::lm {

base::StatusOr<std::unique_ptr<Sampler>> CreateSampler(const SamplerParams& params, std::size_t logit_count) {
  const SamplerApi* api = StaticSampler();
  if (api == nullptr) {
    const base::Status status = base::FailedPreconditionError("no sampler is registered in this binary");
    base::Log(base::Severity::kError, status.message());
    return status;
  }
  if (!api->can_handle_input(logit_count)) return base::InvalidArgumentError("the sampler does not take so many logits");
  return std::make_unique<Sampler>(api, api->create(params));
}

}  // namespace litert::lm
