// Runs a whole plan in the KernelIR simulator: what tests and `rondo verify --simulate` use where there is no
// GPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/kernel/simulator/simulate.h"
#include "compiler/schedule/plan/kernel_plan.h"

namespace rondo::schedule {

struct TensorRefLess {
  bool operator()(const TensorRef& a, const TensorRef& b) const {
    return a.role != b.role ? a.role < b.role : a.tensor < b.tensor;
  }
};
// Dense row-major values in the layouts of step_ir.h, unrounded.
using TensorValues = std::map<TensorRef, std::vector<double>, TensorRefLess>;

struct SimulatedRun {
  TensorValues written;  // every tensor the plan writes, dense, as stored (rounded); workspace left out
  std::vector<std::string> faults;         // empty: clean
  std::vector<kernel::Fault::Kind> kinds;  // of the faults that the simulator found, in their order
  std::vector<std::string> unwritten;      // tensors with elements that no thread wrote
  bool gave_up = false;                    // a kernel set its status: waits ended in vain
};

// Elements of a tensor in its role at these sizes.
std::int64_t element_count(const step::Cell& cell, const TensorRef& ref, const step::Sizes& sizes);

// `given` holds every tensor the plan reads; missing initial states and gradients of last states are zero.
// `pad` > 0 puts that many unused elements after every time step and after every batch row, so that strides
// are exercised.
SimulatedRun simulate_plan(const step::Cell& cell, const Problem& problem, const KernelPlan& plan,
                           const TensorValues& given, int pad = 0,
                           const kernel::SimulationOptions& options = {});

}  // namespace rondo::schedule
