// A pipeline that fails as its model's path says, in the shape of upstream's earlier releases; with LATER in that of the later ones.
#ifndef OMNI_ASR_ASR_ENGINE_H_
#define OMNI_ASR_ASR_ENGINE_H_

#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#ifdef LATER
#define UPSTREAM litert::omni::asr
#else
#define UPSTREAM litert_lm::omni::asr
#endif

namespace UPSTREAM {

enum class StatusCode : int {};

class Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string_view message) : code_(code), message_(message) {}
  StatusCode code() const { return code_; }
  std::string_view message() const { return message_; }

 private:
  StatusCode code_{};
  std::string message_;
};

template <typename T>
class StatusOr {
 public:
  StatusOr(Status status) : status_(std::move(status)) {}
  StatusOr(T value) : value_(std::move(value)) {}
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

class AudioSource {
 public:
  virtual ~AudioSource() = default;
  virtual void Reset() = 0;
  virtual int GetSampleRateHz() const = 0;
  virtual int GetNumChannels() const = 0;
  Status Schedule() { return ScheduleInternal(); }

 protected:
  enum class State { kIdle };
  virtual bool NeedScheduleInternal() const = 0;
  virtual Status ScheduleInternal() = 0;
  void SetState(State) {}
  void ClearOutputsThenSetState(State) { outputs_.clear(); }
  void PushOutput(std::vector<float> output) { outputs_.push_back(std::move(output)); }

 private:
  std::deque<std::vector<float>> outputs_;
};

class TextMerger {
 public:
  struct MergeResult {
    std::string confirmed_text, unconfirmed_text;
  };
};

class AsrSession {
 public:
  explicit AsrSession(std::unique_ptr<AudioSource> source) : source_(std::move(source)) {}
  void Reset() { source_->Reset(); }
#ifdef LATER
  using Output = std::variant<std::monostate, TextMerger::MergeResult, std::vector<float>>;
  StatusOr<Output> ProcessNext() { return Window<Output>(); }
#else
  using Output = TextMerger::MergeResult;
  StatusOr<Output> ProcessNextChunk() { return Window<Output>(); }
#endif
  StatusOr<Output> Flush() { return Status(StatusCode{5}, "nothing is left"); }

 private:
  template <typename Output>
  StatusOr<Output> Window() {
    (void)source_->Schedule();
    if (++windows_ == 1) return Output(TextMerger::MergeResult{"said", "may be"});
    throw std::runtime_error("thrown in a window");
  }

  std::unique_ptr<AudioSource> source_;
  int windows_ = 0;
};

struct LogMelConfig {
  int n_fft, n_mels, hop_length, n_frames;
  bool transpose;
  float preemphasis;
  enum class NormType { kStandard, kWhisper } norm_type;
};

struct AsrEngineConfig {
  std::string model_name, model_path, tokenizer_path;
  int sample_rate_hz, input_milliseconds;
  enum class DecoderType {
    kCtc,
    kTdt,
    kStateless,
#ifdef LATER
    kLm,
#endif
  } decoder_type;
  enum class Backend { kCpu } backend;
  enum class TextMergerType { kLevenshtein } text_merger_type;
  int num_threads;
  float overlap_ratio;
  bool has_log_mel_config;
  LogMelConfig log_mel_config;
  int decode_start_token_id, decode_stop_token_id, decode_skip_until_token_id, decode_statefully_after, vocab_size, blank_token_id;
};

class AsrEngine {
 public:
  static StatusOr<std::unique_ptr<AsrEngine>> Create(const AsrEngineConfig& config) {
    const std::string& fault = config.model_path;
    if (fault == "throw memory") throw std::bad_alloc();
    if (fault == "throw error") throw std::runtime_error("thrown by the pipeline");
    if (fault == "throw number") throw 42;
    if (fault == "qwen.litertlm") return Status(StatusCode{9}, "decoder " + std::to_string(static_cast<int>(config.decoder_type)));
    if (fault.compare(0, 7, "status ") == 0) return Status(StatusCode{std::atoi(fault.c_str() + 7)}, fault);
    return std::make_unique<AsrEngine>();
  }
  StatusOr<std::unique_ptr<AsrSession>> CreateSession(std::unique_ptr<AudioSource> source) { return std::make_unique<AsrSession>(std::move(source)); }
};

}  // namespace UPSTREAM

#endif  // OMNI_ASR_ASR_ENGINE_H_
