#ifndef LITERT_RUNTIME_ACCELERATORS_ACCELERATOR_H_
#define LITERT_RUNTIME_ACCELERATORS_ACCELERATOR_H_

#include "tflite/kernels/kernel.h"

namespace litert {

// Plain data, so that an accelerator can describe itself in a constant.
struct Accelerator {
  const char* name;
  // The accelerator's kernel of an operation, nullptr where it leaves it to the CPU.
  tflite::Kernel (*find_kernel)(tflite::OpCode code);
};

}  // namespace litert

#endif  // LITERT_RUNTIME_ACCELERATORS_ACCELERATOR_H_
