#include "ml_drift/kernels/matrix_product.h"

#include "ukernels/dot.h"

namespace ml_drift {

void MatrixTimesVector(const Task& task, const std::int8_t* matrix, const std::int32_t* vector, std::int64_t* out) {
  const ukernel_dot_s8_fn dot = ukernel_select_dot_s8();
  for (std::int64_t group = 0; group < task.groups(); ++group) {
    const std::int64_t begin = group * task.rows_per_group;
    const std::int64_t end = begin + task.rows_per_group < task.shape.height ? begin + task.rows_per_group : task.shape.height;
    for (std::int64_t row = begin; row < end; ++row) {
      out[row] = dot(matrix + row * task.shape.width, vector, static_cast<std::size_t>(task.shape.width));
    }
  }
}

}  // namespace ml_drift
