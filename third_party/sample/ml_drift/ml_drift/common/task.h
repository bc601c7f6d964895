#ifndef ML_DRIFT_COMMON_TASK_H_
#define ML_DRIFT_COMMON_TASK_H_

#include <cstdint>
#include <string>

#include "ml_drift/common/shape.h"

namespace ml_drift {

// How one matrix product is cut into work groups.
struct Task {
  Shape shape;
  std::int64_t rows_per_group = 1;

  std::int64_t groups() const { return (shape.height + rows_per_group - 1) / rows_per_group; }
};

Task MakeTask(const Shape& shape);
std::string Describe(const Task& task);

}  // namespace ml_drift

#endif  // ML_DRIFT_COMMON_TASK_H_
