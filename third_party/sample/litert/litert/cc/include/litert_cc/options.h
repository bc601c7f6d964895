// Options with external weights. The weights have no C function: they are written straight into the object behind the
// handle, which is valid only where the core was built with the C++ runtime of the caller.
#ifndef LITERT_CC_OPTIONS_H_
#define LITERT_CC_OPTIONS_H_

#include <memory>
#include <utility>

#include "litert/core/options.h"
#include "litert_cc/handles.h"

namespace litert {

class Options {
 public:
  static base::StatusOr<Options> Create() {
    LiteRtOptions handle = nullptr;
    BASE_RETURN_IF_ERROR(ToStatus(LiteRtCreateOptions(&handle)));
    return Options(handle);
  }

  base::Status SetHardwareAccelerators(LiteRtHwAccelerators accelerators) {
    return ToStatus(LiteRtSetOptionsHardwareAccelerators(handle_.get(), accelerators));
  }

  void SetExternalWeights(ExternalWeights weights) {
    reinterpret_cast<LiteRtOptionsT*>(handle_.get())->external_weights = std::move(weights);
  }

  LiteRtOptions get() const { return handle_.get(); }

 private:
  explicit Options(LiteRtOptions handle) : handle_(handle) {}

  std::unique_ptr<LiteRtOptionsT, Destroyer<LiteRtDestroyOptions>> handle_;
};

}  // namespace litert

#endif  // LITERT_CC_OPTIONS_H_
