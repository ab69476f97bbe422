// What a configuration of shoot needs of a GPU: the tuning space bounds it, the model prices it, and kernels
// are compiled for it.
#pragma once

#include <cstdint>

#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/shoot/parameters.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

// Rows of storage type that a step reads and writes, of one channel.
struct ShootTraffic {
  int read = 0;
  int written = 0;
};
ShootTraffic shoot_traffic(const Task& task);

// The cost of a step with the Jacobian and its product, and without both.
StepCost shoot_cost(const Task& task, bool newton);

// Whether arithmetic is accurate: where it is asked for, and where a step has no function that fast
// arithmetic makes coarse, as tanh and sigmoid. Of an affine cell, whose second sweep is exact, nobody asks
// for more.
bool shoot_is_accurate(const Task& task);

// What registers and shared memory follow from, of a cell and problem.
struct ShootShape {
  int states = 1;                // rows, as params and inputs are
  TransformPattern pattern = 1;  // of the maps of segments
  int params = 0;
  int inputs = 1;          // of channels
  int element = 2;         // bytes
  bool functions = false;  // special functions are written out
  bool accurate = false;   // arithmetic is accurate, not fast
  bool resets = false;
  int head_values = 0;  // rows of inputs with one value a head
};
ShootShape shoot_shape(const Task& task);

// Entries of a channel's Jacobian that stay in registers. State rows of a channel whose segments' maps leave
// room for segments.
inline constexpr int kShootMostJacobian = 64;
inline constexpr std::size_t kShootMostStates = 16;

// Whether the kernel keeps account of the rounding of the steps before a segment.
bool shoot_remembers(const ShootShape& shape, bool newton);

// Registers of a thread, estimated: the values of `unroll` steps, parameters, states and what goes with them.
// `kept_steps`: whose inputs stay in registers.
int shoot_registers(const ShootShape& shape, int per_thread, int unroll, bool newton, int kept_steps);

// Registers that a thread of blocks which split time has at least.
int team_registers(const target::Target& target);
// Of a lane of the scan warp beside the transforms of all blocks, which it has at once through global memory.
inline constexpr int kScanWarpRegisters = 48;

// Whether the compiler may keep more than it has registers for. Copies of less than 4 bytes, of 16-bit rows
// with an odd number of channels, go through registers, and those of a stage are under way together: with 128
// of them ptxas spills (CUDA 13, sm_80 to sm_100), with 96 it needs 72 registers.
bool may_spill(const ShootShape& shape, const ShootParameters& p);

// Bytes of shared memory: of a segment's ring by stage, step and channel; of maps by segment and channel; by
// channel beside those.
std::int64_t shoot_map_bytes(const TransformPattern& pattern);
std::int64_t shoot_channel_bytes(int states);
// Of a warp's values that channels share, by step of a stage; 0 without any.
std::int64_t shoot_head_value_bytes(const ShootShape& shape);
// By block that splits time: of a channel, and of the exchange of counts.
std::int64_t shoot_team_bytes(const TransformPattern& pattern);
inline constexpr std::int64_t kShootFixedBytes = 1024;  // counts, mbarriers, alignment
inline constexpr std::int64_t kShootReserved =
    1024;  // that the driver keeps of each block (CUDA guide, 16.8)
std::int64_t shoot_shared_bytes(const ShootShape& shape, const ShootParameters& p);

// Blocks of one SM at once; kernels are compiled for them.
int blocks_of_sm(const ShootShape& shape, const ShootParameters& p, const target::Profile& profile);

}  // namespace rondo::schedule
