// Cells and plans for the tests of the runtime.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compiler/executable/launcher.h"
#include "compiler/frontend/frontend.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/strategies.h"
#include "engine/request/cell_library.h"
#include "tests/schedule/point_plan.h"
#include "tests/target/board.h"

namespace rondo::testing {

inline step::Cell cell_from(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "test.cell");
  if (!parsed.ok()) throw std::runtime_error(frontend::render_all(parsed, text, "test.cell"));
  return parsed.cells.at(0);
}

inline step::Cell library_cell(const std::string& name) {
  for (const engine::EmbeddedCell& cell : engine::embedded_cells())
    if (cell.name == name) return cell_from(cell.text);
  throw std::runtime_error("no cell " + name);
}

inline schedule::Problem problem_of(schedule::Pass pass, std::int64_t dim = 64,
                                    kernel::Storage storage = kernel::Storage::BF16) {
  schedule::Problem problem;
  problem.sizes = {4, 128, 2, dim};
  problem.storage = storage;
  problem.pass = pass;
  problem.math = schedule::default_math(storage);
  return problem;
}

// A small configuration of stream: the values named here, the least one of every other parameter.
inline schedule::Parameters stream_parameters(const step::Cell& cell, const schedule::Problem& problem,
                                              std::int64_t vector = 8) {
  const schedule::Parameters wanted = {{"channels", 64}, {"per_thread", 1}, {"steps", 8},
                                       {"stages", 3},    {"unroll", 4},     {"vector", vector}};
  const constraint::System space = schedule::find_strategy("stream")->space({cell, problem, target::board()});
  schedule::Parameters result;
  for (std::size_t i = 0; i < space.domains().size(); ++i) {
    const std::string& name = space.names().variables[i].name;
    const auto given = wanted.find(name);
    result[name] = given != wanted.end() ? given->second : space.domains()[i].values().front();
  }
  return result;
}

inline schedule::KernelPlan stream_plan(const step::Cell& cell, const schedule::Problem& problem,
                                        std::int64_t vector = 8) {
  return schedule::point_plan(*schedule::find_strategy("stream"), cell, problem,
                              stream_parameters(cell, problem, vector));
}

// The launch walk of a plan.
inline executable::Launcher launcher_of(const step::Cell& cell, const schedule::Problem& problem,
                                        const schedule::KernelPlan& plan) {
  return executable::Launcher::make(schedule::lower_plan({cell, problem, {}}, plan).value()).value();
}

}  // namespace rondo::testing
