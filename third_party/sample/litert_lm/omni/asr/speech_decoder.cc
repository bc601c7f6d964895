#include "omni/asr/speech_decoder.h"

#include <algorithm>
#include <utility>

#include "base/strings/numbers.h"
#include "base/strings/str_split.h"

namespace litert::omni::asr {
namespace {

constexpr std::int64_t kLoudest = 32768;

}  // namespace

base::Status ParseSpeechModel(std::string_view model_text, std::string_view words_text, SpeechModel* model) {
  std::int64_t silence = -1;
  const std::vector<std::string_view> fields = base::SplitWords(model_text);
  if (fields.size() != 4 || fields[0] != "sample-asr" || fields[1] != "1" || fields[2] != "silence" || !base::ParseInt64(fields[3], &silence)) {
    return base::InvalidArgumentError("this is no speech model: it does not say sample-asr 1 silence N");
  }
  if (silence < 1 || silence >= kLoudest) return base::InvalidArgumentError("the speech model's silence is out of range");
  model->silence = static_cast<std::int32_t>(silence);
  for (std::string_view word : base::SplitWords(words_text)) model->words.emplace_back(word);
  if (model->words.empty()) return base::InvalidArgumentError("the tokenizer has no words");
  return base::OkStatus();
}

void SpeechDecoder::Reset() { ClearOutputsThenSetState(State::kIdle); }

base::Status SpeechDecoder::ScheduleInternal() {
  base::StatusOr<Features> features = preprocessor_.GetOutput();
  SetState(State::kIdle);
  if (!features.ok()) return features.status();
  const std::int64_t levels = static_cast<std::int64_t>(model_.words.size());
  FrameWords words;
  for (std::int32_t loudness : *features) {
    const std::int64_t level = (loudness - model_.silence) * levels / (kLoudest - model_.silence);
    words.push_back(loudness < model_.silence ? -1 : static_cast<int>(std::min(level, levels - 1)));
  }
  PushOutput(std::move(words));
  return base::OkStatus();
}

}  // namespace litert::omni::asr
