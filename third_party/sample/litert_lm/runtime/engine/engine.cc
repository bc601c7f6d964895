#include "runtime/engine/engine.h"

#include <string>
#include <utility>

#include "base/log/log.h"
#include "base/strings/str_cat.h"
#include "base/time/clock.h"
#include "base/time/duration.h"
#include "runtime/util/file_util.h"
#include "schema/model_file.h"

namespace litert::lm {

base::StatusOr<std::unique_ptr<Engine>> Engine::Create(const EngineSettings& settings) {
  const std::int64_t begin = base::NowNanoseconds();
  BASE_RETURN_IF_ERROR(Validate(settings));
  std::string text;
  BASE_RETURN_IF_ERROR(settings.model_descriptor >= 0 ? ReadDescriptor(settings.model_descriptor, &text) : ReadFile(settings.model_path, &text));
  ModelFile model;
  BASE_RETURN_IF_ERROR(ParseModelFile(std::move(text), &model));
  auto engine = std::make_unique<Engine>();
  base::StatusOr<std::unique_ptr<LlmExecutor>> executor = LlmExecutor::Create(model, settings.backend, settings.num_threads);
  if (!executor.ok()) return executor.status();
  engine->executor_ = std::move(*executor);
  engine->max_num_tokens_ = settings.max_num_tokens;
  if (engine->executor_->vocabulary_size() != engine->tokenizer_.size()) {
    return base::InvalidArgumentError(base::StrCat("the model has ", engine->executor_->vocabulary_size(), " tokens, the tokenizer ", engine->tokenizer_.size()));
  }
  base::Log(base::Severity::kInfo, base::StrCat("engine created in ", base::FormatNanoseconds(base::NowNanoseconds() - begin)));
  return engine;
}

base::Status Engine::Embed(std::string_view text, std::vector<float>* embedding) const {
  std::vector<std::int32_t> hidden;
  BASE_RETURN_IF_ERROR(executor_->Hidden(tokenizer_.Tokenize(text), &hidden));
  embedding->clear();
  for (std::int32_t value : hidden) embedding->push_back(static_cast<float>(value) / 4096.0f);
  return base::OkStatus();
}

}  // namespace litert::lm
