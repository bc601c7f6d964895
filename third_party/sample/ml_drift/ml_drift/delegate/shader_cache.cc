#include "ml_drift/delegate/shader_cache.h"

namespace ml_drift {

Task ShaderCache::Get(const Shape& shape, bool* compiled) {
  const std::uint64_t key = ShapeKey(shape);
  std::lock_guard<std::mutex> lock(mutex_);
  *compiled = false;
  for (const Entry& entry : entries_) {
    if (entry.key == key && entry.task.shape == shape) return entry.task;
  }
  *compiled = true;
  entries_.push_back({key, MakeTask(shape)});
  return entries_.back().task;
}

}  // namespace ml_drift
