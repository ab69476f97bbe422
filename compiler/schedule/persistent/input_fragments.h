// The rows of an input that a matrix multiplies, as fragments in registers. An input is in memory before the
// walk begins, so that a warp loads the B operands of its own k-tiles (PTX ISA, mma) out of the tensor, a
// step ahead of their products, and no block sends them to another.
#pragma once

#include <vector>

#include "compiler/schedule/persistent/kernel.h"

namespace rondo::schedule {

class InputFragments {
 public:
  // `row`: a leaf of the step. `vectors`: of 16 bytes, that a lane has of a tile of batch rows.
  InputFragments(PersistentKernel& kernel, const step::Node& row, int vectors);

  void declare();
  // In every warp that multiplies, before the walk: loads those of the first step. `first`: the warp's first
  // vector.
  void begin(const std::string& name, kernel::Value first);
  // Loads those of the step after the `count`-th, in the place of this step's.
  void load_next(kernel::Value count);
  // [batch tiles, vectors, 4 words]
  kernel::Array words() const { return words_; }

 private:
  void load(kernel::Value is_there);  // Pred; moves on by a step

  PersistentKernel& kernel_;
  const step::Node& row_;
  int vectors_;
  KernelTensor tensor_;
  kernel::Array words_;
  std::vector<kernel::Value> exists_,
      at_;  // by batch tile: this lane's batch row, and its place in the tensor
};

}  // namespace rondo::schedule
