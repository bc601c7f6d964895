#include "runtime/core/session.h"

#include <utility>

#include "runtime/components/constrained_decoding/repetition_constraint.h"

namespace litert::lm {

base::StatusOr<std::unique_ptr<Session>> Session::Create(const Engine* engine, const SessionConfig& config) {
  base::StatusOr<std::unique_ptr<Sampler>> sampler = CreateSampler(config.sampler, static_cast<std::size_t>(engine->executor().vocabulary_size()));
  if (!sampler.ok()) return sampler.status();
  auto session = std::make_unique<Session>();
  session->engine_ = engine;
  session->config_ = config;
  session->sampler_ = std::move(*sampler);
  return session;
}

base::Status Session::Prefill(std::string_view text) {
  const std::vector<std::int32_t> tokens = engine_->tokenizer().Tokenize(text);
  if (history_.size() + tokens.size() > static_cast<std::size_t>(engine_->max_num_tokens())) {
    return base::Status(base::StatusCode::kOutOfRange, "the input is longer than max_num_tokens");
  }
  history_.insert(history_.end(), tokens.begin(), tokens.end());
  return base::OkStatus();
}

base::Status Session::Decode(int max_output_tokens, WordSink* sink) {
  if (history_.empty()) return base::FailedPreconditionError("decode needs a prefill");
  for (int i = 0; i < max_output_tokens && history_.size() < static_cast<std::size_t>(engine_->max_num_tokens()); ++i) {
    if (cancelled_.exchange(false)) return base::Status(base::StatusCode::kCancelled, "cancelled");
    std::vector<std::int64_t> logits;
    BASE_RETURN_IF_ERROR(engine_->executor().Logits(history_, &logits));
    Constrain(history_, Tokenizer::kFirstWord, &logits);
    const std::int32_t token = sampler_->Sample(logits);
    if (token == Tokenizer::kEnd) break;
    history_.push_back(token);
    sink->OnWord(engine_->tokenizer().Word(token));
  }
  return base::OkStatus();
}

}  // namespace litert::lm
