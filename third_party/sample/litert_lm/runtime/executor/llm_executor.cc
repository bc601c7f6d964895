#include "runtime/executor/llm_executor.h"

#include <utility>

#include "base/log/log.h"
#include "litert/c/link_mode.h"
#include "litert_cc/options.h"

namespace litert::lm {
namespace {

base::StatusOr<TensorBufferPtr> NewBuffer(std::size_t count) {
  LiteRtTensorBuffer buffer = nullptr;
  BASE_RETURN_IF_ERROR(ToStatus(LiteRtCreateManagedTensorBuffer(count, &buffer)));
  return TensorBufferPtr(buffer);
}

// The address of a buffer's values while it is locked.
class Lock {
 public:
  explicit Lock(LiteRtTensorBuffer buffer) : buffer_(buffer), status_(ToStatus(LiteRtLockTensorBuffer(buffer, &data_))) {}
  ~Lock() {
    if (data_ != nullptr) LiteRtUnlockTensorBuffer(buffer_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  const base::Status& status() const { return status_; }
  std::int32_t* data() const { return data_; }

 private:
  LiteRtTensorBuffer buffer_;
  std::int32_t* data_ = nullptr;
  base::Status status_;
};

base::StatusOr<LiteRtHwAccelerators> AcceleratorsOf(const std::string& backend) {
  if (backend == "gpu") return kLiteRtHwAcceleratorGpu;
  if (backend == "cpu") return kLiteRtHwAcceleratorCpu;
  return base::InvalidArgumentError("unknown backend: " + backend);
}

}  // namespace

base::StatusOr<std::unique_ptr<LlmExecutor>> LlmExecutor::Create(const ModelFile& model, const std::string& backend, int num_threads) {
  base::StatusOr<LiteRtHwAccelerators> accelerators = AcceleratorsOf(backend);
  if (!accelerators.ok()) return accelerators.status();
  auto executor = std::make_unique<LlmExecutor>();
  BASE_RETURN_IF_ERROR(executor->weights_.Load(model));
  executor->embedder_ = executor->weights_.Find("embedder");
  if (executor->embedder_ == nullptr) return base::InvalidArgumentError("the model has no external weights named embedder");

  LiteRtEnvironment environment = nullptr;
  BASE_RETURN_IF_ERROR(ToStatus(LiteRtCreateEnvironment(&environment)));
  executor->environment_.reset(environment);
  std::size_t count = 0;
  BASE_RETURN_IF_ERROR(ToStatus(LiteRtGetNumAccelerators(environment, &count)));
  if (count > 0) BASE_RETURN_IF_ERROR(ToStatus(LiteRtGetAcceleratorName(environment, 0, &executor->accelerator_)));

  base::StatusOr<Options> options = Options::Create();
  if (!options.ok()) return options.status();
  BASE_RETURN_IF_ERROR(options->SetHardwareAccelerators(*accelerators));
  options->SetExternalWeights(executor->weights_.Views());
  LiteRtCompiledModel compiled = nullptr;
  const base::Status status = ToStatus(LiteRtCreateCompiledModel(environment, model.text.data(), model.text.size(), options->get(), &compiled));
  if (!status.ok()) {
    base::Log(base::Severity::kError, "the core refuses the model: " + status.ToString());
    return status;
  }
  executor->model_.reset(compiled);
  executor->workers_ = std::make_unique<base::WorkerPool>(num_threads);
  return executor;
}

base::Status LlmExecutor::Hidden(const std::vector<std::int32_t>& tokens, std::vector<std::int32_t>* hidden) const {
  std::size_t dimension = 0;
  BASE_RETURN_IF_ERROR(ToStatus(LiteRtGetCompiledModelOutputCount(model_.get(), &dimension)));
  base::StatusOr<TensorBufferPtr> input = NewBuffer(tokens.size());
  if (!input.ok()) return input.status();
  base::StatusOr<TensorBufferPtr> output = NewBuffer(dimension);
  if (!output.ok()) return output.status();
  {
    Lock lock(input->get());
    BASE_RETURN_IF_ERROR(lock.status());
    for (std::size_t i = 0; i < tokens.size(); ++i) lock.data()[i] = tokens[i];
  }
  BASE_RETURN_IF_ERROR(ToStatus(LiteRtRunCompiledModel(model_.get(), input->get(), output->get())));
  Lock lock(output->get());
  BASE_RETURN_IF_ERROR(lock.status());
  hidden->assign(lock.data(), lock.data() + dimension);
  return base::OkStatus();
}

base::Status LlmExecutor::Logits(const std::vector<std::int32_t>& tokens, std::vector<std::int64_t>* logits) const {
  std::vector<std::int32_t> hidden;
  BASE_RETURN_IF_ERROR(Hidden(tokens, &hidden));
  logits->assign(static_cast<std::size_t>(embedder_->rows), 0);
  std::lock_guard<std::mutex> lock(workers_mutex_);
  workers_->ParallelFor(logits->size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t token = begin; token < end; ++token) {
      const std::int8_t* row = embedder_->data + token * hidden.size();
      for (std::size_t i = 0; i < hidden.size(); ++i) (*logits)[token] += std::int64_t{row[i]} * hidden[i];
    }
  });
  return base::OkStatus();
}

const char* CoreLinkMode() { return LITERT_LINK_MODE_NAME; }

}  // namespace litert::lm
