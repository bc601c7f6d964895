#include "litert/runtime/accelerators/gpu_registry.h"

#include "base/log/log.h"
#include "litert/runtime/accelerators/gpu_static_registry.h"
#include "third_party/odml/litert/litert/build_common/build_config.h"

namespace litert {

GpuRegistry::GpuRegistry() : size_(LITERT_BUILD_CPU_ONLY ? 0 : StaticGpuAcceleratorCount()) {
  if (size_ == 0) base::Log(base::Severity::kWarning, "no GPU accelerator is registered in this binary");
}

const Accelerator& GpuRegistry::at(std::size_t index) const { return *StaticGpuAccelerator(index); }

}  // namespace litert
