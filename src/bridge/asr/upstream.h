// Names of upstream's pipeline that hold for every release: its namespace and status type are those of the headers that are found.
#ifndef ASR_UPSTREAM_H_
#define ASR_UPSTREAM_H_

#include <type_traits>
#include <utility>

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

using Status = std::decay_t<decltype(std::declval<AsrSession&>().Flush().status())>;
using StatusCode = std::decay_t<decltype(std::declval<const Status&>().code())>;

// Codes by the numbers of the canonical status space (google.rpc.Code), which all status types of upstream share.
constexpr int kOk = 0, kCancelled = 1, kInvalidArgument = 3, kNotFound = 5, kAlreadyExists = 6, kResourceExhausted = 8, kFailedPrecondition = 9,
              kOutOfRange = 11, kUnavailable = 14;

inline int Code(const Status& status) { return static_cast<int>(status.code()); }

}  // namespace litert_lm_native::upstream

#endif  // ASR_UPSTREAM_H_
