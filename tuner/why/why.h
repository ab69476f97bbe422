// Why a kernel takes the time that it takes: `rondo why`.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "engine/machine/machine.h"
#include "engine/plan/ready_plan.h"
#include "tuner/bench/bench.h"
#include "tuner/bench/parts.h"
#include "tuner/why/account.h"
#include "tuner/why/changes.h"
#include "tuner/why/floors.h"

namespace rondo::tuner {

struct Explanation {
  engine::Choice choice;
  double model_s = 0;                         // what the model gives the choice
  std::optional<engine::Timing> measured;     // none: nothing was run
  double copy_bytes_per_s = 0;                // as measured in this run, else the profile's
  std::vector<Floor> floors;                  // those that take time, the one that binds first
  std::vector<schedule::EstimatePart> parts;  // by model, the largest first
  // What the floor of the chain is made of: as calibration measured it, else those of `parts` that wait.
  std::vector<schedule::EstimatePart> chain;
  Account account;                // of the measured time, else of the model's
  std::vector<Excess> excesses;   // measured: where it is above its floors
  std::vector<PartTime> without;  // measured: the time without each part of the kernels
  std::vector<Change> changes;    // by model

  double seconds() const { return measured ? measured->median_s : model_s; }
  // Of the time, what its highest floor explains; 1 at most.
  double share_of_floor() const;
};

// Of a kernel that is ready or an outline (make_ready(), outline_of()). What is ready is measured on the
// machine's device, `rounds` samples of each part; the floors then stand on the copy of the same run. Errors:
// Missing, Compile, Device.
Result<Explanation> explain(const schedule::Task& task, const engine::Machine& machine,
                            const engine::ReadyPlan& ready, int rounds, const engine::Given& given = nullptr);

}  // namespace rondo::tuner
