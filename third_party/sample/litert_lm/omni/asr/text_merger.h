#ifndef OMNI_ASR_TEXT_MERGER_H_
#define OMNI_ASR_TEXT_MERGER_H_

#include <string>

#include "omni/asr/speech_decoder.h"

namespace litert::omni::asr {

struct MergeResult {
  std::string confirmed_text;    // stays as it is
  std::string unconfirmed_text;  // the next window hears it again
};

// Joins the words of windows that overlap: what begins before the overlap is confirmed.
class TextMerger : public SingleThreadedStageWithDeque<MergeResult> {
 public:
  using MergeResult = asr::MergeResult;

  TextMerger(const SpeechModel* model, std::size_t overlap_frames, Stage<FrameWords>* decoder)
      : model_(*model), overlap_frames_(overlap_frames), decoder_(*decoder) {}

  void Reset();
  // Confirms what is left, as one more output.
  base::Status Flush();

 protected:
  bool NeedScheduleInternal() const override { return decoder_.HasOutput(); }
  base::Status ScheduleInternal() override;

 private:
  const SpeechModel& model_;
  const std::size_t overlap_frames_;
  Stage<FrameWords>& decoder_;
  std::string pending_;   // the unconfirmed text of the last window
  int last_frame_ = -1;   // the word of the last frame before the overlap
};

}  // namespace litert::omni::asr

#endif  // OMNI_ASR_TEXT_MERGER_H_
