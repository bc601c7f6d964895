#ifndef RUNTIME_CORE_SESSION_H_
#define RUNTIME_CORE_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status/statusor.h"
#include "runtime/components/sampler_factory.h"
#include "runtime/engine/engine.h"

namespace litert::lm {

struct SessionConfig {
  int max_output_tokens = 8;
  SamplerParams sampler;
};

// Who receives the words of an answer, one at a time.
class WordSink {
 public:
  virtual ~WordSink() = default;
  virtual void OnWord(std::string_view word) = 0;
};

class Session {
 public:
  static base::StatusOr<std::unique_ptr<Session>> Create(const Engine* engine, const SessionConfig& config);

  base::Status Prefill(std::string_view text);
  // CANCELLED where Cancel() was called meanwhile.
  base::Status Decode(int max_output_tokens, WordSink* sink);
  void Cancel() { cancelled_ = true; }

  const SessionConfig& config() const { return config_; }
  std::size_t token_count() const { return history_.size(); }

 private:
  const Engine* engine_ = nullptr;
  SessionConfig config_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<std::int32_t> history_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace litert::lm

#endif  // RUNTIME_CORE_SESSION_H_
