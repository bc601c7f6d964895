#ifndef LITERT_C_LITERT_ENVIRONMENT_H_
#define LITERT_C_LITERT_ENVIRONMENT_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

LITERT_DEFINE_HANDLE(LiteRtEnvironment);

LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateEnvironment(LiteRtEnvironment* environment);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumAccelerators(LiteRtEnvironment environment, size_t* count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorName(LiteRtEnvironment environment, size_t index, const char** name);
LITERT_CAPI_EXPORT void LiteRtDestroyEnvironment(LiteRtEnvironment environment);

#ifdef __cplusplus
}
#endif

#endif /* LITERT_C_LITERT_ENVIRONMENT_H_ */
