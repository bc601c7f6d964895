#include "omni/asr/asr_engine.h"

#include <utility>

#include "base/strings/str_cat.h"
#include "runtime/util/file_util.h"

namespace litert::omni::asr {

base::StatusOr<std::unique_ptr<AsrEngine>> AsrEngine::Create(AsrEngineConfig config) {
  if (config.backend == AsrEngineConfig::Backend::kNpu) return base::FailedPreconditionError("this host has no NPU");
  if (config.log_mel_config.hop_length < 1) return base::InvalidArgumentError("the hop of the features must be positive");
  std::string model_text, words_text;
  BASE_RETURN_IF_ERROR(litert::lm::ReadFile(config.model_path, &model_text));
  BASE_RETURN_IF_ERROR(litert::lm::ReadFile(config.tokenizer_path, &words_text));
  auto engine = std::unique_ptr<AsrEngine>(new AsrEngine(std::move(config)));
  BASE_RETURN_IF_ERROR(ParseSpeechModel(model_text, words_text, &engine->model_));
  return engine;
}

base::StatusOr<std::unique_ptr<AsrSession>> AsrEngine::CreateSession(std::unique_ptr<AudioSource> audio_source) {
  if (audio_source == nullptr) return base::InvalidArgumentError("a session needs an audio source");
  if (audio_source->GetSampleRateHz() != config_.sample_rate_hz || audio_source->GetNumChannels() != 1) {
    return base::InvalidArgumentError(base::StrCat("the audio must have one channel of ", config_.sample_rate_hz, " Hz"));
  }
  const double window = static_cast<double>(config_.sample_rate_hz) * config_.input_milliseconds / 1000;
  const double overlap = window * config_.overlap_ratio;
  AsrSession::Components parts;
  parts.audio_source = std::move(audio_source);
  parts.preprocessor = std::make_unique<LogMelSpectrogramProcessor>(config_.log_mel_config, parts.audio_source.get());
  parts.speech_decoder = std::make_unique<SpeechDecoder>(&model_, parts.preprocessor.get());
  const auto overlap_frames = static_cast<std::size_t>(overlap / config_.log_mel_config.hop_length);
  parts.text_merger = std::make_unique<TextMerger>(&model_, overlap_frames, parts.speech_decoder.get());
  return AsrSession::Create(std::move(parts));
}

}  // namespace litert::omni::asr
