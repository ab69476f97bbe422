// One warp: runs instructions in lockstep until it must wait for others. It can be resumed at any time
// because its state is a program counter, masks and slots.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/faults.h"
#include "compiler/kernel/simulator/flags.h"
#include "compiler/kernel/simulator/lanes.h"
#include "compiler/kernel/simulator/mbarrier.h"
#include "compiler/kernel/simulator/memory.h"
#include "compiler/kernel/simulator/named.h"
#include "compiler/kernel/simulator/program.h"
#include "compiler/kernel/simulator/publish.h"
#include "compiler/kernel/simulator/words.h"

namespace rondo::kernel::simulator {

// What the warps of a group share.
struct GroupContext {
  const Program& program;
  Clocks& clocks;
  Mbarriers& mbarriers;
  Flags& flags;
  Words& words;
  NamedBarriers& named;
  Publications& publications;
  Accessor& memory;
  FaultLog& log;
  std::int64_t& steps;  // instructions run by all warps of the launch so far
  std::int64_t step_limit;
  bool gave_up = false;  // waits for what never comes are over (Kernel::status)
};

// Why a warp does not run. `pc` is the instruction it waits at. The group ends waits for barriers of a block
// or cluster; for every other wait the warp looks again each time it is run.
struct Ready {};
struct AtBarrier {
  Pc pc;
};
struct AtNamedBarrier {
  Pc pc;
  int id;
  const NamedBarriers::State* barrier;
  int turn;
};
struct AtClusterBarrier {
  Pc pc;
};
struct AtPhase {
  Pc pc;
  const Mbarrier* mbarrier;
  std::int64_t parity;
};
struct AtFlag {
  Pc pc;
  Span counter;
  std::int64_t target;
};
struct AtWords {
  Pc pc;
  int lane;
  Span missing;
};
struct Finished {};
using WarpState =
    std::variant<Ready, AtBarrier, AtNamedBarrier, AtClusterBarrier, AtPhase, AtFlag, AtWords, Finished>;

class Warp {
 public:
  Warp(const Program& program, int index, Mask existing, bool fp64)
      : program_(program), index_(index), existing_(existing), lanes_(program, fp64) {}

  // `agent` is its number in the group.
  void start(const Launch& launch, std::int64_t block, int agent);
  // Runs until the warp waits or has finished, or the log stops the run.
  void run(GroupContext& context);
  void resume() { state_ = Ready{}; }
  const WarpState& state() const { return state_; }
  int index() const { return index_; }
  std::int64_t block() const { return block_; }
  int agent() const { return agent_; }

 private:
  // A construct being run: the lanes to restore after it, and those that take the else branch.
  struct Frame {
    Mask saved;
    Mask otherwise;
  };

  // A product that has been started: its registers, and where its operands begin.
  struct Product {
    const WarpgroupMma* mma;
    const Stmt* source;
    Lanes* acc;
    std::int64_t a, b;
    std::uint64_t started;  // stamp
  };

  void step(GroupContext& context);
  void check_defined(const Instruction& instruction, GroupContext& context);
  void report_undefined(const Instruction& instruction, int lane, GroupContext& context);
  bool whole_warp(const char* what, GroupContext& context);
  bool all_lanes(const char* what, GroupContext& context);
  // Where an instruction that waits must be run again.
  void wait_here(const WarpState& state, GroupContext& context);
  Thread thread(int lane) const { return {block_, index_, lane}; }
  Party party(Mask lanes) const { return {agent_, lanes, lanes == existing_}; }
  Span span(const MemRef& ref, std::int64_t index, int count) const {
    return {ref.space, ref.id, index, count, block_};
  }
  Mask where_true(Slot slot) const;
  // First slot of a slice of a register array; null, with a fault reported, when it leaves the array.
  Lanes* slice(const ArraySlice& slice, Slot first, int count, GroupContext& context);
  bool holds_values(const char* operand, const Lanes* values, int count, GroupContext& context);
  bool holds_tf32(const char* operand, const Lanes* values, int count, GroupContext& context);
  // The first row of a warpgroup's product that this warp holds.
  int rows_of_group() const { return index_ % 4 * 16; }
  template <class F>
  void each_element(const PanelOperand& operand, std::int64_t first, int from, int count, int steps,
                    F&& f) const;
  void finish(const Product& product, GroupContext& context);
  void send_part(const SendElements& a, Mask lanes, GroupContext& context);
  std::optional<Span> take_words(const AwaitWords& a, int lane, Lanes* into, Words::Carried& carried,
                                 GroupContext& context);

  void act(const SetRegister& a, GroupContext& context);
  void act(const ClearArray& a, GroupContext& context);
  void act(const WriteArray& a, GroupContext& context);
  void act(const LoadElements& a, GroupContext& context);
  void act(const StoreElements& a, GroupContext& context);
  void act(const IssueCopy& a, GroupContext& context);
  void act(const CommitGroup& a, GroupContext& context);
  void act(const WaitGroups& a, GroupContext& context);
  void act(const BlockBarrier& a, GroupContext& context);
  void act(const ComeToBarrier& a, GroupContext& context);
  void act(const ClusterMeeting& a, GroupContext& context);
  void act(const SyncWarp& a, GroupContext& context);
  void act(const ShuffleLanes& a, GroupContext& context);
  void act(const CountVotes& a, GroupContext& context);
  void act(const MultiplyMatrices& a, GroupContext& context);
  void act(const LoadMatrices& a, GroupContext& context);
  void act(const StartProduct& a, GroupContext& context);
  void act(const AwaitProducts& a, GroupContext& context);
  void act(const PublishShared& a, GroupContext& context);
  void act(const MultiplyTiles& a, GroupContext& context);
  void act(const PackElements& a, GroupContext& context);
  std::vector<float> tile_row(const MemRef& place, std::int64_t first, int count, GroupContext& context);
  void set_tile_row(const MemRef& place, std::int64_t first, const std::vector<float>& values,
                    GroupContext& context);
  void act(const ArriveMbarrier& a, GroupContext& context);
  void act(const AwaitPhase& a, GroupContext& context);
  void act(const SendElements& a, GroupContext& context);
  void act(const ArriveFlag& a, GroupContext& context);
  void act(const AwaitFlag& a, GroupContext& context);
  void act(const SendWords& a, GroupContext& context);
  void act(const AwaitWords& a, GroupContext& context);
  void act(const FenceGrid& a, GroupContext& context);
  void act(const EnterIf& a, GroupContext& context);
  void act(const SwitchToElse& a, GroupContext& context);
  void act(const LeaveIf& a, GroupContext& context);
  void act(const EnterLoop& a, GroupContext& context);
  void act(const TestLoop& a, GroupContext& context);
  void act(const NextLoop& a, GroupContext& context);
  void act(const Finish& a, GroupContext& context);

  const Program& program_;
  int index_;
  Mask existing_;  // the last warp of a block may have fewer than 32 threads
  LaneFile lanes_;
  std::array<CopyQueue, kLanes> copies_;
  std::deque<Product> products_;  // under way, in the order of their start
  std::vector<Frame> frames_;
  std::int64_t block_ = 0;
  int agent_ = 0;
  Mask active_ = 0;
  Mask passed_ = 0;  // lanes for which the wait at pc_ is over
  Pc pc_ = 0;
  const Stmt* source_ = nullptr;  // of the instruction being run
  WarpState state_ = Ready{};
};

}  // namespace rondo::kernel::simulator
