// The kernels of a sweep over time with launches for each step, whatever multiplies in them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/stepwise/product.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

// What a block owns: `units` neighbouring channels of a head for `batch` batch rows.
struct StepTile {
  std::int64_t dim = 1;
  int units = 1;
  int threads = 1;
  int batch = 1;
  int tiles = 1;   // blocks that share a head
  int padded = 1;  // elements of a vector that is multiplied: the head's, and zeros
  // How the channels, [batch][units], are dealt to the threads in turns: all of them, neighbouring units to
  // neighbouring threads, or row by row in a loop, each of whose rounds has turns for the units of one row.
  bool row_by_row = false;
  // Whether a value is read where the step first uses it, root by root, and not far ahead of all: of a step
  // with so many values that they do not fit in registers.
  bool reads_at_use = false;

  int channels() const { return units * batch; }
  int turns() const { return ((row_by_row ? units : channels()) + threads - 1) / threads; }
};

// Neighbouring threads that have channels of one row.
int row_lanes(const StepTile& tile);
// Parts of a row that are handed on.
int parts_of(const StepTile& tile);

// Whether a stage of a step goes on in the launch of the one before: it begins with no product, and what was
// reduced lies in the block that owns the head's channels.
bool continues(const StepTile& tile, const StepStage& stage);

// Everything the sweep of one pass is built from.
struct StepwiseSweep {
  const Task& task;
  std::string strategy;  // in the kernels' names
  StepTile tile;
  Sweep sweep;
  StepStages stages;
  // Who multiplies the groups `own`; lives while the kernel is built.
  std::function<std::unique_ptr<StepProduct>(kernel::Builder&, const std::vector<std::size_t>& own)> product;
};

// Carries at their beginning, and stage 0 of the first step.
Launch stepwise_first(const StepwiseSweep& sweep);
// The launches of a step: one a stage that begins with products, or with reductions
// whose parts several blocks have. The last launch goes on with
// stage 0 of the next step, whose carries are known by then; in the last step it stores the last states.
std::vector<Launch> stepwise_steps(const StepwiseSweep& sweep);

// Whether each element of the scratch tensor is read by the thread that writes the result's element in its
// place, and before: in no later stage of a step, and by what it writes there depends on, for a compiler
// takes it that no two tensors share memory and may move a load behind any other store.
bool reads_before_writing(const StepwiseSweep& sweep, const InResult& pair);

// What they need of the workspace, but for packed matrices: without plan.in_result, if they cannot have it
// so.
void add_extents(const StepwiseSweep& sweep, KernelPlan& plan);

}  // namespace rondo::schedule
