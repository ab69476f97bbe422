// What a verification runs: sizes and layouts in which a fault of a plan can show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/executable/executable.h"
#include "compiler/schedule/problem/task.h"
#include "engine/plan/device_tensor.h"

namespace rondo::engine {

// One run of a verification. Batch and time of `sizes` are free; heads and dim are the problem's.
struct VerifyCase {
  step::Sizes sizes;
  TensorLayout layout;
  bool initial_states = true;     // false: left unbound, like the gradients of last states
  double matrix_scale = 1;        // of the random matrices (host_problem.h)
  std::string covers = {};        // "2 batch tiles of 8 rows and one row", for people
  bool arbitrary_states = false;  // initial states are random numbers, not what the cell reaches
  double data_scale = 1;          // of random inputs and vectors of parameters
  bool stored_states = false;  // a backward pass is compared from the states that are stored (host_problem.h)
  bool erring_states = false;  // and may err as one whose states err (host_problem.h)
  std::string text() const;    // "B=3,T=65,H=1,D=33, gaps of 8"
};

// How a plan divides its work, as far as sizes must follow it.
struct Coverage {
  std::int64_t batch_tile = 1;      // batch rows of a block
  std::int64_t tiles_together = 0;  // batch tiles of one part of a launch; 0: any number
  std::int64_t turn = 1;            // time steps after which all rings of the kernels have turned once
};
Coverage coverage_of(const executable::Executable& executable, std::int64_t turn);

// Node evaluations of the forward step that one case may cost.
struct CaseBudget {
  std::int64_t work = 60'000'000;  // half a second of the reference
};
CaseBudget gpu_budget();
// The simulator runs every thread of every kernel.
CaseBudget simulator_budget();

// - the problem's own B and T, with gaps between rows, or what the budget leaves of them;
// - a second batch tile with one row in it, and a second part of a launch, over a few steps;
// - two turns of every ring and one step;
// - one step of one batch row, without initial states.
// One case does for several of these where it covers them. What the budget does not allow is cut, and
// VerifyCase::covers says so. `arbitrary_states`: of all cases that have initial states.
std::vector<VerifyCase> cases_for(const schedule::Task& task, const Coverage& coverage,
                                  const CaseBudget& budget, bool arbitrary_states = false);

// Runs that tell more than `shape` where the cell makes too much of rounding. Of a backward pass first one
// from the states that are stored: rounding them may turn decisions of the step, and then does so for the
// kernel and for the reference. Then smaller numbers, from which states take less, and fewer steps. Where the
// pass has decisions (has_decisions()), last larger numbers too, which lie farther from where one turns;
// beside large numbers nothing small is seen. A few, the nearest to `shape` first.
std::vector<VerifyCase> better_cases(const VerifyCase& shape, schedule::Pass pass, bool decisions);
// Of these the one of most steps, which comes first among equals; not of none.
const VerifyCase& longest_case(const std::vector<VerifyCase>& cases);

}  // namespace rondo::engine
