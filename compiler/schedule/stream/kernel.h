// What the forward and the backward stream kernels share: the parts of a kernel, and the walk over time step
// by step.
#pragma once

#include <functional>
#include <string>

#include "compiler/schedule/channelwise/shared_values.h"
#include "compiler/schedule/channelwise/written_rows.h"
#include "compiler/schedule/stream/ring.h"
#include "compiler/schedule/stream/threads.h"

namespace rondo::schedule {

class StreamKernel {
 public:
  StreamKernel(const std::string& name, const std::string& comment, const Task& task,
               const StreamParameters& parameters, TimeOrder order);

  StreamThreads& threads() { return threads_; }
  StreamRing& ring() { return ring_; }
  SharedValues& values() { return values_; }
  WrittenRows& written() { return written_; }
  kernel::Builder& builder() { return threads_.builder(); }
  Signature& signature() { return threads_.signature(); }

  // After all tensors are declared.
  void place();

  // Emits the walk. Per step and thread the body gets staged values by (id in the ring, row, channel of the
  // thread), and whether it stands at t = 0 (asked for only if a tensor is shifted: that step is then emitted
  // apart).
  using Staged = std::function<kernel::Value(int, int, int)>;
  using StepBody = std::function<void(const Staged&, bool at_start)>;
  void walk(const StepBody& each_step);

  // The parts of a walk. A stage's resets and per-head values: loaded before the walk, and passed on at the
  // start of stage `block`; those of its step `place`, at time t.
  void begin_values();
  void pass_values(kernel::Value block);
  SharedValues::Step values_at(kernel::Value place, kernel::Value t);
  // The same of the step at time t, loaded from global memory.
  SharedValues::Step load_values_at(kernel::Value t);
  // Whether the step at t = 0 differs from the others.
  bool starts_apart() const { return ring_.any_shifted() || values_.any_shifted(); }
  kernel::Value is_producer();  // Pred: the thread only stages; invalid if none does
  // t of the step that is emitted, and the steps of the walk before it.
  kernel::Value step() const { return now_.stage + now_.place + now_.ahead; }
  kernel::Value steps_before() const { return threads_.forward() ? step() : threads_.time() - 1 - step(); }
  // Sets it: the stage's first step, and the place in the stage.
  void stand_at(kernel::Value stage, kernel::Value place) { now_ = {stage, place}; }

  // After the walk, where it may have ended early: what each step writes, for the steps past the end.
  void write_past_end(const WrittenRows::Kept& kept = {});

 private:
  // Emits `body` for each step that the thread loads values of, by its turn.
  void each_loaded(const std::function<void(std::size_t, kernel::Value)>& body);
  void load_values(kernel::Value block);
  kernel::Value value_place(const KernelTensor& from, int row, kernel::Value t);
  void run_steps(kernel::Value block, kernel::Value slot, const StepBody& each_step);
  void run_group(kernel::Value first, int steps, kernel::Value count, bool at_start,
                 const StepBody& each_step);

  StreamThreads threads_;
  const StreamParameters& parameters_;
  StreamRing ring_;
  SharedValues values_;
  WrittenRows written_;
  // Parts of a step's t; `ahead`: steps after the first of a group that is emitted at once.
  struct Now {
    kernel::Value stage, place;
    int ahead = 0;
  };
  Now now_;
  kernel::Value value_line_;         // of the stage under way, in the places of `values_`
  kernel::Value slot_, first_step_;  // of the stage under way
};

}  // namespace rondo::schedule
