#include "asr/config.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace {

constexpr std::int32_t kBufferedMilliseconds = 30000;

void SetLogMel(LitertLmAsrConfig* config, int n_fft, int n_mels, int n_frames, float preemphasis, LitertLmAsrLogMelNormType norm_type) {
  config->has_log_mel_config = 1;
  config->log_mel_n_fft = n_fft;
  config->log_mel_n_mels = n_mels;
  config->log_mel_n_frames = n_frames;
  config->log_mel_preemphasis = preemphasis;
  config->log_mel_norm_type = norm_type;
}

// Model names and numbers are those of upstream's omni/asr/model_metadata.json.
bool SetPreset(LitertLmAsrConfig* config, LitertLmAsrModelPreset preset) {
  switch (preset) {
    case LITERT_LM_ASR_MODEL_PRESET_PARAKEET_TDT_0_6B_V3:
      config->model_name = "parakeet-tdt-0.6b-v3";
      config->decoder_type = LITERT_LM_ASR_DECODER_TDT;
      SetLogMel(config, 512, 128, 500, 0.97f, LITERT_LM_ASR_LOG_MEL_NORM_STANDARD);
      config->decode_start_token_id = 8192;
      return true;
    case LITERT_LM_ASR_MODEL_PRESET_PARAKEET_CTC_0_6B:
      config->model_name = "parakeet-ctc-0.6b";
      config->decoder_type = LITERT_LM_ASR_DECODER_CTC;
      SetLogMel(config, 512, 80, 500, 0.97f, LITERT_LM_ASR_LOG_MEL_NORM_STANDARD);
      config->log_mel_transpose = 1;
      return true;
    case LITERT_LM_ASR_MODEL_PRESET_MOONSHINE_TINY:
      config->model_name = "moonshine-tiny";
      config->decoder_type = LITERT_LM_ASR_DECODER_STATELESS;
      config->decode_start_token_id = 1;
      config->decode_stop_token_id = 2;
      return true;
    case LITERT_LM_ASR_MODEL_PRESET_WHISPER_TINY:
      config->model_name = "whisper-tiny";
      config->decoder_type = LITERT_LM_ASR_DECODER_STATELESS;
      config->input_milliseconds = 30000;
      config->max_buffered_audio_milliseconds = 2 * kBufferedMilliseconds;
      SetLogMel(config, 400, 80, 3000, 0.0f, LITERT_LM_ASR_LOG_MEL_NORM_WHISPER);
      config->decode_start_token_id = 50258;
      config->decode_stop_token_id = 50257;
      return true;
    case LITERT_LM_ASR_MODEL_PRESET_QWEN3_ASR_0_6B:
      config->model_name = "qwen3-asr-0.6b";
      config->decoder_type = LITERT_LM_ASR_DECODER_STATELESS;
      SetLogMel(config, 400, 128, 500, 0.0f, LITERT_LM_ASR_LOG_MEL_NORM_WHISPER);
      config->decode_start_token_id = 198;
      config->decode_stop_token_id = 151645;
      config->decode_skip_until_token_id = 151704;
      return true;
  }
  return false;
}

bool Within(std::int64_t value, std::int64_t low, std::int64_t high) { return low <= value && value <= high; }

const char* Fault(const LitertLmAsrConfig& config) {
  if (config.model_path == nullptr || *config.model_path == '\0') return "model_path is empty";
  if (config.tokenizer_path == nullptr || (*config.tokenizer_path == '\0' && !std::string_view(config.model_path).ends_with(".litertlm"))) {
    return "tokenizer_path is empty";
  }
  if (!Within(config.sample_rate_hz, 1000, 768000)) return "sample_rate_hz is not from 1000 to 768000";
  if (config.num_channels != 1) return "num_channels is not 1: this ABI takes mono audio";
  if (!Within(config.input_milliseconds, 1, 600000)) return "input_milliseconds is not from 1 to 600000";
  if (config.max_buffered_audio_milliseconds < config.input_milliseconds) {
    return "max_buffered_audio_milliseconds is less than input_milliseconds: no window would ever be complete";
  }
  if (!Within(config.max_buffered_audio_milliseconds, 1, 3600000)) return "max_buffered_audio_milliseconds is more than an hour";
  if (!Within(config.decoder_type, LITERT_LM_ASR_DECODER_CTC, LITERT_LM_ASR_DECODER_STATELESS)) return "decoder_type is unknown";
  if (!Within(config.backend, LITERT_LM_ASR_BACKEND_CPU, LITERT_LM_ASR_BACKEND_NPU)) return "backend is unknown";
  if (!Within(config.text_merger_type, LITERT_LM_ASR_TEXT_MERGER_LEVENSHTEIN, LITERT_LM_ASR_TEXT_MERGER_TIMESTAMP)) {
    return "text_merger_type is unknown";
  }
  if (config.num_threads < 1) return "num_threads is not positive";
  if (!(config.overlap_ratio >= 0.0f && config.overlap_ratio < 1.0f)) return "overlap_ratio is not from 0 to less than 1";
  if (config.has_log_mel_config == 0) return nullptr;
  if (config.log_mel_n_fft < 1 || config.log_mel_n_mels < 1 || config.log_mel_hop_length < 1 || config.log_mel_n_frames < 0) {
    return "a size of the log-mel spectrogram is not positive";
  }
  if (!Within(config.log_mel_norm_type, LITERT_LM_ASR_LOG_MEL_NORM_STANDARD, LITERT_LM_ASR_LOG_MEL_NORM_WHISPER)) {
    return "log_mel_norm_type is unknown";
  }
  return nullptr;
}

