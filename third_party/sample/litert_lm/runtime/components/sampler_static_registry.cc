#include "runtime/components/sampler_static_registry.h"

namespace litert::lm {
namespace {
constinit const SamplerApi* registered = nullptr;
}  // namespace

bool RegisterStaticSampler(const SamplerApi* sampler) {
  if (registered != nullptr) return false;
  registered = sampler;
  return true;
}

const SamplerApi* StaticSampler() { return registered; }

}  // namespace litert::lm
