#include "base/sync/worker.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace base {

struct Worker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<Job>> jobs;
  bool busy = false;
  bool stopping = false;
  std::thread thread;

  void Loop() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || !jobs.empty(); });
      if (jobs.empty()) return;
      std::unique_ptr<Job> job = std::move(jobs.front());
      jobs.pop_front();
      busy = true;
      lock.unlock();
      job->Run();
      job.reset();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
};

Worker::Worker() : state_(std::make_unique<State>()) {
  State* state = state_.get();
  state->thread = std::thread([state] { state->Loop(); });
}

Worker::~Worker() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

void Worker::Add(std::unique_ptr<Job> job) {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->jobs.push_back(std::move(job));
  }
  state_->changed.notify_all();
}

void Worker::WaitUntilIdle() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->jobs.empty() && !state_->busy; });
}

}  // namespace base