std::size_t Samples(std::int64_t sample_rate_hz, std::int64_t milliseconds) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, sample_rate_hz * milliseconds / 1000));
}

}  // namespace

namespace litert_lm_native {

const char* TranslateConfig(const LitertLmAsrConfig& config, EngineSetup* setup) {
  if (const char* fault = Fault(config)) return fault;
  upstream::AsrEngineConfig& out = setup->config;
  out.model_name = config.model_name != nullptr ? config.model_name : "";
  out.model_path = config.model_path;
  out.tokenizer_path = config.tokenizer_path;
  out.sample_rate_hz = config.sample_rate_hz;
  out.input_milliseconds = config.input_milliseconds;
  out.decoder_type = static_cast<decltype(out.decoder_type)>(config.decoder_type);
  upstream::ChooseDecoder(&out);
  out.backend = static_cast<decltype(out.backend)>(config.backend);
  out.text_merger_type = static_cast<decltype(out.text_merger_type)>(config.text_merger_type);
  out.num_threads = config.num_threads;
  out.overlap_ratio = config.overlap_ratio;
  out.has_log_mel_config = config.has_log_mel_config != 0;
  if (out.has_log_mel_config) {
    auto& log_mel = out.log_mel_config;
    log_mel.n_fft = config.log_mel_n_fft;
    log_mel.n_mels = config.log_mel_n_mels;
    log_mel.hop_length = config.log_mel_hop_length;
    log_mel.n_frames = config.log_mel_n_frames;
    log_mel.transpose = config.log_mel_transpose != 0;
    log_mel.preemphasis = config.log_mel_preemphasis;
    log_mel.norm_type = static_cast<decltype(log_mel.norm_type)>(config.log_mel_norm_type);
  }
  out.decode_start_token_id = config.decode_start_token_id;
  out.decode_stop_token_id = config.decode_stop_token_id;
  out.decode_skip_until_token_id = config.decode_skip_until_token_id;
  out.decode_statefully_after = config.decode_statefully_after;
  out.vocab_size = config.vocab_size;
  out.blank_token_id = config.blank_token_id;

  Windows& windows = setup->windows;
  windows.sample_rate_hz = config.sample_rate_hz;
  windows.window = Samples(config.sample_rate_hz, config.input_milliseconds);
  windows.overlap = std::min(windows.window - 1, static_cast<std::size_t>(static_cast<double>(windows.window) * config.overlap_ratio));
  windows.capacity = Samples(config.sample_rate_hz, config.max_buffered_audio_milliseconds);
  return nullptr;
}

}  // namespace litert_lm_native

uint32_t litert_lm_asr_abi_version() { return LITERT_LM_ASR_ABI_VERSION; }

size_t litert_lm_asr_config_size() { return sizeof(LitertLmAsrConfig); }

size_t litert_lm_asr_result_size() { return sizeof(LitertLmAsrResult); }

void litert_lm_asr_config_init(LitertLmAsrConfig* config) {
  if (config == nullptr) return;
  *config = LitertLmAsrConfig();
  config->struct_size = sizeof(LitertLmAsrConfig);
  config->abi_version = LITERT_LM_ASR_ABI_VERSION;
  config->sample_rate_hz = 16000;
  config->num_channels = 1;
  config->input_milliseconds = 5000;
  config->max_buffered_audio_milliseconds = kBufferedMilliseconds;
  config->decoder_type = LITERT_LM_ASR_DECODER_TDT;
  config->text_merger_type = LITERT_LM_ASR_TEXT_MERGER_TIMESTAMP;
  config->num_threads = 4;
  config->overlap_ratio = 0.4f;
  config->log_mel_n_fft = 512;
  config->log_mel_n_mels = 80;
  config->log_mel_hop_length = 160;
  config->decode_start_token_id = -1;
  config->decode_stop_token_id = -1;
  config->decode_skip_until_token_id = -1;
  config->decode_statefully_after = 4;
}

LitertLmAsrStatus litert_lm_asr_config_init_for_model_preset(LitertLmAsrConfig* config, LitertLmAsrModelPreset preset) {
  if (config == nullptr) return LITERT_LM_ASR_STATUS_INVALID_ARGUMENT;
  LitertLmAsrConfig made;
  litert_lm_asr_config_init(&made);
  if (!SetPreset(&made, preset)) return LITERT_LM_ASR_STATUS_INVALID_ARGUMENT;
  *config = made;
  return LITERT_LM_ASR_STATUS_OK;
}
