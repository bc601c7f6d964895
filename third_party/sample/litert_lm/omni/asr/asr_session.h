#ifndef OMNI_ASR_ASR_SESSION_H_
#define OMNI_ASR_ASR_SESSION_H_

#include <memory>
#include <utility>

#include "base/status/statusor.h"
#include "omni/asr/audio_source.h"
#include "omni/asr/log_mel_spectrogram_processor.h"
#include "omni/asr/speech_decoder.h"
#include "omni/asr/text_merger.h"

namespace litert::omni::asr {

// One stream of audio through the stages. The engine that made it must outlive it: the stages use its model.
class AsrSession {
 public:
  struct Components {
    std::unique_ptr<AudioSource> audio_source;
    std::unique_ptr<LogMelSpectrogramProcessor> preprocessor;
    std::unique_ptr<SpeechDecoder> speech_decoder;
    std::unique_ptr<TextMerger> text_merger;
  };

  static base::StatusOr<std::unique_ptr<AsrSession>> Create(Components components);

  void Reset();
  // Takes one window through all stages. OUT_OF_RANGE at the end of the audio.
  base::StatusOr<TextMerger::MergeResult> ProcessNextChunk();
  // What was still unconfirmed, after the end.
  base::StatusOr<TextMerger::MergeResult> Flush();

 private:
  explicit AsrSession(Components components) : components_(std::move(components)) {}

  Components components_;
};

}  // namespace litert::omni::asr

#endif  // OMNI_ASR_ASR_SESSION_H_
