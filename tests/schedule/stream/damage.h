// A kernel of stream among two blocks, to be damaged in one place: the simulator must say so.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/simulator/simulate.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/damage.h"
#include "tests/schedule/point_plan.h"
#include "tests/target/board.h"

namespace rondo::schedule {

using kernel::Fault;

constexpr std::int64_t kTime = 100, kDim = 8;

// h' = a * h + b in two blocks, 16 steps a round: what a test damages, and the words it exchanges.
struct AffineLaunch {
  Launch launch;
  std::int64_t words = 0;
};

inline AffineLaunch affine_launch(const Parameters& parameters) {
  Problem problem;
  problem.sizes = {1, kTime, 1, kDim};
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  const KernelPlan plan =
      schedule::point_plan(*find_strategy("stream"), cell_named("affine"), problem, parameters);
  return {plan.launches.back(), plan.exchange.at(1, kTime)};
}

inline kernel::SimulationResult run(const AffineLaunch& built, const Kernel& damaged) {
  const Launch& launch = built.launch;
  std::vector<kernel::GlobalBuffer> buffers;
  std::vector<kernel::Argument> arguments;
  const auto buffer_of = [&](std::size_t i) {
    if (static_cast<kernel::ParamId>(i) == damaged.status)
      return kernel::input_buffer(kernel::Storage::I32, {0});
    if (damaged.params[i].storage == kernel::Storage::I32)
      return kernel::input_buffer(kernel::Storage::I32,
                                  std::vector<double>(static_cast<std::size_t>(built.words), kernel::kEmpty));
    if (damaged.params[i].written) return kernel::output_buffer(kernel::Storage::F32, kTime * kDim);
    return kernel::input_buffer(kernel::Storage::F32, std::vector<double>(kTime * kDim, 0.5));
  };
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    kernel::Argument argument;
    argument.integer = std::holds_alternative<StrideB>(launch.arguments[i])     ? kTime * kDim
                       : std::holds_alternative<StrideT>(launch.arguments[i])   ? kDim
                       : std::holds_alternative<Time>(launch.arguments[i])      ? kTime
                       : std::holds_alternative<FirstTile>(launch.arguments[i]) ? 0
                                                                                : 1;
    if (std::holds_alternative<Pointer>(launch.arguments[i])) {
      argument.buffer = static_cast<int>(buffers.size());
      buffers.push_back(buffer_of(i));
    }
    arguments.push_back(argument);
  }
  return kernel::simulate(damaged, grid_blocks(launch, 1, kTime), arguments, buffers);
}

inline void expect_clean(const AffineLaunch& built) {
  const auto faults = run(built, built.launch.kernel).faults;
  EXPECT_TRUE(faults.empty()) << faults.front().message;
}

inline void expect_reported(const AffineLaunch& launch, const std::function<void(Kernel&)>& damage,
                            Fault::Kind kind, const std::string& words) {
  Kernel damaged = launch.launch.kernel;
  damage(damaged);
  const kernel::SimulationResult result = run(launch, damaged);
  std::string all;
  for (const Fault& fault : result.faults) all += fault.message + "\n";
  EXPECT_TRUE(std::any_of(result.faults.begin(), result.faults.end(), [&](const Fault& fault) {
    return fault.kind == kind && fault.message.find(words) != std::string::npos;
  })) << all;
}

}  // namespace rondo::schedule
