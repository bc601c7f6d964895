#ifndef OMNI_BASE_STAGE_H_
#define OMNI_BASE_STAGE_H_

#include <deque>
#include <mutex>
#include <utility>

#include "base/status/statusor.h"

namespace litert::omni {

// One step of a pipeline, which turns the outputs of the step before into outputs of type T.
template <typename T>
class Stage {
 public:
  virtual ~Stage() = default;

  virtual bool NeedSchedule() const = 0;
  // Does what there is to do, on the calling thread.
  virtual base::Status Schedule() = 0;
  virtual bool HasOutput() const = 0;
  // The oldest output; NOT_FOUND where there is none.
  virtual base::StatusOr<T> GetOutput() = 0;
};

// A stage that runs on one thread at a time and keeps its outputs in a queue. ScheduleInternal() sets the state back to kIdle.
template <typename T>
class SingleThreadedStageWithDeque : public Stage<T> {
 public:
  bool NeedSchedule() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return state_ == State::kIdle && NeedScheduleInternal();
  }

  base::Status Schedule() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (state_ != State::kIdle) return base::NotFoundError("the stage is at work");
      state_ = State::kScheduling;
    }
    return ScheduleInternal();
  }

  bool HasOutput() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return !outputs_.empty();
  }

  base::StatusOr<T> GetOutput() override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (outputs_.empty()) return base::NotFoundError("the stage has no output");
    T output = std::move(outputs_.front());
    outputs_.pop_front();
    return output;
  }

 protected:
  enum class State { kIdle, kScheduling, kRunning };

  virtual bool NeedScheduleInternal() const = 0;
  virtual base::Status ScheduleInternal() = 0;

  void SetState(State state) {
    std::lock_guard<std::mutex> lock(mutex_);
    state_ = state;
  }

  void ClearOutputsThenSetState(State state) {
    std::lock_guard<std::mutex> lock(mutex_);
    outputs_.clear();
    state_ = state;
  }

  void PushOutput(T output) {
    std::lock_guard<std::mutex> lock(mutex_);
    outputs_.push_back(std::move(output));
  }

 private:
  mutable std::mutex mutex_;
  State state_ = State::kIdle;
  std::deque<T> outputs_;
};

}  // namespace litert::omni

#endif  // OMNI_BASE_STAGE_H_
