#include "ml_drift/common/shape.h"

#include "base/hash/mix.h"

namespace ml_drift {

std::uint64_t ShapeKey(const Shape& shape) {
  return base::Combine(static_cast<std::uint64_t>(shape.height), static_cast<std::uint64_t>(shape.width));
}

}  // namespace ml_drift
