// Work shared out over threads.
#pragma once

#include <cstdint>
#include <functional>

namespace rondo {

// Calls make_worker() once on each of `threads` threads (0: all cores; fewer where the system starts no more)
// and the function it returns for items 0 .. count - 1, each once, in any order. An exception of a worker is
// thrown here, after all threads have ended.
using Worker = std::function<void(std::int64_t)>;
void parallel_for(std::int64_t count, int threads, const std::function<Worker()>& make_worker);

}  // namespace rondo
