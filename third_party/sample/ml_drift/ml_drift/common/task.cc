#include "ml_drift/common/task.h"

#include "base/strings/str_cat.h"

namespace ml_drift {

Task MakeTask(const Shape& shape) {
  Task task{shape, 1};
  while (task.rows_per_group < 8 && task.rows_per_group * shape.width < 256) task.rows_per_group *= 2;
  return task;
}

std::string Describe(const Task& task) {
  return base::StrCat(task.shape.height, "x", task.shape.width, " in ", task.groups(), " groups");
}

}  // namespace ml_drift
