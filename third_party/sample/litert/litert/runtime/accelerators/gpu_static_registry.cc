#include "litert/runtime/accelerators/gpu_static_registry.h"

namespace litert {
namespace {

// Zero-initialized before any dynamic initializer runs.
constinit const Accelerator* accelerators[kMaxStaticAccelerators] = {};
constinit std::size_t count = 0;

}  // namespace

std::size_t RegisterStaticGpuAccelerator(const Accelerator* accelerator) {
  if (count == kMaxStaticAccelerators) return 0;
  accelerators[count] = accelerator;
  return ++count;
}

std::size_t StaticGpuAcceleratorCount() { return count; }

const Accelerator* StaticGpuAccelerator(std::size_t index) { return accelerators[index]; }

}  // namespace litert
