#include "omni/asr/text_merger.h"

#include <algorithm>
#include <utility>

namespace litert::omni::asr {

void TextMerger::Reset() {
  ClearOutputsThenSetState(State::kIdle);
  pending_.clear();
  last_frame_ = -1;
}

base::Status TextMerger::ScheduleInternal() {
  base::StatusOr<FrameWords> frames = decoder_.GetOutput();
  SetState(State::kIdle);
  if (!frames.ok()) return frames.status();
  const std::size_t confirmed_frames = frames->size() - std::min(frames->size(), overlap_frames_);
  MergeResult result;
  int before = last_frame_;
  for (std::size_t i = 0; i < frames->size(); ++i) {
    const int word = (*frames)[i];
    if (word >= 0 && word != before) {
      std::string& text = i < confirmed_frames ? result.confirmed_text : result.unconfirmed_text;
      if (!text.empty()) text += " ";
      text += model_.words[static_cast<std::size_t>(word)];
    }
    before = word;
    if (i + 1 == confirmed_frames) last_frame_ = word;
  }
  pending_ = result.unconfirmed_text;
  PushOutput(std::move(result));
  return base::OkStatus();
}

base::Status TextMerger::Flush() {
  PushOutput(MergeResult{std::exchange(pending_, std::string()), std::string()});
  return base::OkStatus();
}

}  // namespace litert::omni::asr
