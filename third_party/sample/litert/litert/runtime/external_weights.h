#ifndef LITERT_RUNTIME_EXTERNAL_WEIGHTS_H_
#define LITERT_RUNTIME_EXTERNAL_WEIGHTS_H_

#include <string>

#include "base/status/status.h"
#include "litert/core/options.h"

namespace litert {

// Finds the weights `name` among those that the caller handed over.
base::Status FindExternalWeight(const LiteRtOptionsT& options, const std::string& name, WeightView* view);

}  // namespace litert

#endif  // LITERT_RUNTIME_EXTERNAL_WEIGHTS_H_
