#ifndef LITERT_RUNTIME_ACCELERATORS_GPU_REGISTRY_H_
#define LITERT_RUNTIME_ACCELERATORS_GPU_REGISTRY_H_

#include <cstddef>

#include "litert/runtime/accelerators/accelerator.h"

namespace litert {

// The accelerators that this process can use: those that registered themselves.
class GpuRegistry {
 public:
  GpuRegistry();
  std::size_t size() const { return size_; }
  const Accelerator& at(std::size_t index) const;

 private:
  std::size_t size_;
};

}  // namespace litert

#endif  // LITERT_RUNTIME_ACCELERATORS_GPU_REGISTRY_H_
