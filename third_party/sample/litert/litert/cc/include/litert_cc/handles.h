// Owning C++ handles over the C API.
#ifndef LITERT_CC_HANDLES_H_
#define LITERT_CC_HANDLES_H_

#include <memory>
#include <string>

#include "base/status/statusor.h"
#include "litert/c/litert_compiled_model.h"

namespace litert {

template <auto destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};

using EnvironmentPtr = std::unique_ptr<LiteRtEnvironmentT, Destroyer<LiteRtDestroyEnvironment>>;
using CompiledModelPtr = std::unique_ptr<LiteRtCompiledModelT, Destroyer<LiteRtDestroyCompiledModel>>;
using TensorBufferPtr = std::unique_ptr<LiteRtTensorBufferT, Destroyer<LiteRtDestroyTensorBuffer>>;

// The Status of a C call, with the runtime's own message.
inline base::Status ToStatus(LiteRtStatus status) {
  if (status == kLiteRtStatusOk) return base::OkStatus();
  std::string message = LiteRtGetLastErrorMessage();
  if (message.empty()) message = LiteRtGetStatusString(status);
  switch (status) {
    case kLiteRtStatusErrorInvalidArgument: return base::InvalidArgumentError(std::move(message));
    case kLiteRtStatusErrorNotFound: return base::NotFoundError(std::move(message));
    default: return base::InternalError(std::move(message));
  }
}

}  // namespace litert

#endif  // LITERT_CC_HANDLES_H_
