// Runs a Kernel on the CPU, group by group, warp by warp in lockstep, and reports faults that may go unseen
// on a GPU.
//
// A group is what runs together: a block, the blocks of a cluster, or the whole grid of a cooperative kernel.
// Its warps take turns, each as far as it gets. Asynchronous copies land as late as the rules allow (when
// their group is waited for). Matrix products sum in double and round to fp32 once.
//
// Reported as faults:
//  - out-of-range or misaligned access; a write to a read-only buffer; registers read before they are set;
//  - reads of memory that nobody wrote (including a pending asynchronous copy's target), or to which another
//    tensor was written that lies in it too;
//  - races: two threads of a group access an element, at least one of them writes, and nothing orders the
//    two, by vector clocks. Barriers, mbarriers and grid flags order accesses; threads of one warp need one
//    of them too, or a WarpSync. Data of a StoreAsync is ordered only before threads that wait for its
//    mbarrier's phase. Neither it nor a StoreSelfFlagged publishes earlier stores of its thread. Two groups
//    that access one global element always race if one of them writes;
//  - deadlocks: warps that wait for what never comes;
//  - misuse of the protocols: more arrivals than a phase waits for, arrivals or bytes that may be counted for
//    an earlier phase when warps run in another order, a block that may leave while others still use its
//    shared memory, words sent to a place that was not cleared, operands of a product in tf32 that were not
//    rounded to it;
//  - a run past `step_limit`.
// Races are judged by what orders two accesses, not by the order in which the warps happen to run.
//
// A run in fp64 computes and keeps every real number as a double: that of a kernel in double, and, with
// SimulationOptions::fp64, of any other, so that it shows what its method does apart from rounding. Only
// kernels without packed pairs and matrix products have one.
//
// Not modelled: warps whose lanes diverge wait together, so lanes that wait for other lanes of their own warp
// deadlock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Memory of one global buffer. Values are kept as float (already rounded to the storage type) or int32;
// `written[i]` says that element i holds defined data (inputs: all true; outputs start all false).
struct GlobalBuffer {
  Storage storage = Storage::F32;
  std::vector<float> values;           // F32, BF16, F16
  std::vector<std::int32_t> integers;  // I32
  // F64, and of a run in fp64: what `values` are else, unrounded; beside I32, the numbers that words which
  // are their own flags stand for.
  std::vector<double> doubles;
  std::vector<bool> written;
  // Of memory in which two tensors lie: which of them (Argument::tensor) was last written to element i. A
  // read as the other one is a read of what nobody wrote. Empty: of one tensor.
  std::vector<std::uint8_t> holds;
};
GlobalBuffer input_buffer(Storage storage, const std::vector<double>& values);  // rounds to the storage type
// Poisoned: NaN, nothing written. `fp64`: for a run in fp64 of what is not stored so.
GlobalBuffer output_buffer(Storage storage, std::int64_t elements, bool fp64 = false);
void poison(GlobalBuffer& buffer);  // makes it so again

// One launch argument, in the order of Kernel::params: a buffer (index into the buffers given) or a scalar.
struct Argument {
  int buffer = -1;
  std::int64_t integer = 0;
  double real = 0;
  std::uint8_t tensor = 0;  // which of those that lie in the buffer, where it has GlobalBuffer::holds
};

struct Fault {
  enum class Kind {
    OutOfRange,
    Misaligned,
    Unwritten,
    Race,
    Deadlock,
    Protocol,  // misuse of a barrier, mbarrier, cluster or matrix unit
    ReadOnly,
    Unset,
    StepLimit
  } kind;
  std::string message;  // the statement, memory, index, block and threads involved
};

struct SimulationOptions {
  std::int64_t step_limit = std::int64_t{1} << 40;  // statements executed by warps
  int max_faults = 8;                               // stop after so many
  // What a GPU does with a deadlock in a kernel with a status: the waits end, the status is set, and the
  // kernel comes to its end. No faults are looked for from then on.
  bool give_up = false;
  // Every real number is a double, in registers and in memory; all buffers of real numbers must be made so.
  // A kernel that packs pairs or multiplies matrices throws std::logic_error.
  bool fp64 = false;
};
struct SimulationResult {
  std::vector<Fault> faults;  // empty: clean
  std::int64_t steps = 0;
  bool gave_up = false;  // waits ended in vain
};

// Runs a grid of `blocks` blocks of kernel.threads. Buffers are changed in place. The kernel must pass
// verify().
SimulationResult simulate(const Kernel& kernel, std::int64_t blocks, const std::vector<Argument>& arguments,
                          std::vector<GlobalBuffer>& buffers, const SimulationOptions& options = {});

// A packed pair of the IR.
std::int32_t pack_pair(Storage storage, float low, float high);
float unpack_pair(Storage storage, std::int32_t pair, bool high);

// The word that a StoreSelfFlagged stores for an F32 value: its bits, but never kEmpty.
std::int32_t flagged_word(float value);

}  // namespace rondo::kernel
