// Which writes to shared memory the tensor cores see: those that their thread has published since
// (ProxyFence; PTX ISA, async proxy: "a proxy fence is needed to synchronize across multiple proxies").
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"

namespace rondo::kernel::simulator {

class Publications {
 public:
  explicit Publications(int agents) : by_agent_(static_cast<std::size_t>(agents)) {}

  void publish(int agent, Mask lanes, std::uint64_t stamp, Clock clock) {
    by_agent_[static_cast<std::size_t>(agent)].push_back({stamp, clock, lanes});
  }
  // The clock of the lane's first publication after `stamp`.
  std::optional<Clock> after(int agent, int lane, std::uint64_t stamp) const {
    const auto& all = by_agent_[static_cast<std::size_t>(agent)];
    auto at = std::upper_bound(all.begin(), all.end(), stamp,
                               [](std::uint64_t s, const Publication& p) { return s < p.stamp; });
    at = std::find_if(at, all.end(), [&](const Publication& p) { return has(p.lanes, lane); });
    if (at == all.end()) return std::nullopt;
    return at->clock;
  }

 private:
  struct Publication {
    std::uint64_t stamp;
    Clock clock;
    Mask lanes;
  };
  std::vector<std::vector<Publication>> by_agent_;  // in the order of their stamps
};

}  // namespace rondo::kernel::simulator
