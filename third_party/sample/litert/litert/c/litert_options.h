#ifndef LITERT_C_LITERT_OPTIONS_H_
#define LITERT_C_LITERT_OPTIONS_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque to C. External weights have no C function: C++ callers write them through litert_cc/options.h. */
LITERT_DEFINE_HANDLE(LiteRtOptions);

LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateOptions(LiteRtOptions* options);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetOptionsHardwareAccelerators(LiteRtOptions options, LiteRtHwAccelerators accelerators);
LITERT_CAPI_EXPORT void LiteRtDestroyOptions(LiteRtOptions options);

#ifdef __cplusplus
}
#endif

#endif /* LITERT_C_LITERT_OPTIONS_H_ */
