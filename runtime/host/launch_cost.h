// How many threads a launch is worth.
#pragma once

#include <atomic>
#include <cstdint>

namespace rondo::runtime {

// What a kernel's blocks have taken so far, and how many threads should share a launch of them: each further
// thread makes the launch's end come later by the time in which it is told and takes its first block. May be
// used from several threads.
class LaunchCost {
 public:
  // At least 1, at most `most` and one a block; `most` as long as nothing has been measured. Small changes of
  // what was measured do not change it, so that blocks stay with their threads.
  int threads(std::int64_t blocks, int most);
  // A thread took so long for so many blocks.
  void measured(double nanoseconds, std::int64_t blocks);
  // Counts a launch, from 0 on.
  std::uint32_t count() { return launches_.fetch_add(1, std::memory_order_relaxed); }
  // Whether to measure launch number `launch`: all of the first ones, then one of some.
  static bool is_due(std::uint32_t launch);

 private:
  std::atomic<float> block_ns_{0};  // 0: unknown
  std::atomic<int> last_{0};
  std::atomic<std::uint32_t> launches_{0};
};

}  // namespace rondo::runtime
