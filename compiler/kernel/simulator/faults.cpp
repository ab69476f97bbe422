#include "compiler/kernel/simulator/faults.h"

#include <fmt/format.h>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/simulator/lanes.h"

namespace rondo::kernel::simulator {

std::string describe(const Thread& thread) {
  return fmt::format("thread {} (warp {}, lane {}) of block {}", thread.warp * kLanes + thread.lane,
                     thread.warp, thread.lane, thread.block);
}

void FaultLog::report(Fault::Kind kind, const Stmt* stmt, const std::string& what) {
  if (stopped_ || muted_ || !known_.insert({kind, stmt}).second) return;
  const std::string where = stmt != nullptr ? "`" + print(kernel_, *stmt) + "`" : "kernel " + kernel_.name;
  faults_.push_back({kind, where + ": " + what});
  if (static_cast<int>(faults_.size()) >= limit_) stopped_ = true;
}

}  // namespace rondo::kernel::simulator
