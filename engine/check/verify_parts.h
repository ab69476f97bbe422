// Is a training step in parts of time (engine/plan/parts_of_time.h) what it is in one piece?
#pragma once

#include <cstdint>

#include "engine/check/verify.h"
#include "engine/plan/parts_of_time.h"

namespace rondo::engine {

// Runs both passes in parts of `every` steps, of random data and those that are given. Outputs and last
// states are compared with the reference, as of any forward pass. Gradients are compared with those of the
// same plans in one piece: the reference's own backward pass reads exact states, and these have rounding
// errors, in parts and in one piece alike. What they may differ by is what a correct backward pass may. The
// plans themselves are for a Verifier to check. Errors: those of a Verifier and of TrainingStep; Input where
// the problem has no more than one part.
Result<Verification> verify_parts(const schedule::Task& backward, const TrainingPlans& plans,
                                  std::int64_t every, const runtime::Device& device, std::uint64_t seed,
                                  Given given = nullptr);

}  // namespace rondo::engine
