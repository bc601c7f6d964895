#ifndef OMNI_ASR_ASR_ENGINE_H_
#define OMNI_ASR_ASR_ENGINE_H_

#include <memory>
#include <string>
#include <utility>

#include "base/status/statusor.h"
#include "omni/asr/asr_session.h"
#include "omni/asr/audio_source.h"
#include "omni/asr/log_mel_spectrogram_processor.h"

namespace litert::omni::asr {

struct AsrEngineConfig {
  enum class DecoderType { kCtc = 0, kTdt = 1, kStateless = 2 };
  enum class Backend { kCpu = 0, kGpu = 1, kNpu = 2 };
  enum class TextMergerType { kLevenshtein = 0, kTimestamp = 1 };

  std::string model_name;
  std::string model_path;      // UTF-8: "sample-asr 1 silence N"
  std::string tokenizer_path;  // UTF-8: words

  int sample_rate_hz = 16000;
  int input_milliseconds = 5000;

  DecoderType decoder_type = DecoderType::kTdt;
  Backend backend = Backend::kCpu;
  TextMergerType text_merger_type = TextMergerType::kTimestamp;
  int num_threads = 4;
  float overlap_ratio = 0.4f;

  bool has_log_mel_config = false;
  LogMelSpectrogramProcessor::LogMelSpectrogramConfig log_mel_config;

  int decode_start_token_id = -1;
  int decode_stop_token_id = -1;
  int decode_skip_until_token_id = -1;
  int decode_statefully_after = 4;
  int vocab_size = 0;
  int blank_token_id = 0;
};

// A loaded speech model. It must outlive its sessions.
class AsrEngine {
 public:
  static base::StatusOr<std::unique_ptr<AsrEngine>> Create(AsrEngineConfig config);

  base::StatusOr<std::unique_ptr<AsrSession>> CreateSession(std::unique_ptr<AudioSource> audio_source);

 private:
  explicit AsrEngine(AsrEngineConfig config) : config_(std::move(config)) {}

  const AsrEngineConfig config_;
  SpeechModel model_;
};

}  // namespace litert::omni::asr

#endif  // OMNI_ASR_ASR_ENGINE_H_
