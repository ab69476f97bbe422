// The worker process of a tuning run's trials.
#pragma once

#include <memory>
#include <optional>

#include "tuner/trial/trials.h"

namespace rondo::tuner {

// How a worker makes the trials it is asked for.
using TrialMaker = Result<std::unique_ptr<Trials>> (*)(const TrialSetup& setup);

// The work of a worker: on this machine's CPUs if the set-up's profile is of CPUs, else on the first GPU, in
// a context of this process.
Result<std::unique_ptr<Trials>> trials_here(const TrialSetup& setup);

// To be called first in main(), before engine::maybe_run_worker. In a process that a tuner started for its
// trials (its first argument is --rondo-trial-worker) it serves them until the tuner closes and returns the
// exit status; elsewhere nothing.
std::optional<int> maybe_run_trial_worker(int argc, char** argv, TrialMaker make = &trials_here);

}  // namespace rondo::tuner
