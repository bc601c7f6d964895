#include "litert/runtime/execution_plan.h"

#include "base/strings/str_cat.h"
#include "litert/runtime/external_weights.h"

namespace litert {

base::Status PlanExecution(const tflite::Graph& graph, const LiteRtOptionsT& options, const Accelerator* accelerator, std::vector<PlannedOp>* plan) {
  for (const tflite::Op& op : graph.ops) {
    PlannedOp planned{op.code, nullptr, {}, false};
    if (!op.weights.empty()) {
      WeightView view;
      BASE_RETURN_IF_ERROR(FindExternalWeight(options, op.weights, &view));
      if (view.columns != graph.dimension) {
        return base::InvalidArgumentError(base::StrCat(op.weights, " has ", view.columns, " columns, the graph ", graph.dimension));
      }
      planned.weights = {view.data, view.rows, view.columns};
    }
    if (accelerator != nullptr) planned.kernel = accelerator->find_kernel(op.code);
    planned.accelerated = planned.kernel != nullptr;
    if (planned.kernel == nullptr) planned.kernel = tflite::FindBuiltinKernel(op.code);
    if (planned.kernel == nullptr) {
      return base::FailedPreconditionError(base::StrCat("nothing runs ", OpCodeName(op.code), ": it needs a GPU accelerator"));
    }
    plan->push_back(planned);
  }
  return base::OkStatus();
}

}  // namespace litert
