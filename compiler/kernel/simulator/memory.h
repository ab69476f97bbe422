// Global and shared memory as the simulated threads see it: data, which elements are defined, and the checks
// of each access.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/faults.h"
#include "compiler/kernel/simulator/flags.h"
#include "compiler/kernel/simulator/publish.h"
#include "compiler/kernel/simulator/shadow.h"
#include "compiler/kernel/simulator/simulate.h"
#include "compiler/kernel/simulator/words.h"

namespace rondo::kernel::simulator {

// A global buffer or a shared array.
struct Region {
  GlobalBuffer* data = nullptr;
  Shadow* shadow = nullptr;        // null for buffers that nobody writes in this launch
  bool constant = false;           // bound to a read-only param
  bool shared_by_tensors = false;  // GlobalBuffer::holds
  std::uint8_t tensor = 0;         // which of them the param names
  // Whether an element has what this tensor's writers left.
  bool defined(std::size_t at) const {
    return data->written[at] && (!shared_by_tensors || data->holds[at] == tensor);
  }
  void define(std::size_t at) const {
    data->written[at] = true;
    if (shared_by_tensors) data->holds[at] = tensor;
  }
  std::int64_t elements() const { return static_cast<std::int64_t>(data->written.size()); }
};

// `count` consecutive elements of a region.
struct Span {
  Space space;
  int id;
  std::int64_t index;
  int count;
  std::int64_t block;  // whose shared memory
};

// All regions of a launch. Shared arrays are poisoned anew for each group of blocks.
class Memory {
 public:
  Memory(const Kernel& kernel, const std::vector<Argument>& arguments, std::vector<GlobalBuffer>& buffers,
         bool fp64);
  void start_group(std::int64_t first_block, int blocks);
  Region& region(const Span& span) {
    const auto id = static_cast<std::size_t>(span.id);
    if (span.space == Space::Global) return global_[id];
    return shared_[static_cast<std::size_t>(span.block - first_block_) * kernel_.shared.size() + id];
  }

 private:
  const Kernel& kernel_;
  bool fp64_;
  std::vector<Region> global_;  // by param; scalars have no data
  std::int64_t first_block_ = 0;
  std::vector<Region> shared_;  // of each block of the group
  std::vector<GlobalBuffer> shared_data_;
  std::vector<std::unique_ptr<Shadow>> global_shadows_;  // by buffer
  std::vector<std::unique_ptr<Shadow>> shared_shadows_;
};

// An asynchronous copy of one thread between issue and landing.
struct PendingCopy {
  const Stmt* stmt;
  Span to, from;
  std::uint64_t stamp;  // of the issue
  std::int64_t group;
};

// The copies of one thread. PTX ISA, cp.async.commit_group: "commits all prior initiated but uncommitted
// cp.async operations into a cp.async-group"; cp.async.wait_group N: waits until "only N or fewer of the most
// recent cp.async-groups are pending and all the prior cp.async-groups committed by the executing threads are
// complete". Copies in no group are not waited for.
class CopyQueue {
 public:
  void issue(const Stmt* stmt, const Span& to, const Span& from, std::uint64_t stamp) {
    pending_.push_back({stmt, to, from, stamp, groups_});
  }
  void commit() { ++groups_; }
  // The next copy that a wait for all but `newest` groups completes, if any is left.
  std::optional<PendingCopy> next_landed(std::int64_t newest);

 private:
  std::vector<PendingCopy> pending_;  // from landed_ on
  std::size_t landed_ = 0;
  std::int64_t groups_ = 0;  // closed so far; the open one has this number
};

// The value of one real element, in the width that the run computes in.
inline void load_real(const GlobalBuffer& data, std::size_t at, Lanes& into, int lane) {
  if (data.doubles.empty())
    into.f[lane] = data.values[at];
  else
    into.d[lane] = data.doubles[at];
}
// Stores the value of a lane: one element, or with `packed` two.
void store_element(GlobalBuffer& data, std::size_t at, const Lanes& value, int lane, bool packed);

// The accesses of one thread in one instruction. Each checks, reports faults, and says whether there is
// anything to access.
class Accessor {
 public:
  Accessor(const Kernel& kernel, Memory& memory, const Clocks& clocks, const Flags& flags, const Words& words,
           FaultLog& log)
      : kernel_(kernel), memory_(memory), clocks_(clocks), flags_(flags), words_(words), log_(log) {}

  // The instruction that accesses from now on.
  void at(const Stmt* stmt, std::uint64_t stamp) {
    stmt_ = stmt;
    stamp_ = stamp;
  }
  bool read(const Span& span, const Thread& by);
  bool write(const Span& span, const Thread& by);
  // A st.async stores, as part of phase `phase` of the mbarrier of that column.
  bool send(const Span& span, const Thread& by, int column, Clock phase);
  // check_operand: a product of a warpgroup is about to read the element. read_operand: it has read the
  // element; it was started at stamp `started`.
  void check_operand(const Span& span, const Thread& by, const Publications& publications);
  bool read_operand(const Span& span, const Thread& by, std::uint64_t started);
  // Access to a counter or to words that are their own flags: recorded by Flags and Words, not here.
  bool atomic(const Span& span, const Thread& by);
  void report(const Conflict& conflict, const Thread& by, const char* verb, const Span& span,
              std::int64_t index) {
    report(conflict.kind, by, verb, span, index, conflict.what);
  }
  void issue_copy(const Span& to, const Span& from, const Thread& by, CopyQueue& queue);
  // The copied elements are read from global memory now: as late as the language allows.
  void land(const PendingCopy& copy, const Thread& by);
  GlobalBuffer& data(const Span& span) const { return *memory_.region(span).data; }

 private:
  bool reachable(const Span& span, const Thread& by);
  bool writable(const Span& span, const Thread& by);
  std::optional<Conflict> against_atomics(const Region& region, std::int64_t index, const Thread& by) const;
  void report(Fault::Kind kind, const Thread& by, const char* verb, const Span& span, std::int64_t index,
              const std::string& why);

  const Kernel& kernel_;
  Memory& memory_;
  const Clocks& clocks_;
  const Flags& flags_;
  const Words& words_;
  FaultLog& log_;
  const Stmt* stmt_ = nullptr;
  std::uint64_t stamp_ = 0;
};

}  // namespace rondo::kernel::simulator
