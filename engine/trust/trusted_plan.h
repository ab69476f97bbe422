// Kernels on the GPU that may be called what their choice says.
#pragma once

#include "compiler/schedule/problem/task.h"
#include "engine/check/verify.h"
#include "engine/plan/ready_plan.h"
#include "engine/trust/trust.h"

namespace rondo::engine {

// The plan of trusted_choice() for the problem on the machine's GPU, ready to launch; ready_s is without the
// verification. With overrides the choice is the caller's own, and by model. Errors: those of
// trusted_choice() and make_ready().
Result<ReadyPlan> trusted_plan(const schedule::Task& task, const Machine& machine, const Overrides& overrides,
                               const TrustOptions& options);

// A plan compared with the reference, whatever is known of it. Keeps the result in the database, if there is
// one and the choice comes from it; why that failed goes to `options.note`. Errors: those of make_ready(),
// Verifier.
struct VerifiedPlan {
  ReadyPlan ready;
  Verification verification;
};
Result<VerifiedPlan> verified_plan(const schedule::Task& task, const Machine& machine,
                                   const Overrides& overrides, std::uint64_t seed,
                                   const TrustOptions& options);

}  // namespace rondo::engine
