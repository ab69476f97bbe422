// Segments of time that CPU threads walk side by side, for sweeps that are affine in what they carry. Of S
// segments, one launch walks the first and composes the transforms of those after it but the last; a second
// launch walks the others, each from the states that the transforms before it give. What the first segment
// ends with is kept like a transform: its constants.
#pragma once

#include <vector>

#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/schedule/host/sweep_tensors.h"

namespace rondo::schedule {

// Which segments a kernel has blocks for.
enum class Segments { Whole, First, Later };  // all of time as one; 0 to S - 2; 1 to S - 1

class SegmentTransforms {
 public:
  // All but `signature` are copied or outlive this.
  SegmentTransforms(Signature& signature, const Problem& problem, int states, int segments)
      : signature_(signature), problem_(problem), states_(states), segments_(segments) {}

  // fp32 elements of Role::Carries for a batch row: [S - 1, H, entries, D].
  std::int64_t elements() const;
  void declare(bool written) {
    table_ = written ? signature_.writes({Role::Carries, -1}) : signature_.reads({Role::Carries, -1});
  }

  // The columns of a transform after one more step, whose coefficients have the values `values`.
  void compose(const AffineSweep& affine, const std::vector<kernel::Value>& values,
               const std::vector<TransformColumn>& columns) const;
  void store(kernel::Value segment, const SweepTensors::Place& place,
             const std::vector<TransformColumn>& columns) const;
  // The states after segment 0.
  void store_states(const SweepTensors::Place& place, const std::vector<kernel::Value>& states) const;
  // Sets variables to the states after segment 0; to those before `segment`, 1 to S - 1: one order, whoever
  // computes it.
  void start_after_first(const SweepTensors::Place& place, const std::vector<kernel::Value>& states) const;
  void start(kernel::Value segment, const SweepTensors::Place& place,
             const std::vector<kernel::Value>& states) const;

 private:
  int entries() const { return TransformPattern(states_).entries(); }
  kernel::Place place_of(kernel::Value segment, int entry, const SweepTensors::Place& place) const;

  Signature& signature_;
  const Problem& problem_;
  int states_, segments_;
  KernelTensor table_;
};

}  // namespace rondo::schedule
