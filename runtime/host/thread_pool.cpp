#include "runtime/host/thread_pool.h"

#include "compiler/target/target.h"

namespace rondo::runtime {

namespace {

constexpr int kSpins = 20000;  // some hundred microseconds; then a thread sleeps

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool& ThreadPool::shared() {
  static ThreadPool pool;
  return pool;
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = target::usable_threads();
  shares_ = std::vector<Share>(static_cast<std::size_t>(threads));
  for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { serve(thread); });
}

ThreadPool::~ThreadPool() {
  ends_ = true;
  {
    const std::lock_guard lock(sleep_);
    generation_.fetch_add(1);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_blocks(int thread) {
  const std::int64_t count = threads();
  for (std::int64_t turn = 0; turn < count; ++turn) {
    const std::int64_t owner = (thread + turn) % count;
    std::atomic<std::int64_t>& next = shares_[static_cast<std::size_t>(owner)].next;
    const std::int64_t end = blocks_ * (owner + 1) / count;
    for (std::int64_t block = next.fetch_add(1, std::memory_order_relaxed); block < end;
         block = next.fetch_add(1, std::memory_order_relaxed))
      work_(context_, block, thread);
  }
}

void ThreadPool::run(std::int64_t blocks, Work work, void* context) {
  const std::lock_guard turn(turn_);
  if (blocks == 1 || workers_.empty()) {
    for (std::int64_t block = 0; block < blocks; ++block) work(context, block, 0);
    return;
  }
  work_ = work;
  context_ = context;
  blocks_ = blocks;
  for (std::int64_t owner = 0; owner < threads(); ++owner)
    shares_[static_cast<std::size_t>(owner)].next.store(blocks * owner / threads(),
                                                        std::memory_order_relaxed);
  open_.store(true);
  generation_.fetch_add(1);
  if (asleep_.load() > 0) {
    { const std::lock_guard lock(sleep_); }
    wake_.notify_all();
  }
  take_blocks(0);
  open_.store(false);
  for (int spins = 0; inside_.load() > 0; ++spins)
    if (spins < kSpins)
      pause();
    else
      std::this_thread::yield();
}

void ThreadPool::serve(int thread) {
  std::uint64_t seen = 0;
  while (true) {
    int spins = 0;
    while (generation_.load(std::memory_order_acquire) == seen) {
      if (++spins < kSpins) {
        pause();
        continue;
      }
      std::unique_lock lock(sleep_);
      asleep_.fetch_add(1);
      wake_.wait(lock, [&] { return generation_.load() != seen; });
      asleep_.fetch_sub(1);
    }
    seen = generation_.load();
    if (ends_) return;
    inside_.fetch_add(1);
    if (open_.load()) take_blocks(thread);
    inside_.fetch_sub(1);
  }
}

}  // namespace rondo::runtime
