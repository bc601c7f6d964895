#include "litert/runtime/tensor_buffer.h"

#include <type_traits>
#include <utility>

#include "litert/c/litert_tensor_buffer.h"

static_assert(std::is_same_v<LiteRtTensorBuffer, LiteRtTensorBufferT*>);

LiteRtTensorBufferT::LiteRtTensorBufferT(std::size_t count) : memory_(count * sizeof(std::int32_t)) {}

bool LiteRtTensorBufferT::Lock() { return !std::exchange(locked_, true); }

void LiteRtTensorBufferT::Unlock() { locked_ = false; }
