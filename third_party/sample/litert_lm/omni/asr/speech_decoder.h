#ifndef OMNI_ASR_SPEECH_DECODER_H_
#define OMNI_ASR_SPEECH_DECODER_H_

#include <string>
#include <string_view>
#include <vector>

#include "omni/asr/log_mel_spectrogram_processor.h"

namespace litert::omni::asr {

// What the sample hears: loudness has as many levels as there are words, and below `silence` there is none.
struct SpeechModel {
  std::int32_t silence = 0;
  std::vector<std::string> words;
};

base::Status ParseSpeechModel(std::string_view model_text, std::string_view words_text, SpeechModel* model);

// The word of each frame, -1 for silence.
using FrameWords = std::vector<int>;

class SpeechDecoder : public SingleThreadedStageWithDeque<FrameWords> {
 public:
  SpeechDecoder(const SpeechModel* model, Stage<Features>* preprocessor) : model_(*model), preprocessor_(*preprocessor) {}

  void Reset();

 protected:
  bool NeedScheduleInternal() const override { return preprocessor_.HasOutput(); }
  base::Status ScheduleInternal() override;

 private:
  const SpeechModel& model_;
  Stage<Features>& preprocessor_;
};

}  // namespace litert::omni::asr

#endif  // OMNI_ASR_SPEECH_DECODER_H_
