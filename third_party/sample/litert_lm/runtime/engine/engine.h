#ifndef RUNTIME_ENGINE_ENGINE_H_
#define RUNTIME_ENGINE_ENGINE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "base/status/statusor.h"
#include "runtime/components/tokenizer/tokenizer.h"
#include "runtime/engine/engine_settings.h"
#include "runtime/executor/llm_executor.h"

namespace litert::lm {

// A loaded model. Sessions share it; it must outlive them.
class Engine {
 public:
  static base::StatusOr<std::unique_ptr<Engine>> Create(const EngineSettings& settings);

  // The embedding of a text: multiples of 1/4096, hence the same bits on every platform.
  base::Status Embed(std::string_view text, std::vector<float>* embedding) const;

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const LlmExecutor& executor() const { return *executor_; }
  int max_num_tokens() const { return max_num_tokens_; }

 private:
  Tokenizer tokenizer_;
  std::unique_ptr<LlmExecutor> executor_;
  int max_num_tokens_ = 0;
};

}  // namespace litert::lm

#endif  // RUNTIME_ENGINE_ENGINE_H_
