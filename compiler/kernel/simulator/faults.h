// The faults of one run: one a statement and kind, up to a limit.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/ir/ir.h"
#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel::simulator {

// Who does something: a lane of a warp of a block.
struct Thread {
  std::int64_t block = 0;
  int warp = 0;
  int lane = 0;
};
std::string describe(const Thread& thread);  // "thread 35 (warp 1, lane 3) of block 0"

class FaultLog {
 public:
  FaultLog(const Kernel& kernel, const SimulationOptions& options)
      : kernel_(kernel), limit_(options.max_faults) {}

  // `what` is a sentence about the statement, which is printed before it. Null: the kernel as a whole.
  void report(Fault::Kind kind, const Stmt* stmt, const std::string& what);
  bool is_new(Fault::Kind kind, const Stmt* stmt) const { return !known_.contains({kind, stmt}); }
  // After this the rest of the run has no meaning (deadlock, step limit).
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  // Suppresses reports while `muted`: what happens after waits that ended in vain is no fault of its own.
  void mute(bool muted) { muted_ = muted; }
  std::vector<Fault> take() { return std::move(faults_); }

 private:
  const Kernel& kernel_;
  int limit_;
  bool stopped_ = false;
  bool muted_ = false;
  std::set<std::pair<Fault::Kind, const Stmt*>> known_;
  std::vector<Fault> faults_;
};

}  // namespace rondo::kernel::simulator
