#ifndef LITERT_RUNTIME_ACCELERATORS_GPU_STATIC_REGISTRY_H_
#define LITERT_RUNTIME_ACCELERATORS_GPU_STATIC_REGISTRY_H_

#include <cstddef>

#include "litert/runtime/accelerators/accelerator.h"

namespace litert {

inline constexpr std::size_t kMaxStaticAccelerators = 4;

// Called by static initializers; returns the accelerator's place, from 1, or 0 where the registry is full.
std::size_t RegisterStaticGpuAccelerator(const Accelerator* accelerator);
std::size_t StaticGpuAcceleratorCount();
const Accelerator* StaticGpuAccelerator(std::size_t index);

}  // namespace litert

#endif  // LITERT_RUNTIME_ACCELERATORS_GPU_STATIC_REGISTRY_H_
