#ifndef LITERT_C_LITERT_TENSOR_BUFFER_H_
#define LITERT_C_LITERT_TENSOR_BUFFER_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A one-dimensional tensor of 32 bit integers that the runtime owns. */
LITERT_DEFINE_HANDLE(LiteRtTensorBuffer);

LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateManagedTensorBuffer(size_t count, LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferCount(LiteRtTensorBuffer buffer, size_t* count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer buffer, int32_t** host_memory);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer buffer);
LITERT_CAPI_EXPORT void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer buffer);

#ifdef __cplusplus
}
#endif

#endif /* LITERT_C_LITERT_TENSOR_BUFFER_H_ */
