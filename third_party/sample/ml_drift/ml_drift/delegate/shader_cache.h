#ifndef ML_DRIFT_DELEGATE_SHADER_CACHE_H_
#define ML_DRIFT_DELEGATE_SHADER_CACHE_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "ml_drift/common/task.h"

namespace ml_drift {

// Remembers how each shape is cut, since a device would compile a shader for it.
class ShaderCache {
 public:
  // `compiled` tells whether the task is new.
  Task Get(const Shape& shape, bool* compiled);

 private:
  struct Entry {
    std::uint64_t key;
    Task task;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace ml_drift

#endif  // ML_DRIFT_DELEGATE_SHADER_CACHE_H_
