#include "base/sync/worker_pool.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace base {

struct WorkerPool::State {
  std::mutex mutex;
  std::condition_variable changed;
  const std::function<void(std::size_t, std::size_t)>* part = nullptr;
  std::size_t count = 0;
  std::size_t round = 0;  // grows by one a loop
  std::size_t busy = 0;
  bool stopping = false;
  std::vector<std::thread> threads;

  void Loop(std::size_t index, std::size_t workers) {
    std::size_t done = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [this, done] { return stopping || round != done; });
      if (stopping) return;
      done = round;
      const auto& mine = *part;
      const std::size_t begin = count * index / workers, end = count * (index + 1) / workers;
      lock.unlock();
      mine(begin, end);
      lock.lock();
      if (--busy == 0) changed.notify_all();
    }
  }
};

WorkerPool::WorkerPool(int workers) : state_(std::make_unique<State>()) {
  State* state = state_.get();
  const std::size_t size = static_cast<std::size_t>(workers);
  for (std::size_t i = 0; i < size; ++i) state->threads.emplace_back([state, i, size] { state->Loop(i, size); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void WorkerPool::ParallelFor(std::size_t count, const std::function<void(std::size_t, std::size_t)>& part) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->part = &part;
  state_->count = count;
  state_->busy = state_->threads.size();
  ++state_->round;
  state_->changed.notify_all();
  state_->changed.wait(lock, [this] { return state_->busy == 0; });
}

}  // namespace base
