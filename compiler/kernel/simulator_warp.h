// One warp: runs instructions in lockstep until it must wait for others. It can be resumed at any time
// because its state is a program counter, masks and slots.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "compiler/kernel/simulator_clocks.h"
#include "compiler/kernel/simulator_faults.h"
#include "compiler/kernel/simulator_lanes.h"
#include "compiler/kernel/simulator_memory.h"
#include "compiler/kernel/simulator_program.h"

namespace rondo::kernel::simulator {

// What the warps of a block share.
struct BlockContext {
  const Program& program;
  std::int64_t block;
  Clocks& clocks;
  Accessor& memory;
  FaultLog& log;
  std::int64_t& steps;  // instructions run by all warps of the launch so far
  std::int64_t step_limit;
};

// Why a warp does not run. The scheduler decides when a wait is over.
struct Ready {};
struct AtBarrier {
  Pc pc;
};  // of the BlockBarrier
struct Finished {};
using WarpState = std::variant<Ready, AtBarrier, Finished>;

class Warp {
 public:
  Warp(const Program& program, int index, Mask existing)
      : program_(program), index_(index), existing_(existing), lanes_(program) {}

  void start(const Launch& launch, std::int64_t block);
  // Runs until the warp waits or has finished, or the log stops the run.
  void run(BlockContext& context);
  void resume() { state_ = Ready{}; }
  const WarpState& state() const { return state_; }
  int index() const { return index_; }

 private:
  // A construct being run: the lanes to restore after it, and those that take the else branch.
  struct Frame {
    Mask saved;
    Mask otherwise;
  };

  void step(BlockContext& context);
  void check_defined(const Instruction& instruction, BlockContext& context);
  void report_undefined(const Instruction& instruction, int lane, BlockContext& context);
  bool whole_warp(const char* what, BlockContext& context);
  Thread thread(int lane, const BlockContext& context) const { return {context.block, index_, lane}; }
  Mask where_true(Slot slot) const;

  void act(const SetRegister& a, BlockContext& context);
  void act(const ClearArray& a, BlockContext& context);
  void act(const WriteArray& a, BlockContext& context);
  void act(const LoadElements& a, BlockContext& context);
  void act(const StoreElements& a, BlockContext& context);
  void act(const IssueCopy& a, BlockContext& context);
  void act(const CommitGroup& a, BlockContext& context);
  void act(const WaitGroups& a, BlockContext& context);
  void act(const BlockBarrier& a, BlockContext& context);
  void act(const SyncWarp& a, BlockContext& context);
  void act(const ShuffleLanes& a, BlockContext& context);
  void act(const EnterIf& a, BlockContext& context);
  void act(const SwitchToElse& a, BlockContext& context);
  void act(const LeaveIf& a, BlockContext& context);
  void act(const EnterLoop& a, BlockContext& context);
  void act(const TestLoop& a, BlockContext& context);
  void act(const NextLoop& a, BlockContext& context);
  void act(const Finish& a, BlockContext& context);

  const Program& program_;
  int index_;
  Mask existing_;  // the last warp of a block may have fewer than 32 threads
  LaneFile lanes_;
  std::array<CopyQueue, kLanes> copies_;
  std::vector<Frame> frames_;
  Mask active_ = 0;
  Pc pc_ = 0;
  const Stmt* source_ = nullptr;  // of the instruction being run
  WarpState state_ = Ready{};
};

}  // namespace rondo::kernel::simulator
