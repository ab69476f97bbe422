#include "runtime/host/thread_pool.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <system_error>

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

// Where fork() has left it without its threads nothing of it can be waited for or destroyed: its locks may be
// held by who is not there.
struct ThreadPool::Owner {
  explicit Owner(int threads) : pool(new ThreadPool(threads)) {}
  ~Owner() {
    if (pool->has_threads()) delete pool;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ThreadPool* const pool;
};

ThreadPool& ThreadPool::shared(int threads) {
  if (threads <= 0 || threads == target::usable_threads()) {
    static Owner usual(0);
    return *usual.pool;
  }
  static std::mutex mutex;
  static std::map<int, Owner> others;
  const std::lock_guard lock(mutex);
  return *others.try_emplace(threads, threads).first->second.pool;
}

bool ThreadPool::has_threads() const { return process_ == static_cast<long>(getpid()); }

ThreadPool::ThreadPool(int threads) : process_(static_cast<long>(getpid())) {
  if (threads <= 0) threads = target::usable_threads();
  shares_ = std::vector<Share>(static_cast<std::size_t>(threads));
  workers_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { serve(thread); });
  } catch (const std::system_error&) {
    // The system starts no more of them: those there are, and the caller's, do the work.
  }
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

std::int64_t ThreadPool::take_blocks(int thread) {
  const std::int64_t count = sharing_.load(std::memory_order_relaxed);
  std::int64_t taken = 0;
  for (std::int64_t turn = 0; turn < count; ++turn) {
    const std::int64_t owner = (thread + turn) % count;
    std::atomic<std::int64_t>& next = shares_[static_cast<std::size_t>(owner)].next;
    const std::int64_t begin = blocks_ * owner / count, end = blocks_ * (owner + 1) / count;
    for (std::int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < end;
         i = next.fetch_add(1, std::memory_order_relaxed), ++taken)
      work_(context_, backward_ ? begin + end - 1 - i : i, thread);
  }
  return taken;
}

namespace {

// What `body` took, which returns its blocks.
template <class Body>
ThreadPool::Taken measure(bool timed, Body body) {
  if (!timed) return {body(), 0};
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t blocks = body();
  return {blocks, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace

ThreadPool::Taken ThreadPool::run(std::int64_t blocks, Work work, void* context, Order order) {
  const int sharing = order.most <= 0 ? threads() : std::min(order.most, threads());
  if (blocks == 1 || sharing == 1 || !has_threads())
    return measure(order.timed, [&] {
      for (std::int64_t i = 0; i < blocks; ++i) work(context, order.backward ? blocks - 1 - i : i, 0);
      return blocks;
    });
  const std::lock_guard turn(turn_);
  work_ = work;
  context_ = context;
  blocks_ = blocks;
  backward_ = order.backward;
  sharing_.store(sharing, std::memory_order_relaxed);
  for (std::int64_t owner = 0; owner < sharing; ++owner)
    shares_[static_cast<std::size_t>(owner)].next.store(blocks * owner / sharing, std::memory_order_relaxed);
  open_.store(true);
  generation_.fetch_add(1);
  if (sleeps_one_of(sharing)) {
    { const std::lock_guard lock(sleep_); }
    wake_.notify_all();
  }
  const Taken taken = measure(order.timed, [&] { return take_blocks(0); });
  open_.store(false);
  for (int spins = 0; inside_.load() > 0; ++spins)
    if (spins < kSpins)
      pause();
    else
      std::this_thread::yield();
  return taken;
}

bool ThreadPool::sleeps_one_of(int sharing) const {
  for (int thread = 1; thread < sharing; ++thread)
    if (shares_[static_cast<std::size_t>(thread)].asleep.load()) return true;
  return false;
}

void ThreadPool::serve(int thread) {
  std::uint64_t seen = 0;
  int spins = 0;  // since it took part in a launch
  while (true) {
    while (generation_.load(std::memory_order_acquire) == seen) {
      if (++spins < kSpins) {
        pause();
        continue;
      }
      std::atomic<bool>& asleep = shares_[static_cast<std::size_t>(thread)].asleep;
      std::unique_lock lock(sleep_);
      asleep = true;
      wake_.wait(lock, [&] { return generation_.load() != seen && (ends_ || thread < sharing_.load()); });
      asleep = false;
      spins = 0;
    }
    seen = generation_.load();
    if (ends_) return;
    if (thread >= sharing_.load(std::memory_order_relaxed)) continue;
    inside_.fetch_add(1);
    if (open_.load() && thread < sharing_.load()) take_blocks(thread);
    inside_.fetch_sub(1);
    spins = 0;
  }
}

}  // namespace rondo::runtime
