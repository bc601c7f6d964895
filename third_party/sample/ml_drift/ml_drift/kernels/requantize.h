#ifndef ML_DRIFT_KERNELS_REQUANTIZE_H_
#define ML_DRIFT_KERNELS_REQUANTIZE_H_

#include <cstddef>
#include <cstdint>

namespace ml_drift {

// Sums back to activations: divided by 2^ML_DRIFT_REQUANTIZE_SHIFT (towards minus infinity) and limited.
void Requantize(const std::int64_t* sums, std::size_t count, std::int32_t* out);

}  // namespace ml_drift

#endif  // ML_DRIFT_KERNELS_REQUANTIZE_H_
