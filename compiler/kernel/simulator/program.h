// KernelIR flattened for the simulator: a list of instructions with jumps instead of nested bodies, and slots
// (32 lanes of a value) instead of names. A warp's whole state is then a program counter, a stack of masks
// and its slots, so it can be suspended between any two instructions.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel::simulator {

using Slot = std::int32_t;  // index into a warp's LaneFile
using Pc = std::int32_t;    // index into Program::code

// Evaluates one expression node into a slot; `in` are the slots of its operands in the order of
// for_each_operand.
struct Compute {
  ExprId expr;
  Slot into;
  std::array<Slot, 5> in;
};

// What an instruction does once its Computes have run. Slots of values come from those.
struct SetRegister {
  Slot into, from;
};
struct ClearArray {
  Slot first;
  int size;
};
struct WriteArray {
  ArrayId array;
  Slot index, value;
};
struct LoadElements {
  const Load* load;
  Slot index;
  std::vector<Slot> into;
};
struct StoreElements {
  const Store* store;
  Slot index;
  std::vector<Slot> values;
};
struct IssueCopy {
  const CopyAsync* copy;
  Slot to, from;
};
struct CommitGroup {};
struct WaitGroups {
  int pending;
};
struct BlockBarrier {};
struct ComeToBarrier {
  int id, threads;
  bool waits;
};
struct ClusterMeeting {};
struct SyncWarp {};
struct ShuffleLanes {
  ShuffleMode mode;
  Slot into, from, lane;
};
struct CountVotes {
  Slot into, predicate;
};
// Slots of first elements of slices, and of the place of the lane's row.
struct MultiplyMatrices {
  const Mma* mma;
  Slot acc, a, b;
};
struct LoadMatrices {
  const LoadMatrix* load;
  Slot first, row;
};
// Slots of the accumulator's first element and of the operands' places.
struct StartProduct {
  const WarpgroupMma* mma;
  Slot acc, a, b;
};
struct AwaitProducts {
  int pending;
};
struct PublishShared {};
// Slots of the number of steps and of the places.
struct MultiplyTiles {
  const TileMma* mma;
  Slot steps, sums, a, b;
};
struct PackElements {
  const PackTile* pack;
  Slot to, from;
};
// `bytes` and `rank` are -1 where the statement has none.
struct ArriveMbarrier {
  MbarrierId id;
  Slot index, rank, bytes;
};
struct AwaitPhase {
  MbarrierId id;
  Slot index, parity;
};
struct SendElements {
  const StoreAsync* store;
  Slot index, rank, barrier;
  std::vector<Slot> values;
};
struct ArriveFlag {
  const GridArrive* arrive;
  Slot index;
};
struct AwaitFlag {
  const GridWait* wait;
  Slot index, target;
};
struct SendWords {
  const StoreSelfFlagged* store;
  Slot index;
  std::vector<Slot> values;
};
struct AwaitWords {
  const LoadSelfFlagged* load;
  Slot first, index, stride;
};
struct FenceGrid {};
struct EnterIf {
  Slot condition;
  Pc else_pc;
};  // else_pc: the SwitchToElse
struct SwitchToElse {
  Pc end_pc;
};  // end_pc: the LeaveIf
struct LeaveIf {};
struct EnterLoop {
  Slot variable, begin;
};
struct TestLoop {
  Slot variable, end;
  Pc exit_pc;
};
struct NextLoop {
  Slot variable, step;
  Pc test_pc;
};
struct Finish {};

using Action = std::variant<SetRegister, ClearArray, WriteArray, LoadElements, StoreElements, IssueCopy,
                            CommitGroup, WaitGroups, BlockBarrier, ComeToBarrier, ClusterMeeting, SyncWarp,
                            ShuffleLanes, CountVotes, MultiplyMatrices, LoadMatrices, StartProduct,
                            AwaitProducts, PublishShared, MultiplyTiles, PackElements, ArriveMbarrier,
                            AwaitPhase, SendElements, ArriveFlag, AwaitFlag, SendWords, AwaitWords, FenceGrid,
                            EnterIf, SwitchToElse, LeaveIf, EnterLoop, TestLoop, NextLoop, Finish>;

struct Instruction {
  const Stmt* source = nullptr;   // for messages; null only for Finish
  std::vector<Compute> computes;  // in order
  std::vector<Slot> uses;         // slots the action reads: must be defined in the active lanes
  Action action;
};

struct Program {
  const Kernel* kernel = nullptr;  // must outlive the program
  std::vector<Instruction> code;
  std::vector<Slot> arrays;                     // first slot of each register array
  std::vector<std::pair<Slot, ExprId>> leaves;  // constants, params and builtins: filled when a warp starts
  Slot slots = 0;
};

// The kernel must pass verify().
Program compile(const Kernel& kernel);

}  // namespace rondo::kernel::simulator
