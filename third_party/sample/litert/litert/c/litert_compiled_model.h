#ifndef LITERT_C_LITERT_COMPILED_MODEL_H_
#define LITERT_C_LITERT_COMPILED_MODEL_H_

#include "litert/c/litert_environment.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

LITERT_DEFINE_HANDLE(LiteRtCompiledModel);

/* Compiles the graph in `text` (`size` bytes). The weights that it names must be among the external weights of `options`
   and stay alive as long as the model does. */
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment environment, const char* text, size_t size, LiteRtOptions options,
                                                          LiteRtCompiledModel* model);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelOutputCount(LiteRtCompiledModel model, size_t* count);

/* How many operations the accelerator runs. */
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumAcceleratedOps(LiteRtCompiledModel model, size_t* count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel model, LiteRtTensorBuffer input, LiteRtTensorBuffer output);
LITERT_CAPI_EXPORT void LiteRtDestroyCompiledModel(LiteRtCompiledModel model);

#ifdef __cplusplus
}
#endif

#endif /* LITERT_C_LITERT_COMPILED_MODEL_H_ */
