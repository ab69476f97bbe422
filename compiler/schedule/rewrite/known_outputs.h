// What is left of a step where the outputs of all steps are known. A state that an output holds is an input
// then: its value before a step is the output of the step before. LSTM's gates are so made of inputs alone,
// R @ h[t - 1] and x[t], for all steps at once (schedule/hoist), and what is walked is c, which is affine.
// That makes histories again for a backward pass (engine/plan/parts_of_time.h) in the time of a product.
#pragma once

#include <optional>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::schedule {

struct KnownOutputs {
  step::Cell cell;  // of the other states; it has no outputs, whose names inputs have, and is not simplified
  struct Of {
    step::TensorId tensor = -1;  // of the whole cell
    bool before = false;         // an input that is this output, of the step before
  };
  std::vector<Of> tensors;  // by tensor of `cell`
};

// Of a simplified cell, as Task has it. None where no output is a state as it is, row by row; where all
// states are, so that none is to be made again; and where the value before a step may be another one: at
// resets, and past the end of a row. A cell whose heads walk both ways has no one step before.
std::optional<KnownOutputs> with_known_outputs(const step::Cell& cell);

}  // namespace rondo::schedule
