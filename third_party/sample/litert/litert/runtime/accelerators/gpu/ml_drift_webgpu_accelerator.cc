// The WebGPU accelerator. Linked in, it registers itself: no other object refers to this one.
#include "litert/c/litert_common.h"
#include "litert/runtime/accelerators/gpu_static_registry.h"
#include "ml_drift/delegate/webgpu_delegate.h"

namespace {

tflite::Kernel FindKernel(tflite::OpCode code) { return ml_drift::WebGpuKernel(code); }

constexpr litert::Accelerator kAccelerator = {"ml_drift_webgpu", &FindKernel};

}  // namespace

#ifdef LITERT_USE_STATIC_LINKED_GPU_ACCELERATOR

namespace {
[[maybe_unused]] const std::size_t place = litert::RegisterStaticGpuAccelerator(&kAccelerator);
}  // namespace

#else

extern "C" LITERT_CAPI_EXPORT const void* LiteRtWebGpuAcceleratorDescription() { return &kAccelerator; }

#endif
