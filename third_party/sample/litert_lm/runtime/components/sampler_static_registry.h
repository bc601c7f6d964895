#ifndef RUNTIME_COMPONENTS_SAMPLER_STATIC_REGISTRY_H_
#define RUNTIME_COMPONENTS_SAMPLER_STATIC_REGISTRY_H_

#include "runtime/components/sampler.h"

namespace litert::lm {

// Called by static initializers; false where a sampler is registered already.
bool RegisterStaticSampler(const SamplerApi* sampler);

// nullptr where none registered.
const SamplerApi* StaticSampler();

}  // namespace litert::lm

#endif  // RUNTIME_COMPONENTS_SAMPLER_STATIC_REGISTRY_H_
