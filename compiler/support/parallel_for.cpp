#include "compiler/support/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace rondo {

void parallel_for(std::int64_t count, int threads, const std::function<Worker()>& make_worker) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&] {
    try {
      const Worker worker = make_worker();
      for (std::int64_t item = next++; item < count; item = next++) worker(item);
    } catch (...) {
      next = count;  // no new items anywhere
      const std::lock_guard<std::mutex> guard(failure_lock);
      failure = std::current_exception();
    }
  };
  const std::int64_t cores = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(std::max<std::int64_t>(std::min(cores, count), 0)));
  try {
    for (std::int64_t i = 1; i < std::min(cores, count); ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The system starts no more of them: those there are, and this one, do the work.
  }
  work();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace rondo
