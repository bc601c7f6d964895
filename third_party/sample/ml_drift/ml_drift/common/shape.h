#ifndef ML_DRIFT_COMMON_SHAPE_H_
#define ML_DRIFT_COMMON_SHAPE_H_

#include <cstdint>

namespace ml_drift {

struct Shape {
  std::int64_t height = 0;
  std::int64_t width = 0;

  bool operator==(const Shape&) const = default;
};

// A number for caches: equal shapes, equal keys.
std::uint64_t ShapeKey(const Shape& shape);

}  // namespace ml_drift

#endif  // ML_DRIFT_COMMON_SHAPE_H_
