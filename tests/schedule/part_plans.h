// Plans of every form that has parts of its own, to leave them out.
#pragma once

#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/passes/ablate.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/point_plan.h"
#include "tests/target/board.h"

namespace rondo::schedule {

struct PartPlan {
  std::string name;
  step::Cell cell;
  Problem problem;
  KernelPlan plan;
  std::set<kernel::Part> parts;  // that it has
};

inline PartPlan persistent_plan(const std::string& name, Pass pass, const Parameters& changed,
                                std::set<kernel::Part> parts,
                                kernel::Storage storage = kernel::Storage::BF16) {
  PartPlan result{name, cell_named("lstm"), {}, {}, std::move(parts)};
  result.problem.sizes = {3, 37, 1, 64};
  result.problem.pass = pass;
  result.problem.storage = storage;
  result.problem.math = default_math(storage);
  Parameters parameters = {{"blocks", 1},           {"exchange", 0},     {"reduce_scatter", 0},
                           {"cluster_k_split", 1},  {"setmaxnreg", 0},   {"batch_tiles_in_flight", 1},
                           {"split_k", 1},          {"unit_blocks", 1},  {"batch_tiles", 1},
                           {"register_k_tiles", 1}, {"accumulators", 1}, {"steps", 4},
                           {"stages", 3},           {"vector", 8},       {"producer_warps", 1},
                           {"store_warps", 1},      {"poll_delay", 0}};
  for (const auto& [parameter, value] : changed) parameters[parameter] = value;
  result.plan = schedule::point_plan(*find_strategy("persistent"), result.cell, result.problem, parameters);
  return result;
}

inline PartPlan stream_plan(const std::string& name, bool grid) {
  using enum kernel::Part;
  PartPlan result{
      name, cell_named("mingru"), {}, {}, {Exchange, Inputs, Stores, Functions, Messages, Barriers}};
  result.problem.sizes = {1, 100, 1, 64};
  Parameters parameters = stream_in_cluster_of_two(32, false);
  parameters["exchange"] = grid ? 1 : 0;
  result.plan = schedule::point_plan(*find_strategy("stream"), result.cell, result.problem, parameters);
  return result;
}

// A head that two blocks of a cluster hold.
inline PartPlan head_plan() {
  using enum kernel::Part;
  const frontend::Parsed parsed = frontend::parse(
      "cell spread(D) {\n input x[D]\n state h[D]\n next h = tanh(h + x) * mean(x * h)\n output h\n}\n",
      "spread.cell");
  PartPlan result{"head_in_cluster",
                  parsed.cells.front(),
                  {},
                  {},
                  {Exchange, Inputs, Stores, Functions, Messages, Barriers}};
  result.problem.sizes = {1, 20, 1, 152};
  Parameters parameters = stream_in_cluster_of_two(96, false);
  for (const auto& [name, value] : {std::pair{"segments", 1},
                                    {"time_split", 1},
                                    {"per_thread", 1},
                                    {"rewrite", 0},
                                    {"unroll", 1},
                                    {"steps", 4},
                                    {"stages", 2},
                                    {"heads", 1},
                                    {"head_split", 2}})
    parameters[name] = value;
  result.plan = schedule::point_plan(*find_strategy("stream"), result.cell, result.problem, parameters);
  return result;
}

inline std::vector<PartPlan> part_plans() {
  using enum kernel::Part;
  const std::set<kernel::Part> block = {Products, Inputs, Stores, Functions, Barriers};
  const std::set<kernel::Part> cluster = {Products, Exchange, Inputs, Stores, Functions, Messages, Barriers};
  const std::set<kernel::Part> grid = {Products, Exchange,  Clears,   Inputs,
                                       Stores,   Functions, Messages, Barriers};
  return {
      persistent_plan("one_block", Pass::Forward, {{"split_k", 2}}, block),
      persistent_plan("cluster_of_4", Pass::Forward, {{"blocks", 4}, {"split_k", 2}}, cluster),
      persistent_plan("grid_of_2", Pass::Forward, {{"blocks", 2}, {"exchange", 1}, {"split_k", 2}}, grid),
      persistent_plan("tiles_in_turn", Pass::Forward,
                      {{"blocks", 2}, {"exchange", 1}, {"split_k", 2}, {"tiles_in_turn", 2}}, grid),
      persistent_plan("fragments_in_grid_of_8", Pass::Forward,
                      {{"blocks", 8}, {"exchange", 1}, {"split_k", 2}, {"gather_fragments", 1}}, grid),
      persistent_plan("fp32_in_grid_of_2", Pass::Forward, {{"blocks", 2}, {"exchange", 1}, {"vector", 4}},
                      grid, kernel::Storage::F32),
      persistent_plan("reduce_scatter_in_cluster", Pass::Backward, {{"blocks", 4}, {"reduce_scatter", 1}},
                      cluster),
      persistent_plan("reduce_scatter_in_grid", Pass::Backward,
                      {{"blocks", 4}, {"exchange", 1}, {"reduce_scatter", 1}}, grid),
      persistent_plan("reduce_scatter_in_grid_of_clusters", Pass::Backward,
                      {{"blocks", 4}, {"exchange", 1}, {"reduce_scatter", 1}, {"cluster_k_split", 2}}, grid),
      stream_plan("stream_cluster", false),
      stream_plan("stream_grid", true),
      head_plan()};
}

inline KernelPlan plan_without(KernelPlan plan, kernel::Part part) {
  for (Launch& launch : plan.launches) launch.kernel = kernel::ablate(launch.kernel, part);
  return plan;
}

// Small numbers for everything that a plan reads and does not write itself.
inline TensorValues values_read(const PartPlan& of) {
  TensorValues given;
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  for (const Launch& launch : of.plan.launches)
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* pointer = std::get_if<Pointer>(&launch.arguments[i]);
      if (pointer == nullptr || launch.kernel.params[i].written || is_internal(pointer->tensor.role))
        continue;
      std::vector<double>& values = given[pointer->tensor];
      values.resize(static_cast<std::size_t>(total_elements(pointer->tensor, of.cell, of.problem.sizes)));
      for (double& value : values) value = uniform(rng);
    }
  return given;
}

}  // namespace rondo::schedule
