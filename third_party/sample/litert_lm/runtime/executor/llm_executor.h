#ifndef RUNTIME_EXECUTOR_LLM_EXECUTOR_H_
#define RUNTIME_EXECUTOR_LLM_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status/statusor.h"
#include "base/sync/worker_pool.h"
#include "litert_cc/handles.h"
#include "runtime/executor/external_weight_store.h"
#include "schema/model_file.h"

namespace litert::lm {

// Runs the model through the core's C API; hands it the external weights through the C++ members of its options.
class LlmExecutor {
 public:
  static base::StatusOr<std::unique_ptr<LlmExecutor>> Create(const ModelFile& model, const std::string& backend, int num_threads);

  // The state of the model after `tokens`: one value a dimension, at most 4096 in magnitude.
  base::Status Hidden(const std::vector<std::int32_t>& tokens, std::vector<std::int32_t>* hidden) const;

  // One logit a token of the vocabulary for what follows `tokens`. The workers share the vocabulary.
  base::Status Logits(const std::vector<std::int32_t>& tokens, std::vector<std::int64_t>* logits) const;

  // The accelerator's name, or nullptr where the core has none.
  const char* accelerator() const { return accelerator_; }
  std::int64_t vocabulary_size() const { return embedder_->rows; }

 private:
  EnvironmentPtr environment_;
  CompiledModelPtr model_;
  ExternalWeightStore weights_;
  const WeightView* embedder_ = nullptr;
  const char* accelerator_ = nullptr;
  std::unique_ptr<base::WorkerPool> workers_;
  mutable std::mutex workers_mutex_;  // sessions of one engine share them
};

const char* CoreLinkMode();

}  // namespace litert::lm

#endif  // RUNTIME_EXECUTOR_LLM_EXECUTOR_H_
