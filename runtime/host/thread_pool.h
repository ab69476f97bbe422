// Threads that share the blocks of a launch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace rondo::runtime {

// A process that fork() made has none of the threads: there each launch runs in the thread that calls, and
// nobody is waited for. Between two launches of a walk the threads look for work without sleeping for some
// time, because the launches of a recurrence follow each other within microseconds. Calls of run() from
// several threads take turns.
class ThreadPool {
 public:
  // `threads`: with the one that calls run(); 0: target::usable_threads(). There are fewer where the system
  // starts no more.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // The process's own of so many threads, which ends with it. 0: target::usable_threads(), which is also what
  // it is where it has as many.
  static ThreadPool& shared(int threads = 0);

  // Calls work(block, thread) for each block once and returns when all are done. Neighbouring blocks go
  // to one thread, the same ones at every launch of as many blocks, so that it finds in its cache what it
  // left there; who has no more takes from others; `thread` is below threads().
  // Returns what the caller's thread took.
  using Work = void (*)(void* context, std::int64_t block, int thread);
  struct Order {
    int most = 0;           // threads that may take part, 0 for all; one alone waits for nobody
    bool backward = false;  // each thread's last block comes first
    bool timed = false;
  };
  struct Taken {
    std::int64_t blocks = 0;
    double nanoseconds = 0;  // without waiting for others; 0 if not timed
  };
  Taken run(std::int64_t blocks, Work work, void* context, Order order);
  Taken run(std::int64_t blocks, Work work, void* context) { return run(blocks, work, context, {}); }

 private:
  struct Owner;
  bool has_threads() const;  // not so in a process that fork() has made since
  void serve(int thread);
  bool sleeps_one_of(int sharing) const;
  std::int64_t take_blocks(int thread);

  const long process_;
  std::vector<std::thread> workers_;
  std::mutex turn_;  // of callers
  // The launch: written before `generation_` tells of it.
  Work work_ = nullptr;
  void* context_ = nullptr;
  std::int64_t blocks_ = 0;
  bool backward_ = false;
  std::atomic<int> sharing_{0};  // threads below take part
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};  // of the blocks of one thread
    std::atomic<bool> asleep{false};
  };
  std::vector<Share> shares_;
  alignas(64) std::atomic<std::uint64_t> generation_{0};
  // Threads other than the caller's that may look at the launch, and whether there is one. A thread that
  // comes too late for a launch is not waited for: the system may have given its core to another process.
  alignas(64) std::atomic<int> inside_{0};
  std::atomic<bool> open_{false};
  std::atomic<bool> ends_{false};
  std::mutex sleep_;
  std::condition_variable wake_;
};

}  // namespace rondo::runtime
