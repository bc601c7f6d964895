// One background thread that runs jobs in order.
#ifndef BASE_SYNC_WORKER_H_
#define BASE_SYNC_WORKER_H_

#include <memory>

namespace base {

class Job {
 public:
  virtual ~Job() = default;
  virtual void Run() = 0;
};

class Worker {
 public:
  Worker();
  ~Worker();  // runs what is queued, then joins
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void Add(std::unique_ptr<Job> job);
  void WaitUntilIdle();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace base

#endif  // BASE_SYNC_WORKER_H_
