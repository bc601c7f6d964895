/* What every C API of the runtime shares: status codes, export macro, opaque handles. */
#ifndef LITERT_C_LITERT_COMMON_H_
#define LITERT_C_LITERT_COMMON_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
/* Empty: a core of its own exports by a .def file, and a host that links the core in must not export it. */
#define LITERT_CAPI_EXPORT
#else
#define LITERT_CAPI_EXPORT __attribute__((visibility("default")))
#endif

#define LITERT_DEFINE_HANDLE(name) typedef struct name##T* name

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  kLiteRtStatusOk = 0,
  kLiteRtStatusErrorInvalidArgument = 1,
  kLiteRtStatusErrorNotFound = 2,
  kLiteRtStatusErrorRuntimeFailure = 3,
} LiteRtStatus;

typedef enum {
  kLiteRtHwAcceleratorNone = 0,
  kLiteRtHwAcceleratorCpu = 1,
  kLiteRtHwAcceleratorGpu = 2,
} LiteRtHwAccelerators;

LITERT_CAPI_EXPORT const char* LiteRtGetStatusString(LiteRtStatus status);

/* The message of the last failed call on this thread, "" where none failed. Valid until the next call on this thread. */
LITERT_CAPI_EXPORT const char* LiteRtGetLastErrorMessage(void);

#ifdef __cplusplus
}
#endif

#endif /* LITERT_C_LITERT_COMMON_H_ */
