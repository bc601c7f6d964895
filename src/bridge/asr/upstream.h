// Upstream's pipeline by names that hold for every release: what differs is read from the headers that are found.
#ifndef ASR_UPSTREAM_H_
#define ASR_UPSTREAM_H_

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "omni/asr/asr_engine.h"
#include "omni/asr/asr_session.h"
#include "omni/asr/audio_source.h"
#include "omni/asr/log_mel_spectrogram_processor.h"
#include "omni/asr/text_merger.h"

// Upstream moved from the first to the second.
namespace litert_lm::omni::asr {}
namespace litert::omni::asr {}

namespace litert_lm_native::upstream {

using namespace ::litert_lm::omni::asr;
using namespace ::litert::omni::asr;

using Session = std::decay_t<decltype(**std::declval<AsrEngine&>().CreateSession(std::declval<std::unique_ptr<AudioSource>>()))>;
using Texts = TextMerger::MergeResult;
using Status = std::decay_t<decltype(std::declval<Session&>().Flush().status())>;
using StatusCode = std::decay_t<decltype(std::declval<const Status&>().code())>;

// Codes by the numbers of the canonical status space (google.rpc.Code), which all status types of upstream share.
constexpr int kOk = 0, kCancelled = 1, kInvalidArgument = 3, kNotFound = 5, kAlreadyExists = 6, kResourceExhausted = 8, kFailedPrecondition = 9,
              kOutOfRange = 11, kUnavailable = 14;

// One window through the pipeline.
template <typename AnySession>
auto ProcessWindow(AnySession& session) {
  if constexpr (requires { session.ProcessNextChunk(); }) {
    return session.ProcessNextChunk();
  } else {
    return session.ProcessNext();
  }
}

// The texts of an output, nullptr where it is of another kind: later sessions give a variant of kinds.
inline const Texts* TextsOf(const Texts& output) { return &output; }

template <typename... Kinds>
const Texts* TextsOf(const std::variant<Kinds...>& output) {
  return std::get_if<Texts>(&output);
}

// Models in LiteRT-LM's own format bring their tokenizer, and later releases have a decoder of their own for them.
template <typename Config>
void ChooseDecoder(Config* config) {
  if constexpr (requires { Config::DecoderType::kLm; }) {
    if (config->model_path.ends_with(".litertlm")) config->decoder_type = Config::DecoderType::kLm;
  }
}

inline int Code(const Status& status) { return static_cast<int>(status.code()); }

}  // namespace litert_lm_native::upstream

#endif  // ASR_UPSTREAM_H_
