// Runs a whole plan in the KernelIR simulator: what tests and `rondo verify --simulate` use where there is no
// GPU. The plan is lowered to an executable and launched by its walk (compiler/executable/launcher.h), so
// what is simulated is what a GPU would be given.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/kernel/simulator/simulate.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

struct TensorRefLess {
  bool operator()(const TensorRef& a, const TensorRef& b) const {
    return a.role != b.role ? a.role < b.role : a.tensor < b.tensor;
  }
};
// Dense row-major values in the layouts of step_ir.h, unrounded.
using TensorValues = std::map<TensorRef, std::vector<double>, TensorRefLess>;

struct SimulatedRun {
  // Every tensor the plan writes, dense, as stored: rounded, but for runs in fp64. The workspace is left out.
  TensorValues written;
  std::vector<std::string> faults;         // empty: clean
  std::vector<kernel::Fault::Kind> kinds;  // of the faults that the simulator found, in their order
  std::vector<std::string> unwritten;      // tensors with elements that no thread wrote
  std::int64_t launches = 0;               // that were started
  std::int64_t steps = 0;                  // statements that their warps executed
  bool gave_up = false;                    // a kernel set its status: waits ended in vain
  std::vector<float> report;               // what the plan wrote into Role::Report
};

// `given` holds every tensor the plan reads; initial states and gradients that are missing are not bound, and
// so zero. Everything that the plan writes is bound. Throws std::invalid_argument for a plan that cannot be
// lowered or launched.
// `pad` > 0 puts that many unused elements after every time step and after every batch row, so that strides
// are exercised.
SimulatedRun simulate_plan(const Task& task, const KernelPlan& plan, const TensorValues& given, int pad = 0,
                           const kernel::SimulationOptions& options = {});

// The same for an executable that was lowered from `plan`, or read back: the walk is the executable's, the
// kernels are the plan's.
SimulatedRun simulate_executable(const executable::Executable& executable, const KernelPlan& plan,
                                 const step::Sizes& sizes, const TensorValues& given, int pad = 0,
                                 const kernel::SimulationOptions& options = {});

}  // namespace rondo::schedule
