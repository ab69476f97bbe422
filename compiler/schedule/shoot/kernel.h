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

#include "compiler/schedule/channelwise/threads.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/shoot/parameters.h"

namespace rondo::schedule {

class ShootKernel final : public ChannelThreads {
 public:
  using ChannelThreads::Kept;
  ShootKernel(const std::string& name, const std::string& comment, const Task& task,
              const ShootParameters& parameters);

  // Declares an input, whose rows are staged.
  int stage(TensorRef ref);
  // The same for one with one value a head; head_value() is its row at the step that is emitted.
  int stage_head_value(TensorRef ref);
  kernel::Value head_value(int staged, int row) const {
    return inputs_now_.at(static_cast<std::size_t>(staged)).at(static_cast<std::size_t>(row));
  }
  // Declares a tensor written at each step.
  int write_each_step(TensorRef ref);
  // After all tensors are declared: takes B and T, works out the thread's place and segment.
  void place_threads();

  // The segment: its steps [first, end), and its place among all of the team. Segments at the end of a short
  // sequence are empty.
  kernel::Value first_step() const { return first_; }
  kernel::Value end_step() const { return end_; }
  kernel::Value part() const { return part_; }
  kernel::Value segment_length() const { return length_; }  // steps; the last segments may have fewer
  kernel::Value time() const { return time_; }
  kernel::Value has_steps() { return first_ < end_; }  // Pred
  kernel::Value warp() const { return warp_; }
  // Of the whole launch.
  kernel::Value blocks() { return batch_ * (tiles() * task_.problem.sizes.heads * parameters_.time_split); }
  // Stages before the segment that a warm-up of the parameters' length may begin with; none before t = 0.
  kernel::Value lead() const { return lead_; }
  // In how many lanes of the warp `condition`, a Pred, holds: F32, the same in all. Called by whole warps.
  kernel::Value count_lanes(kernel::Value condition);
  void if_channels_exist(const std::function<void()>& body) { if_all({channel_exists()}, body); }
  kernel::Value exists();  // Pred: the thread has channels and its segment has steps

  // Stages whose shared values (head_values.cpp) are in shared memory: one is read while the next is written.
  static constexpr int kHeadValueSlots = 2;
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
  // Stores one row of a tensor declared by write_each_step at the current step; values by channel of the
  // thread.
  void store_row(int written, int row, const std::vector<kernel::Value>& values);
  // After the walk, where it may have left out steps: what those past the end have.
  void write_past_end(const Kept& kept);
  // The launch; called once.
  Launch finish();

 private:
  struct StagedTensor {
    KernelTensor tensor;
    kernel::Memory shared;
    kernel::Value from;  // element of this lane's first vector at t = 0, row 0
    kernel::Value to;    // the same in the warp's slot 0
  };
  struct Written {
    KernelTensor tensor;
    kernel::Value base;    // element of this thread's first channel, row 0, t = 0
    kernel::Value cursor;  // the same at the current step
  };

  // Values that the channels of a warp share (head_values.cpp): what its batch row's resets have, and inputs
  // with one value a head.
  struct StagedReset {
    step::TensorId tensor;
    kernel::Memory shared;
    kernel::Value coming = {};  // variable: the byte of the lane's step of the stage that comes
  };
  struct StagedHeadValue {
    KernelTensor input;
    kernel::Memory shared;
    kernel::Value base;                 // element of row 0 at t = 0
    std::vector<kernel::Value> coming;  // variables, by row
  };
  struct HeadValues {
    FlagReader::Values flags;
    std::vector<std::vector<kernel::Value>> inputs;  // [staged tensor][row]
  };

  int vectors() const { return parameters_.warp_channels() / parameters_.vector; }  // of a row
  int steps_abreast() const { return 32 / vectors(); }                              // of one turn of copies
  void place_staging();
  void place_head_values();
  void begin_head_values();
  void load_head_values(kernel::Value stage_step);  // of the stage that begins there
  void store_head_values(kernel::Value block);      // those of this stage
  HeadValues head_values_at(kernel::Value step_of_stage) const;
  void copy_stage(kernel::Value begin, kernel::Value block, kernel::Value count);
  // The slot of the ring that a stage has: the walk's stage `block`.
  kernel::Value slot_of(kernel::Value block);
  // Inputs that stay on the chip (kept_inputs.cpp).
  void place_kept();
  void keep();  // to be called after a walk
  void run_kept(kernel::Value slot, kernel::Value steps, const std::function<void(const Staged&)>& body);
  void copy_vector(const StagedTensor& staged, kernel::Value to, kernel::Value from);
  void run_steps(kernel::Value slot, kernel::Value steps, const std::function<void(const Staged&)>& body);
  void run_group(kernel::Value slot, kernel::Value group, int steps,
                 const std::function<void(const Staged&)>& body);
  // [tensor][row][channel of the thread], of a step in the ring.
  using StepInputs = std::vector<std::vector<std::vector<kernel::Value>>>;
  StepInputs load_step(kernel::Value slot_step);
  void run_step(const StepInputs& inputs, HeadValues head_values,
                const std::function<void(const Staged&)>& body);

  // Parts of a step's t: of the stage's first step, of the group's place in the stage, of the step's in the
  // group; and where the stage's shared values begin.
  struct Now {
    kernel::Value stage, group, head_values;
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
  OnChip on_chip_;
  Now now_;
  std::vector<StagedTensor> staged_;
  std::vector<Written> written_;
  kernel::Value warp_, lane_of_warp_, part_, first_, end_, lead_, length_;
  std::vector<StagedReset> resets_;
  std::vector<StagedHeadValue> head_values_;
  std::vector<std::vector<kernel::Value>> inputs_now_;  // of the step that is emitted
  kernel::Value lane_step_, column_exists_;  // of this lane's copies: step of a turn; Pred, invalid if always
};

}  // namespace rondo::schedule
