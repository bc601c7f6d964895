#include "omni/asr/asr_session.h"

#include <utility>

namespace litert::omni::asr {

base::StatusOr<std::unique_ptr<AsrSession>> AsrSession::Create(Components components) {
  if (components.audio_source == nullptr) return base::InvalidArgumentError("a session needs an audio source");
  return std::unique_ptr<AsrSession>(new AsrSession(std::move(components)));
}

void AsrSession::Reset() {
  components_.audio_source->Reset();
  components_.preprocessor->Reset();
  components_.speech_decoder->Reset();
  components_.text_merger->Reset();
}

base::StatusOr<TextMerger::MergeResult> AsrSession::ProcessNextChunk() {
  BASE_RETURN_IF_ERROR(components_.audio_source->Schedule());
  BASE_RETURN_IF_ERROR(components_.preprocessor->Schedule());
  BASE_RETURN_IF_ERROR(components_.speech_decoder->Schedule());
  BASE_RETURN_IF_ERROR(components_.text_merger->Schedule());
  return components_.text_merger->GetOutput();
}

base::StatusOr<TextMerger::MergeResult> AsrSession::Flush() {
  BASE_RETURN_IF_ERROR(components_.text_merger->Flush());
  return components_.text_merger->GetOutput();
}

}  // namespace litert::omni::asr
