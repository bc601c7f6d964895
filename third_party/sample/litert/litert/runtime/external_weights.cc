#include "litert/runtime/external_weights.h"

#include "base/log/log.h"

namespace litert {

base::Status FindExternalWeight(const LiteRtOptionsT& options, const std::string& name, WeightView* view) {
  const auto found = options.external_weights.find(name);
  if (found == options.external_weights.end()) {
    const base::Status status = base::NotFoundError("external weights are missing: " + name);
    base::Log(base::Severity::kError, status.message());
    return status;
  }
  *view = found->second;
  if (view->data == nullptr || view->rows <= 0 || view->columns <= 0) return base::DataLossError("external weights are empty: " + name);
  return base::OkStatus();
}

}  // namespace litert
