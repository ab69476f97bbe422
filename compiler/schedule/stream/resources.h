// What a configuration of stream needs of a GPU: the tuning space bounds it, the model prices it, and kernels
// are compiled for it.
#pragma once

#include <cstdint>

#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stream/kernel.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Rows of storage type staged through shared memory at each step, and rows moved in all.
struct StreamTraffic {
  int staged = 0;
  int moved = 0;
};
StreamTraffic stream_traffic(const Task& task);
// What a step of the pass computes: next states and outputs, or gradients of previous states, inputs and
// parameters. What that costs.
step::StepGraph stream_step(const Task& task);
StepCost stream_cost(const Task& task);
// What a walk in segments computes beside where it computes steps again.
StepCost scan_cost(const Task& task);
int stream_instructions_folded(const Task& task);  // by Rewrite::Throughput

// segment_exchange_bytes: bytes of shared memory by segment and channel, for the segments' transforms (of two
// rounds where blocks split time, with a mark) and, backward, for their parts of parameter gradients.
// team_exchange_bytes: bytes by channel that blocks which split time need beside: the carries that come into
// a block's part and, in a cluster, the transforms of all blocks.
std::int64_t segment_exchange_bytes(const Task& task, const TransformPattern& pattern, bool among_blocks);
std::int64_t team_exchange_bytes(const TransformPattern& pattern, int cluster, bool grid, bool pipelined);
// Bytes by step for what all channels share, of two stages (channelwise/shared_values.h).
std::int64_t head_value_bytes(const step::Cell& cell);
// Bytes of each block's share of shared memory that the driver keeps (CUDA guide, 16.8).
inline constexpr std::int64_t kSharedReserved = 1024;
inline constexpr std::int64_t kMbarrierBytes = 128;  // mbarriers of a cluster and alignment behind them

// What a walk in segments keeps: values of a step, as segment_parts() counts them, unless it computes steps
// again; the map of what is carried; and rows of parameters, backward with the sums of their gradients.
struct SegmentShape {
  int parts = 0;
  bool again = false;
  TransformPattern pattern = 1;
  int params = 0;
  bool gradients = false;
  bool accurate = false;  // special functions are written out
  int shared = 0;         // registers for what all channels share: flags, and inputs with one value a head
  // Registers those take beside, where several blocks of an SM leave no more than is kept (minlstm in fp32).
  int function_registers() const { return accurate ? 12 : 0; }
};
SegmentShape segment_shape(const Task& task);
// Whether the registers of a thread hold so many values of each step of the shortest segment.
bool keeps_parts(const step::Cell& cell, int parts);

// Registers of a thread of a walk in segments, alone or where blocks split time; with `pipelined` the kept
// values are those of two stages.
int segment_registers(bool among_blocks, bool pipelined, int per_thread, int unroll,
                      const SegmentShape& shape);
// Bytes moved, by the size of the L2, beyond which streaming stores may pay.
inline constexpr std::int64_t kTimesL2 = 4;
// Registers of a lane of the scan warp, beside the words of all blocks' transforms.
inline constexpr int kScanRegisters = 48;

// Each of an SM's four schedulers has a quarter of the registers: a block of 17 warps takes as many as one
// of 20.
inline constexpr int kThreadsOfAllSchedulers = 128;
inline constexpr int kMostBlocksOfGrid = 2;  // of one SM

// Blocks of one SM that registers allow a walk in segments among blocks. The model counts on them, and the
// kernel is compiled for them.
int blocks_by_registers(const StreamParameters& parameters, const SegmentShape& shape);
// Whether the estimate comes close to the registers that those blocks leave. The temporaries of a cell's
// arithmetic may then spill.
bool may_spill(const StreamParameters& parameters, const SegmentShape& shape);

}  // namespace rondo::schedule
