// Verification without a GPU: the kernels of a plan in the simulator, against the reference.
#pragma once

#include <cstdint>

#include "compiler/schedule/problem/task.h"
#include "engine/check/verify.h"

namespace rondo::engine {

struct SimulatedVerification {
  Verification verification;
  std::vector<std::string> faults;  // races, unwritten reads, out-of-bounds accesses ...
  bool passed() const { return verification.passed && faults.empty(); }
};

// Heads and dim are the problem's, which the kernels have compiled in. Errors: those of the reference
// executor.
Result<SimulatedVerification> verify_simulated(const schedule::Task& task, const schedule::KernelPlan& plan,
                                               const std::vector<VerifyCase>& cases, std::uint64_t seed,
                                               const Given& given = nullptr);

}  // namespace rondo::engine
