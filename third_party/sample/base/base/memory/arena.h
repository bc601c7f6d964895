#ifndef BASE_MEMORY_ARENA_H_
#define BASE_MEMORY_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace base {

// Scratch arrays that all end together.
class Arena {
 public:
  ~Arena();
  // `count` zeroed integers.
  std::int32_t* NewInt32(std::size_t count);

 private:
  std::vector<std::int32_t*> blocks_;
};

}  // namespace base

#endif  // BASE_MEMORY_ARENA_H_
