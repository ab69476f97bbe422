#include "compiler/target/cluster_cost.h"

#include <algorithm>

namespace rondo::target {

// Measured on an H200: with one block an SM, 15 clusters of 8 and 7 of 16.
int clusters_at_once(const Limits& limits, int size, int per_sm) {
  const double usable = size <= 2 ? 1 : size == 4 ? 0.94 : size == 8 ? 0.91 : 0.85;
  return static_cast<int>(usable * limits.sm_count * per_sm) / size;
}

int largest_cluster(const Limits& limits) {
  constexpr int kLargest = 16;  // that any GPU forms (CUDA C++ Programming Guide, "Thread Block Clusters")
  int largest = 1;
  for (int size = 2; size <= std::min(limits.max_cluster, kLargest); size *= 2)
    if (clusters_at_once(limits, size, 1) >= 1) largest = size;
  return largest;
}

// Measured on an H200, all to all by st.async with 256 bytes a peer: 0.28 to 0.42 us for clusters of 2 to 16.
// What a block receives comes in at 32 bytes a cycle.
double cluster_exchange_cycles(int size, double bytes) { return 260 + 8.0 * size + bytes / 32; }

}  // namespace rondo::target
