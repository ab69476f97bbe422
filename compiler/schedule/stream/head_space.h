// What a walk whose block holds the whole head needs of a GPU: for which heads it is there, its tuning space,
// and what its steps cost.
#pragma once

#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stream/kernel.h"
#include "compiler/schedule/stream/resources.h"

namespace rondo::schedule {

// Channels and threads of the largest block; blocks of the largest cluster that holds a head.
inline constexpr int kMostOfBlock = 4096, kLargestBlock = 1024, kMostBlocksOfHead = 16;

// Whether a block, or a cluster of blocks, can hold the whole head of such a cell.
Legality head_fits(const Task& task);

// Of a simplified cell that needs the whole head.
constraint::System head_space(const Task& task);

inline constexpr int kMostRegisters = 255;    // of a thread (CUDA guide, 16.2)
inline constexpr double kShuffleCycles = 28;  // latency of an exchange between lanes, with the addition

// What a step costs whose reductions hand on what they add up, so that the chain goes through them.
StepCost cost_through(const Task& task, step::StepGraph step);

// What a step of the pass has between its threads.
struct HeadShape {
  StepCost cost;
  int levels = 0;       // exchanges of a step, one after the other
  int words = 0;        // values that they add up, in all
  int moments = 0;      // reductions that go through the lanes twice
  int moves = 0;        // shifts and rotations, which pass a row of all channels on
  int carried = 0;      // values that a channel has all the time: states, parameters, sums of their gradients
  int staged = 0;       // rows that a step loads
  int head_values = 0;  // that all channels share, by step
  int kept = 0;         // values that a channel keeps over an exchange
  bool accurate = false;  // special functions are written out
};
HeadShape head_shape(const Task& task);

// Seconds that the exchanges of a step take on the chain.
double head_exchange_seconds(const StreamParameters& p, const HeadShape& shape, const target::Speeds& speeds);
// Instructions of a thread for them.
double head_exchange_slots(const StreamParameters& p, const HeadShape& shape);
// Bytes of shared memory that the exchanges take, by warp: lines of words are whole vectors. Among blocks, by
// warp of all of them, and beside.
inline std::int64_t head_word_bytes(const HeadShape& shape) { return 2 * 16 * std::int64_t{shape.words}; }
inline std::int64_t cluster_word_bytes(const HeadShape& shape) { return 2 * 4 * std::int64_t{shape.words}; }
inline std::int64_t cluster_fixed_bytes(const HeadShape& shape) {
  return 3 * cluster_word_bytes(shape) + kMbarrierBytes;
}
// Bytes of the rows that shifts and rotations pass on, by channel of the block.
inline std::int64_t head_row_bytes(const HeadShape& shape) { return 2 * 4 * std::int64_t{shape.moves}; }
// Registers that a thread needs at least.
int head_registers(int per_thread, int unroll, const HeadShape& shape);
// Whether what a step keeps over an exchange may take more than there are.
bool head_may_spill(const StreamParameters& p, const HeadShape& shape, const target::Limits& limits);
// Blocks of an SM that these allow.
int head_blocks_by_registers(const StreamParameters& p, const HeadShape& shape, const target::Limits& limits);

}  // namespace rondo::schedule
