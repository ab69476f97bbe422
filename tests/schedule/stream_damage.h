// A kernel of stream among two blocks, to be damaged in one place: the simulator must say so.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/simulate.h"
#include "compiler/kernel/visit.h"
#include "tests/schedule/cell_files.h"

namespace rondo::schedule {

using kernel::Body;
using kernel::ExprId;
using kernel::Fault;
using kernel::Kernel;
using kernel::Stmt;

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
  const KernelPlan plan = find_strategy("stream")->build(cell_named("affine"), problem, parameters);
  return {plan.launches.back(), plan.exchange.elements(1, kTime)};
}

inline kernel::SimulationResult run(const AffineLaunch& built, const Kernel& damaged) {
  const Launch& launch = built.launch;
  std::vector<kernel::GlobalBuffer> buffers;
  std::vector<kernel::Argument> arguments;
  const auto buffer_of = [&](std::size_t i) {
    if (static_cast<kernel::ParamId>(i) == damaged.status)
      return kernel::input_buffer(kernel::Storage::I32, {0});
    if (damaged.params[i].storage == kernel::Storage::I32)
      return kernel::input_buffer(
          kernel::Storage::I32, std::vector<double>(static_cast<std::size_t>(built.words), kernel::kAbsent));
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

inline bool is_named(const Kernel& kernel, const kernel::MbarrierRef& barrier, const std::string& name) {
  return kernel.mbarriers[static_cast<std::size_t>(barrier.id)].name == name;
}

// Calls `change` on every body, the innermost first.
inline void each_body(Body& body, const std::function<void(Body&)>& change) {
  for (Stmt& stmt : body) {
    if (auto* loop = std::get_if<kernel::For>(&stmt.node)) each_body(loop->body, change);
    if (auto* branch = std::get_if<kernel::If>(&stmt.node)) {
      each_body(branch->then_body, change);
      each_body(branch->else_body, change);
    }
  }
  change(body);
}

template <class Node>
void each(Kernel& kernel, const std::function<void(Node&)>& change) {
  each_body(kernel.body, [&](Body& body) {
    for (Stmt& stmt : body)
      if (auto* node = std::get_if<Node>(&stmt.node)) change(*node);
  });
}

template <class Node>
void drop(
    Kernel& kernel, const std::function<bool(const Node&)>& which = [](const Node&) { return true; }) {
  each_body(kernel.body, [&](Body& body) {
    std::erase_if(body, [&](const Stmt& stmt) {
      const auto* node = std::get_if<Node>(&stmt.node);
      return node != nullptr && which(*node);
    });
  });
}

// Index expressions of loads from and stores to a shared array.
inline void each_access(Kernel& kernel, const std::string& array,
                        const std::function<void(ExprId&)>& change) {
  const auto of_array = [&](kernel::MemRef& memory) {
    if (memory.space == kernel::Space::Shared &&
        kernel.shared[static_cast<std::size_t>(memory.id)].name == array)
      change(memory.index);
  };
  each<kernel::Store>(kernel, [&](auto& store) { of_array(store.to); });
  each<kernel::Load>(kernel, [&](auto& load) { of_array(load.from); });
}

inline ExprId constant(Kernel& kernel, std::int64_t value) {
  kernel.expressions.push_back({kernel::Type::I32, kernel::IntConst{value}});
  return static_cast<ExprId>(kernel.expressions.size()) - 1;
}

// The expression with every remainder by the number of slots taken for zero.
inline ExprId without_turns(Kernel& kernel, ExprId id, int slot_count) {
  kernel::Expr copy = kernel.expr(id);
  if (const auto* rest = std::get_if<kernel::IntExpr>(&copy.node); rest && rest->op == kernel::IntOp::Mod)
    if (const auto* slots = std::get_if<kernel::IntConst>(&kernel.expr(rest->b).node);
        slots && slots->value == slot_count)
      return constant(kernel, 0);
  kernel::for_each_operand(copy,
                           [&](ExprId& operand) { operand = without_turns(kernel, operand, slot_count); });
  kernel.expressions.push_back(std::move(copy));
  return static_cast<ExprId>(kernel.expressions.size()) - 1;
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
