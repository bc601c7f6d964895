#ifndef TFLITE_KERNELS_KERNEL_H_
#define TFLITE_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "base/status/status.h"
#include "tflite/op_codes.h"

namespace tflite {

struct OpWeights {
  const std::int8_t* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

template <typename T>
struct Matrix {
  T* data;
  std::size_t rows;
  std::size_t columns;
};

using Activations = Matrix<const std::int32_t>;
using MutableActivations = Matrix<std::int32_t>;

// Integer arithmetic only: one result on every processor.
using Kernel = base::Status (*)(const OpWeights& weights, const Activations& input, const MutableActivations& output);

// The CPU's kernel of an operation; nullptr for FULLY_CONNECTED, which only an accelerator runs.
Kernel FindBuiltinKernel(OpCode code);

}  // namespace tflite

#endif  // TFLITE_KERNELS_KERNEL_H_
