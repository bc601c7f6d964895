#include "omni/asr/log_mel_spectrogram_processor.h"

#include <cstdlib>
#include <utility>

namespace litert::omni::asr {
namespace {

// A power of two: the product is exact, and so is what is cut off.
std::int32_t Quantize(float sample) {
  if (sample >= 1.0f) return 32768;
  if (!(sample > -1.0f)) return -32768;  // and what is no number
  return static_cast<std::int32_t>(sample * 32768.0f);
}

}  // namespace

void LogMelSpectrogramProcessor::Reset() { ClearOutputsThenSetState(State::kIdle); }

base::Status LogMelSpectrogramProcessor::ScheduleInternal() {
  base::StatusOr<std::vector<float>> samples = source_.GetOutput();
  SetState(State::kIdle);
  if (!samples.ok()) return samples.status();
  const std::size_t hop = static_cast<std::size_t>(config_.hop_length);
  Features features;
  for (std::size_t begin = 0; begin + hop <= samples->size(); begin += hop) {
    std::int64_t sum = 0;
    for (std::size_t i = begin; i < begin + hop; ++i) sum += std::abs(Quantize((*samples)[i]));
    features.push_back(static_cast<std::int32_t>(sum / static_cast<std::int64_t>(hop)));
  }
  PushOutput(std::move(features));
  return base::OkStatus();
}

}  // namespace litert::omni::asr
