#ifndef LITERT_RUNTIME_TENSOR_BUFFER_H_
#define LITERT_RUNTIME_TENSOR_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "base/memory/aligned_buffer.h"

struct LiteRtTensorBufferT {
 public:
  explicit LiteRtTensorBufferT(std::size_t count);

  std::size_t count() const { return memory_.size() / sizeof(std::int32_t); }
  std::int32_t* data() const { return static_cast<std::int32_t*>(memory_.data()); }
  bool Lock();  // false where it is locked already
  void Unlock();

 private:
  base::AlignedBuffer memory_;
  bool locked_ = false;
};

#endif  // LITERT_RUNTIME_TENSOR_BUFFER_H_
