#include "litert/c/litert_environment.h"

#include "litert/core/last_error.h"
#include "litert/runtime/accelerators/gpu_registry.h"

struct LiteRtEnvironmentT {
  litert::GpuRegistry registry;
};

LiteRtStatus LiteRtCreateEnvironment(LiteRtEnvironment* environment) {
  if (environment == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *environment = new LiteRtEnvironmentT;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumAccelerators(LiteRtEnvironment environment, size_t* count) {
  if (environment == nullptr || count == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *count = environment->registry.size();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetAcceleratorName(LiteRtEnvironment environment, size_t index, const char** name) {
  if (environment == nullptr || name == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (index >= environment->registry.size()) {
    litert::internal::SetLastError("accelerator index out of range");
    return kLiteRtStatusErrorNotFound;
  }
  *name = environment->registry.at(index).name;
  return kLiteRtStatusOk;
}

void LiteRtDestroyEnvironment(LiteRtEnvironment environment) { delete environment; }
