// The frame of the shoot kernel: which segment of time a warp has, the ring in shared memory where each warp
// stages its own inputs, and the walk through a segment.
//
// All of time is cut into segments, `segments` in each of `time_split` blocks, and a warp walks through one
// of them with 32 * per_thread neighbouring channels. Warps stage for themselves, so a walk needs no barrier
// of the block, and a warp that has nothing to do in a sweep skips it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/schedule/channelwise/shared_values.h"
#include "compiler/schedule/channelwise/written_rows.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/shoot/parameters.h"

namespace rondo::schedule {

class ShootKernel {
 public:
  ShootKernel(const std::string& name, const std::string& comment, const Task& task,
              const ShootParameters& parameters);

  ChannelThreads& threads() { return threads_; }
  SharedValues& values() { return values_; }
  WrittenRows& written() { return written_; }
  kernel::Builder& builder() { return threads_.builder(); }
  Signature& signature() { return threads_.signature(); }

  // Declares an input, whose rows are staged.
  int stage(TensorRef ref);
  // After all tensors are declared: takes B and T, works out the thread's place and segment.
  void place();

  // The warp's segment: its steps, and its place among all of the team. Segments at the end of a short
  // sequence are empty.
  struct Segment {
    kernel::Value warp;        // of the block's, that has it
    kernel::Value part;        // of the team's segments
    kernel::Value length;      // in steps; the last segments may have fewer
    kernel::Value first, end;  // its steps
    kernel::Value lead;        // stages before it that a warm-up may begin with; none before t = 0
  };
  const Segment& own() const { return own_; }
  kernel::Value has_steps() { return own_.first < own_.end; }  // Pred
  kernel::Value exists();  // Pred: the thread has channels and its segment has steps
  // In how many lanes of the warp `condition`, a Pred, holds: F32, the same in all. Called by whole warps.
  kernel::Value count_lanes(kernel::Value condition);

  // The value of a staged input: (id of the tensor, row, channel of the thread).
  using Staged = std::function<kernel::Value(int, int, int)>;
  struct Walk {
    std::function<void(const Staged&)> lead_in;  // a step before the segment
    std::function<void()> enter;                 // before the segment's first step
    std::function<void(const Staged&)> step;     // a step of the segment
    std::function<void()> leave_stage;           // after the steps of a stage
  };
  // Walks from `lead` stages before the segment to its end; whole warps, the same way for all lanes.
  void walk(kernel::Value lead, const Walk& body);
  // t of the step that is emitted: within Walk::lead_in and Walk::step.
  kernel::Value step() const { return now_.stage + now_.group + now_.ahead; }
  // After the walk, where it may have left out steps: what those past the end have.
  void write_past_end(const WrittenRows::Kept& kept);

 private:
  struct StagedTensor {
    KernelTensor tensor;
    kernel::Memory shared;
    kernel::Value from;  // element of this lane's first vector at t = 0, row 0
    kernel::Value to;    // the same in the warp's slot 0
  };
  int vectors() const { return parameters_.warp_channels() / parameters_.vector; }  // of a row
  int steps_abreast() const { return 32 / vectors(); }                              // of one turn of copies
  void place_staging();
  void place_values();
  void load_values(kernel::Value stage_step);  // of the stage that begins there
  void store_values(kernel::Value block);      // those of this stage
  SharedValues::Step values_at(kernel::Value step_of_stage);
  void copy_stage(kernel::Value begin, kernel::Value block, kernel::Value count);
  // The slot of the ring that a stage has: the walk's stage `block`.
  kernel::Value slot_of(kernel::Value block);
  // Inputs that stay on the chip (kept_inputs.cpp).
  void place_kept();
  void keep();  // to be called after a walk
  void run_kept(kernel::Value slot, kernel::Value steps, const std::function<void(const Staged&)>& body);
  void run_steps(kernel::Value slot, kernel::Value steps, const std::function<void(const Staged&)>& body);
  void run_group(kernel::Value slot, kernel::Value group, int steps,
                 const std::function<void(const Staged&)>& body);
  // [tensor][row][channel of the thread], of a step in the ring.
  using StepInputs = std::vector<std::vector<std::vector<kernel::Value>>>;
  StepInputs load_step(kernel::Value slot_step);
  void run_step(const StepInputs& inputs, SharedValues::Step values,
                const std::function<void(const Staged&)>& body);

  // Parts of a step's t: of the stage's first step, of the group's place in the stage, of the step's in the
  // group; and where the stage's shared values begin.
  struct Now {
    kernel::Value stage, group, values;
    int ahead = 0;
  };

  // Whether the segment fits where its inputs stay, Pred; 1 until they are there, I32; stages of the warm-up
  // that a walk leaves out; by step of the segment what stays in registers, variables. Invalid or empty where
  // nothing stays on the chip.
  struct OnChip {
    kernel::Value fits, fresh, left_out;
    std::vector<StepInputs> inputs;
  };

  ShootParameters parameters_;
  ChannelThreads threads_;
  SharedValues values_;
  WrittenRows written_;
  OnChip on_chip_;
  Now now_;
  Segment own_;
  std::vector<StagedTensor> staged_;
  std::vector<kernel::Value> value_bases_;  // element of row 0 at t = 0, by id in `values_`
  kernel::Value lane_of_warp_;
  kernel::Value lane_step_, column_exists_;  // of this lane's copies: step of a turn; Pred, invalid if always
};

}  // namespace rondo::schedule
