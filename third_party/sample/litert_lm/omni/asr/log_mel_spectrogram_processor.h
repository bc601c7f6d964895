#ifndef OMNI_ASR_LOG_MEL_SPECTROGRAM_PROCESSOR_H_
#define OMNI_ASR_LOG_MEL_SPECTROGRAM_PROCESSOR_H_

#include <cstdint>
#include <vector>

#include "omni/asr/audio_source.h"

namespace litert::omni::asr {

// One value from 0 to 32768 a frame: the mean magnitude of its samples, in integers.
using Features = std::vector<std::int32_t>;

// Turns windows of samples into features, one frame a hop. No spectrum: what counts here is that the bits are the same everywhere.
class LogMelSpectrogramProcessor : public SingleThreadedStageWithDeque<Features> {
 public:
  enum class NormType { kStandard = 0, kWhisper = 1 };

  struct LogMelSpectrogramConfig {
    int n_fft = 512;
    int n_mels = 80;
    int hop_length = 160;
    int n_frames = 0;
    bool transpose = false;
    float preemphasis = 0.0f;
    NormType norm_type = NormType::kStandard;
  };

  LogMelSpectrogramProcessor(const LogMelSpectrogramConfig& config, Stage<std::vector<float>>* source) : config_(config), source_(*source) {}

  void Reset();

 protected:
  bool NeedScheduleInternal() const override { return source_.HasOutput(); }
  base::Status ScheduleInternal() override;

 private:
  const LogMelSpectrogramConfig config_;
  Stage<std::vector<float>>& source_;
};

}  // namespace litert::omni::asr

#endif  // OMNI_ASR_LOG_MEL_SPECTROGRAM_PROCESSOR_H_
