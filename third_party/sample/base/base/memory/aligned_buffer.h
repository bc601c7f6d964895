#ifndef BASE_MEMORY_ALIGNED_BUFFER_H_
#define BASE_MEMORY_ALIGNED_BUFFER_H_

#include <cstddef>

namespace base {

// Zeroed memory whose first byte lies on a 64 byte border.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t size);
  ~AlignedBuffer();
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void* data_;
  std::size_t size_;
};

}  // namespace base

#endif  // BASE_MEMORY_ALIGNED_BUFFER_H_
