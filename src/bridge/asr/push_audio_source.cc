#include "asr/push_audio_source.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace litert_lm_native {

std::size_t PushAudioSource::Push(const float* samples, std::size_t count) {
  std::lock_guard<std::mutex> lock(queue_mutex_);
  const std::size_t accepted = std::min(count, windows_.capacity - queue_.size());
  queue_.insert(queue_.end(), samples, samples + accepted);
  return accepted;
}

void PushAudioSource::Finish() {
  std::lock_guard<std::mutex> lock(queue_mutex_);
  finished_ = true;
}

bool PushAudioSource::finished() const {
  std::lock_guard<std::mutex> lock(queue_mutex_);
  return finished_;
}

PushAudioSource::Next PushAudioSource::next() const {
  std::lock_guard<std::mutex> lock(queue_mutex_);
  return NextLocked();
}

PushAudioSource::Next PushAudioSource::NextLocked() const {
  if (queue_.size() >= windows_.window) return Next::kWindow;
  if (!finished_) return Next::kNeedsMore;
  return queue_.size() > heard_ ? Next::kWindow : Next::kEnd;
}

std::vector<float> PushAudioSource::TakeWindowLocked() {
  const std::size_t size = std::min(queue_.size(), windows_.window);
  std::vector<float> window(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(size));
  window.resize(windows_.window, 0.0f);
  const std::size_t passed = std::min(queue_.size(), windows_.window - windows_.overlap);
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(passed));
  heard_ = size - passed;
  return window;
}

upstream::Status PushAudioSource::ScheduleInternal() {
  Next found;
  std::vector<float> window;
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    found = NextLocked();
    if (found == Next::kWindow) window = TakeWindowLocked();
  }
  if (found == Next::kWindow) PushOutput(std::move(window));
  SetState(State::kIdle);
  if (found == Next::kEnd) return upstream::Status(static_cast<upstream::StatusCode>(upstream::kOutOfRange), "the audio has ended");
  if (found == Next::kNeedsMore) return upstream::Status(static_cast<upstream::StatusCode>(upstream::kUnavailable), "no window is complete");
  return upstream::Status();
}

void PushAudioSource::Reset() {
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    queue_.clear();
    heard_ = 0;
    finished_ = false;
  }
  ClearOutputsThenSetState(State::kIdle);
}

}  // namespace litert_lm_native
