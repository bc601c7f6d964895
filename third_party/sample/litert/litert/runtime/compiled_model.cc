#include "litert/runtime/compiled_model.h"

#include <utility>
#include <vector>

#include "base/memory/arena.h"
#include "litert/runtime/accelerators/gpu_registry.h"
#include "litert/runtime/execution_plan.h"

namespace litert {

struct CompiledModel::Plan {
  std::size_t dimension;
  std::vector<PlannedOp> ops;
};

CompiledModel::CompiledModel(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}
CompiledModel::CompiledModel(CompiledModel&&) = default;
CompiledModel& CompiledModel::operator=(CompiledModel&&) = default;
CompiledModel::~CompiledModel() = default;

base::StatusOr<CompiledModel> CompiledModel::Create(std::string_view text, const LiteRtOptionsT& options) {
  tflite::Graph graph;
  BASE_RETURN_IF_ERROR(tflite::ParseGraph(text, &graph));
  const Accelerator* accelerator = nullptr;
  if (options.accelerators & kLiteRtHwAcceleratorGpu) {
    GpuRegistry registry;
    if (registry.size() == 0) return base::FailedPreconditionError("no GPU accelerator is registered");
    accelerator = &registry.at(0);
  }
  auto plan = std::make_unique<Plan>();
  plan->dimension = static_cast<std::size_t>(graph.dimension);
  BASE_RETURN_IF_ERROR(PlanExecution(graph, options, accelerator, &plan->ops));
  return CompiledModel(std::move(plan));
}

std::size_t CompiledModel::output_count() const { return plan_->dimension; }

std::size_t CompiledModel::accelerated_ops() const {
  std::size_t count = 0;
  for (const PlannedOp& op : plan_->ops) count += op.accelerated;
  return count;
}

base::Status CompiledModel::Run(const std::int32_t* tokens, std::size_t token_count, std::int32_t* output, std::size_t output_count) const {
  if (LITERT_RANGE_CHECKS && output_count != plan_->dimension) return base::InvalidArgumentError("the output buffer does not fit the model");
  base::Arena arena;
  tflite::Activations current{tokens, token_count, 1};
  for (const PlannedOp& op : plan_->ops) {
    const std::size_t rows = op.code == tflite::OpCode::kMEAN_POOL ? 1 : current.rows;
    tflite::MutableActivations next{arena.NewInt32(rows * plan_->dimension), rows, plan_->dimension};
    BASE_RETURN_IF_ERROR(op.kernel(op.weights, current, next));
    current = {next.data, next.rows, next.columns};
  }
  if (LITERT_RANGE_CHECKS && current.rows != 1) return base::InvalidArgumentError("the graph does not end in one row");
  for (std::size_t i = 0; i < output_count; ++i) output[i] = current.data[i];
  return base::OkStatus();
}

}  // namespace litert
