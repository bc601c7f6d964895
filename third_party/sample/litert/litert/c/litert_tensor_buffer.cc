#include "litert/c/litert_tensor_buffer.h"

#include "litert/core/last_error.h"
#include "litert/runtime/tensor_buffer.h"

LiteRtStatus LiteRtCreateManagedTensorBuffer(size_t count, LiteRtTensorBuffer* buffer) {
  if (buffer == nullptr || count == 0) return kLiteRtStatusErrorInvalidArgument;
  *buffer = new LiteRtTensorBufferT(count);
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferCount(LiteRtTensorBuffer buffer, size_t* count) {
  if (buffer == nullptr || count == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *count = buffer->count();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer buffer, int32_t** host_memory) {
  if (buffer == nullptr || host_memory == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (!buffer->Lock()) {
    litert::internal::SetLastError("the tensor buffer is locked already");
    return kLiteRtStatusErrorRuntimeFailure;
  }
  *host_memory = buffer->data();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer buffer) {
  if (buffer == nullptr) return kLiteRtStatusErrorInvalidArgument;
  buffer->Unlock();
  return kLiteRtStatusOk;
}

void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer buffer) { delete buffer; }
