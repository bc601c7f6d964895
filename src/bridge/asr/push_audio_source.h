#ifndef ASR_PUSH_AUDIO_SOURCE_H_
#define ASR_PUSH_AUDIO_SOURCE_H_

#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "asr/upstream.h"

namespace litert_lm_native {

// How audio is cut into windows, in samples. Two windows share `overlap`; `capacity` is at least `window`.
struct Windows {
  int sample_rate_hz = 0;
  std::size_t window = 0;
  std::size_t overlap = 0;
  std::size_t capacity = 0;
};

// Upstream pulls windows from a source; clients push samples. This is the bounded queue between. All functions may be called from any
// thread.
class PushAudioSource : public upstream::AudioSource {
 public:
  enum class Next { kWindow, kNeedsMore, kEnd };

  explicit PushAudioSource(const Windows& windows) : windows_(windows) {}

  // The number of samples that were taken, as many as there is room for.
  std::size_t Push(const float* samples, std::size_t count);
  void Finish();
  bool finished() const;
  // What Schedule() would do.
  Next next() const;

  void Reset() override;
  int GetSampleRateHz() const override { return windows_.sample_rate_hz; }
  int GetNumChannels() const override { return 1; }

 protected:
  bool NeedScheduleInternal() const override { return next() == Next::kWindow; }
  upstream::Status ScheduleInternal() override;

 private:
  Next NextLocked() const;
  std::vector<float> TakeWindowLocked();

  const Windows windows_;
  mutable std::mutex queue_mutex_;
  std::deque<float> queue_;       // begins with the overlap of the window before, where there was one
  std::size_t heard_ = 0;         // how many of them were in a window
  bool finished_ = false;
};

}  // namespace litert_lm_native

#endif  // ASR_PUSH_AUDIO_SOURCE_H_
