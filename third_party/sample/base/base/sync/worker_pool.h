// Threads that share the parts of one loop.
#ifndef BASE_SYNC_WORKER_POOL_H_
#define BASE_SYNC_WORKER_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace base {

class WorkerPool {
 public:
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls part(begin, end) once a worker, for shares of [0, count), and returns when all are done. From one thread at a time.
  void ParallelFor(std::size_t count, const std::function<void(std::size_t, std::size_t)>& part);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace base

#endif  // BASE_SYNC_WORKER_POOL_H_
