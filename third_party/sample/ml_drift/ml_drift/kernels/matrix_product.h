#ifndef ML_DRIFT_KERNELS_MATRIX_PRODUCT_H_
#define ML_DRIFT_KERNELS_MATRIX_PRODUCT_H_

#include <cstdint>

#include "ml_drift/common/task.h"

namespace ml_drift {

// out[row] = the product of row `row` of the task's matrix and `vector`.
void MatrixTimesVector(const Task& task, const std::int8_t* matrix, const std::int32_t* vector, std::int64_t* out);

}  // namespace ml_drift

#endif  // ML_DRIFT_KERNELS_MATRIX_PRODUCT_H_
