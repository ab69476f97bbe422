// How much of T a walk over time makes. It may leave out the steps past the end of the longest of its rows:
// those after it, or, where time is reversed, those before it. Steps are then counted from the first that the
// walk makes, and the others are written apart.
#pragma once

#include <functional>

#include "compiler/schedule/lower/flags.h"

namespace rondo::schedule {

class WalkedTime {
 public:
  // Takes the kernel's T; all of it is walked until limit().
  void begin(Signature& signature, FlagReader& flags);
  // Leaves out what no batch row from `first` to `end` has.
  void limit(FlagReader& flags, kernel::Value first, kernel::Value end);

  kernel::Value steps() const { return steps_; }  // of the walk
  kernel::Value all() const { return all_; }      // T
  bool is_limited() const { return limited_; }
  // Whether the steps that are left out come first, of some heads at least.
  bool starts_late() const { return left_out_.valid(); }
  // Step `step` of the walk, counted from the first that there is of T.
  kernel::Value among_all(kernel::Value step) const { return starts_late() ? step + left_out_ : step; }
  // Element of a batch row, at the first step of the walk.
  kernel::Value row_begin(const KernelTensor& tensor, kernel::Value row) const;
  // Emits `body` for every `stride`-th of the steps left out, from `first` on, of steps() to all(). It gets
  // the step counted as the walk counts its own: negative where these come first.
  void each_past_end(const char* name, kernel::Value first, kernel::Value stride,
                     const std::function<void(kernel::Value)>& body) const;

 private:
  kernel::Value all_, steps_;
  kernel::Value left_out_;   // steps before the first of the walk; invalid: none
  kernel::Value after_all_;  // T where the steps that are left out come first, else 0; invalid: 0
  bool limited_ = false;
};

}  // namespace rondo::schedule
