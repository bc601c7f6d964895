#ifndef LITERT_RUNTIME_EXECUTION_PLAN_H_
#define LITERT_RUNTIME_EXECUTION_PLAN_H_

#include <vector>

#include "base/status/status.h"
#include "litert/core/options.h"
#include "litert/runtime/accelerators/accelerator.h"
#include "tflite/graph.h"
#include "tflite/kernels/kernel.h"

namespace litert {

// One operation with everything it needs to run.
struct PlannedOp {
  tflite::OpCode code;
  tflite::Kernel kernel;
  tflite::OpWeights weights;
  bool accelerated;
};

// Gives every operation of `graph` to the accelerator where it takes it, to a built-in kernel otherwise.
base::Status PlanExecution(const tflite::Graph& graph, const LiteRtOptionsT& options, const Accelerator* accelerator, std::vector<PlannedOp>* plan);

}  // namespace litert

#endif  // LITERT_RUNTIME_EXECUTION_PLAN_H_
