// The check at the full shape, in the simulator: correct kernels of every strategy pass it, planted faults do
// not.
#include "engine/check/at_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/backend/backends.h"
#include "compiler/kernel/passes/perturb.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/structure.h"
#include "engine/check/device_shape.h"
#include "engine/choice/candidates.h"
#include "tests/engine/check/simulated_shape.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/slow_tests.h"
#include "tests/support/turns.h"

namespace rondo::engine {
namespace {

using schedule::Pass;
using schedule::Problem;
using schedule::Role;
using schedule::TensorRef;

Problem problem_for(Pass pass, kernel::Storage storage, const step::Sizes& sizes) {
  Problem problem = rondo::testing::problem_of(pass, sizes.dim, storage);
  problem.sizes = sizes;
  return problem;
}

Candidate best_of(const step::Cell& cell, const Problem& problem, const std::string& strategy) {
  return ranked_candidates({cell, problem, target::board()}, kFullAlignment, strategy)->front();
}

SimulatedShape shape_of(const step::Cell& cell, const Problem& problem, const Candidate& candidate) {
  const target::Profile& profile = target::board();
  const schedule::Strategy* strategy = schedule::find_strategy(candidate.strategy);
  return {cell, problem, strategy->build({cell, problem, profile}, candidate.parameters).value(),
          plain_plans({cell, problem, profile}, candidate.strategy, candidate.parameters).value()};
}

// Every strategy that is legal, at its model's best.
void expect_right(const std::string& name, Pass pass, kernel::Storage storage, const step::Sizes& sizes) {
  const step::Cell cell = rondo::testing::library_cell(name);
  const Problem problem = problem_for(pass, storage, sizes);
  for (const schedule::Strategy* strategy : schedule::strategies()) {
    if (!strategy->legal({cell, problem, {}}).legal) continue;
    SimulatedShape runs = shape_of(cell, problem, best_of(cell, problem, strategy->name()));
    const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, 1);
    const std::string what =
        name + " " + strategy->name() + " " + schedule::pass_name(pass) + " " + kernel::storage_name(storage);
    ASSERT_TRUE(checked.ok()) << what << ": " << checked.error().message;
    EXPECT_TRUE(checked->passed) << what << ": " << checked->summary();
    EXPECT_TRUE(runs.faults.empty()) << what << ": " << runs.faults.front();
    EXPECT_EQ(runs.kernel_runs, 1) << what;
    for (const TensorCheck& check : checked->checks) EXPECT_FALSE(check.ill_conditioned) << check.text();
    ASSERT_EQ(checked->covered.size(), 1u);
    EXPECT_NE(checked->covered[0].find("every element beside a plain kernel"), std::string::npos);
  }
}

TEST(AtShape, CorrectKernelsPass) {
  // In a short run each pass has two of the cells, each cell two of the passes, each in one type.
  int first = 0;
  for (const char* name : {"mingru", "hgrn", "mgu"}) {
    int turn = first++;
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
      if (rondo::testing::has_turn(turn)) expect_right(name, pass, kernel::Storage::BF16, {3, 21, 1, 24});
      if (rondo::testing::has_turn(turn + 1)) expect_right(name, pass, kernel::Storage::F32, {3, 21, 1, 24});
      ++turn;
    }
  }
  for (const char* name : {"paragru", "rglru", "slstm"}) {
    expect_right(name, Pass::Forward, kernel::Storage::F32, {3, 21, 1, 24});
    expect_right(name, Pass::Backward, kernel::Storage::BF16, {3, 21, 1, 24});
  }
  expect_right("lstm", Pass::Backward, kernel::Storage::F16, {2, 9, 2, 16});
}

TEST(AtShape, SavedProductsArePassedOn) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    Problem problem = problem_for(pass, kernel::Storage::BF16, {3, 9, 1, 24});
    problem.save_products = true;
    SimulatedShape runs = shape_of(cell, problem, best_of(cell, problem, "persistent"));
    const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, 1);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    EXPECT_TRUE(checked->passed) << checked->summary();
  }
}

TEST(AtShape, TheSameSeedSaysTheSame) {
  const step::Cell cell = rondo::testing::library_cell("hgrn");
  const Problem problem = problem_for(Pass::Backward, kernel::Storage::BF16, {2, 12, 1, 16});
  std::vector<std::string> said;
  for (int turn = 0; turn < 2; ++turn) {
    SimulatedShape runs = shape_of(cell, problem, best_of(cell, problem, "stream"));
    said.push_back(check_at_shape({cell, problem, {}}, runs, 5)->summary());
    EXPECT_EQ(runs.plain_runs, plain_runs(has_decisions(cell, problem.pass)));
  }
  EXPECT_EQ(said[0], said[1]);
}

// The gradient of a bias sums terms of either sign over all rows and steps. Roundings inside a pass are
// relative to the terms, so what they do to the sum does not grow beside it as the sequence gets longer.
TEST(AtShape, LongSumsOfGradientsStayWellConditioned) {
  const step::Cell cell = rondo::testing::library_cell("mgu");
  const Problem problem = problem_for(Pass::Backward, kernel::Storage::BF16, {8, 64, 1, 16});
  SimulatedShape runs = shape_of(cell, problem, best_of(cell, problem, "persistent"));
  const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, 1);
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_TRUE(checked->passed) << checked->summary();
  for (const TensorCheck& check : checked->checks)
    EXPECT_LT(check.spread, 8 * rounding_inside({cell, problem, {}})) << check.text();
}

// What a kernel on a GPU does with fast math: no function is exact there, as all are in the simulator.
TEST(AtShape, FunctionsMayErrAsTheirApproximationsDo) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  for (const char* name : {"mingru", "slstm", "hgrn"})
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      const step::Cell cell = rondo::testing::library_cell(name);
      Problem problem = problem_for(pass, kernel::Storage::F32, {3, 21, 1, 24});
      problem.math = kernel::Math::Fast;
      const Candidate candidate = best_candidate({cell, problem, target::board()}).value();
      schedule::KernelPlan plan = schedule::find_strategy(candidate.strategy)
                                      ->build({cell, problem, target::board()}, candidate.parameters)
                                      .value();
      for (schedule::Launch& launch : plan.launches)
        launch.kernel = kernel::with_erring_functions(launch.kernel, true);
      SimulatedShape runs(
          cell, problem, plan,
          plain_plans({cell, problem, target::board()}, candidate.strategy, candidate.parameters).value());
      const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, 1);
      ASSERT_TRUE(checked.ok()) << name << ": " << checked.error().message;
      EXPECT_TRUE(checked->passed) << name << " " << schedule::pass_name(pass) << " " << checked->summary();
    }
}

constexpr step::Sizes kSmall{9, 20, 1, 24};

// [B, T, D] of one row.
std::size_t place(std::int64_t b, std::int64_t t, std::int64_t d) {
  return static_cast<std::size_t>((b * kSmall.time + t) * kSmall.dim + d);
}

struct PlantedFault {
  const char* name;
  const char* cell;
  Pass pass;
  kernel::Storage storage;
  Role role;  // of the result that it changes
  std::function<void(std::vector<double>&)> plant;
  const char* where;  // "" or a part of what the check says
};

// What shows nowhere but late in the batch or in time.
const std::vector<PlantedFault>& planted_faults() {
  using Values = std::vector<double>;
  static const std::vector<PlantedFault> faults = {
      {"the second batch tile takes the first one's inputs", "mingru", Pass::Forward, kernel::Storage::BF16,
       Role::Output,
       [](Values& v) {
         for (std::int64_t i = 0; i < kSmall.time * kSmall.dim; ++i)
           v[place(8, 0, 0) + static_cast<std::size_t>(i)] = v[static_cast<std::size_t>(i)];
       },
       "B=8"},
      {"a late step stores the one before", "mingru", Pass::Forward, kernel::Storage::BF16, Role::Output,
       [](Values& v) {
         for (std::int64_t d = 0; d < kSmall.dim; ++d) v[place(8, 19, d)] = v[place(8, 18, d)];
       },
       "T=19"},
      {"one element of a late step is its neighbour's", "paragru", Pass::ForwardSave, kernel::Storage::BF16,
       Role::Output, [](Values& v) { v[place(8, 19, 23)] = v[place(8, 19, 22)]; }, "element B=8 T=19"},
      {"late steps are not stored", "mgu", Pass::Forward, kernel::Storage::BF16, Role::Output,
       [](Values& v) {
         for (std::int64_t d = 0; d < kSmall.dim; ++d) v[place(8, 19, d)] = std::nan("");
       },
       "elements not finite"},
      {"the last state is that of the step before", "mingru", Pass::Forward, kernel::Storage::F32,
       Role::LastState,
       [](Values& v) {
         for (double& value : v) value *= 1 - 1e-3;
       },
       ""},
      {"a carry loses precision from the middle on", "paragru", Pass::Forward, kernel::Storage::F32,
       Role::Output,
       [](Values& v) {
         for (std::int64_t t = 10; t < kSmall.time; ++t)
           for (std::int64_t d = 0; d < kSmall.dim; ++d) {
             double& value = v[place(8, t, d)];
             value = static_cast<double>(scalar::round_to(kernel::Storage::BF16, static_cast<float>(value)));
           }
       },
       ""},
      {"a gradient misses the last batch row", "hgrn", Pass::Backward, kernel::Storage::BF16,
       Role::ParamGradient,
       [](Values& v) {
         for (double& value : v) value *= 8.0 / 9;
       },
       ""},
      {"a gradient of a late input is zero", "slstm", Pass::Backward, kernel::Storage::BF16,
       Role::InputGradient,
       [](Values& v) {
         const std::size_t unit = v.size() / static_cast<std::size_t>(kSmall.batch * kSmall.time);
         std::fill(v.end() - static_cast<std::ptrdiff_t>(unit), v.end(), 0.0);
       },
       "T=19"},
      {"the gradient of a matrix misses the last step", "mgu", Pass::Backward, kernel::Storage::BF16,
       Role::ParamGradient,
       [](Values& v) {
         for (double& value : v) value *= 0.95;
       },
       ""},
      // Beside decisions, whose other side a kernel may take.
      {"a gradient of a late input has the other sign", "modrelu", Pass::Backward, kernel::Storage::BF16,
       Role::InputGradient,
       [](Values& v) {
         const std::size_t unit = v.size() / static_cast<std::size_t>(kSmall.batch * kSmall.time);
         std::for_each(v.end() - static_cast<std::ptrdiff_t>(unit), v.end(),
                       [](double& value) { value *= -1; });
       },
       "T=19"},
      {"a late step stores the one before", "held", Pass::Forward, kernel::Storage::BF16, Role::Output,
       [](Values& v) {
         for (std::int64_t d = 0; d < kSmall.dim; ++d) v[place(8, 19, d)] = v[place(8, 18, d)];
       },
       "T=19"},
  };
  return faults;
}

step::Cell cell_with_fault(const std::string& name) {
  if (name == "modrelu")
    return rondo::testing::cell_from(R"(cell modrelu(D) {
  input x[D]
  param Q[D, D], b[D]
  state h[D]
  z = Q @ h + x
  next h = sign(z) * relu(abs(z) + b)
  output h
})");
  if (name == "held")
    return rondo::testing::cell_from(R"(cell held(D) {
  input x[D]
  param R[D, D]
  state l[D]
  next l = log(max(1 + square(R @ sigmoid(l)), 1e-37)) + x
  output l
})");
  return rondo::testing::library_cell(name);
}

TEST(AtShape, PlantedFaultsAreFound) {
  int turn = 0;
  for (const PlantedFault& fault : planted_faults()) {
    if (!rondo::testing::has_turn(++turn, 2)) continue;
    const step::Cell cell = cell_with_fault(fault.cell);
    const Problem problem = problem_for(fault.pass, fault.storage, kSmall);
    const char* strategy = step::analyze(cell).has_matrix ? "persistent" : "stream";
    SimulatedShape runs = shape_of(cell, problem, best_of(cell, problem, strategy));
    bool planted = false;
    runs.plant = [&](TensorRef ref, std::vector<double>& values) {
      if (ref.role != fault.role || planted) return;
      fault.plant(values);
      planted = true;
    };
    const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, 1);
    ASSERT_TRUE(checked.ok()) << fault.name << ": " << checked.error().message;
    EXPECT_TRUE(planted) << fault.name;
    EXPECT_FALSE(checked->passed) << fault.name << ": " << checked->summary();
    EXPECT_NE(checked->summary().find(fault.where), std::string::npos)
        << fault.name << ": " << checked->summary();
  }
}

// Of the kernels themselves: a launch that leaves out the last batch tile.
TEST(AtShape, AMissingBatchTileIsFound) {
  const step::Cell cell = rondo::testing::library_cell("mgu");
  const Problem problem = problem_for(Pass::Forward, kernel::Storage::BF16, kSmall);
  for (const char* name : {"persistent", "alternating"}) {
    const Candidate candidate = best_of(cell, problem, name);
    schedule::KernelPlan plan =
        schedule::find_strategy(name)->build({cell, problem, target::board()}, candidate.parameters).value();
    for (schedule::Launch& launch : plan.launches)
      launch.batch_tile = std::max<std::int64_t>(launch.batch_tile, 9);
    SimulatedShape runs(cell, problem, plan,
                        plain_plans({cell, problem, target::board()}, name, candidate.parameters).value());
    const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, 1);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    EXPECT_FALSE(checked->passed) << name;
  }
}

// A cell that leaves the numbers after some steps.
TEST(AtShape, WhatOverflowsCannotBeCompared) {
  const step::Cell cell = rondo::testing::cell_from(
      "cell grows(D) {\n  input x[D]\n  state h[D]\n  next h = exp(20 + x) * (h + 1)\n  output h\n}\n");
  const Problem problem = problem_for(Pass::Forward, kernel::Storage::F32, {2, 30, 1, 16});
  SimulatedShape runs = shape_of(cell, problem, best_of(cell, problem, "stream"));
  const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, 1);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::Input);
}

TEST(PlainPlans, RunOtherTilesBesideTheirOwnStrategy) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  const Problem problem = problem_for(Pass::Forward, kernel::Storage::BF16, {8, 64, 1, 64});
  const auto plans = [&](const char* strategy, const schedule::Parameters& beside) {
    return plain_plans({cell, problem, target::board()}, strategy, beside).value();
  };
  const schedule::Parameters usual = plans("persistent", {}).same.plan.parameters;
  EXPECT_EQ(plans("alternating", usual).same.plan.parameters == usual, false);
  const PlainPlans plain = plans("persistent", {});
  EXPECT_EQ(plain.same.task.problem.storage, kernel::Storage::F32);
  EXPECT_EQ(plain.same.task.problem.math, kernel::Math::Fast);
  EXPECT_EQ(plain.perturbed.task.problem.math, kernel::Math::Accurate);
  EXPECT_FALSE(plain.forward);
}

// Perturbed runs have numbers that are off by a rounding, and so a cell of their own.
TEST(PlainPlans, PerturbedOnesHaveOtherNumbers) {
  const step::Cell cell = rondo::testing::library_cell("mgu");  // 1 - f
  const Problem problem = problem_for(Pass::Forward, kernel::Storage::F32, {8, 64, 1, 64});
  const PlainPlans plain = plain_plans({cell, problem, target::board()}, "persistent", {}).value();
  EXPECT_EQ(plain.perturbed.task.written.tensors.size(), cell.tensors.size()) << "fp32 rounds no factors";
  EXPECT_EQ(step::canonical_text(plain.same.task.written), step::canonical_text(cell));
  EXPECT_NE(step::canonical_text(plain.perturbed.task.written), step::canonical_text(cell));
}

TEST(PlainPlans, Compile) {
  ASSERT_TRUE(backend::preferred_backend().available().ok()) << "no NVRTC: tools/setup installs it";
  for (const char* name : {"lstm", "mingru"}) {
    const step::Cell cell = rondo::testing::library_cell(name);
    const Problem problem = problem_for(Pass::Backward, kernel::Storage::BF16, {8, 64, 1, 64});
    const auto code =
        compile_plain(plain_plans({cell, problem, target::board()}, "stream", {}).value(), nullptr);
    ASSERT_TRUE(code.ok()) << name << ": " << code.error().message;
    EXPECT_TRUE(code->forward) << name;
  }
}

// Cells with matrices at the sizes of the record, the perturbed ones with what they multiply in error.
TEST(PlainPlans, CompileForEveryCellWithMatrices) {
  ASSERT_TRUE(backend::preferred_backend().available().ok()) << "no NVRTC: tools/setup installs it";
  int turn = 0, made = 0;
  for (const EmbeddedCell& embedded : embedded_cells()) {
    const step::Cell cell = rondo::testing::library_cell(embedded.name);
    if (!step::analyze(cell).has_matrix || step::analyze(cell).has_reduction) continue;
    const bool of_heads = std::ranges::any_of(cell.tensors, [](const step::Tensor& tensor) {
      return tensor.kind == step::TensorKind::Input && tensor.tail == step::Tail::Scalar;
    });
    if (of_heads) {
      const Problem problem = problem_for(Pass::Forward, kernel::Storage::BF16, {16, 1024, 1, 768});
      const auto plans = plain_plans({cell, problem, target::board("h200")}, "persistent", {});
      ASSERT_FALSE(plans.ok()) << cell.name;
      EXPECT_NE(plans.error().message.find("one value a head"), std::string::npos) << plans.error().message;
      continue;
    }
    for (const step::Sizes& sizes : {step::Sizes{16, 1024, 1, 768}, {16, 1024, 12, 64}, {16, 1024, 1, 2048}})
      for (const Pass pass : {Pass::Forward, Pass::Backward}) {
        SCOPED_TRACE(std::string(embedded.name) + " " + schedule::pass_name(pass) + " " +
                     std::to_string(sizes.dim));
        const Problem problem = problem_for(pass, kernel::Storage::BF16, sizes);
        auto plans = plain_plans({cell, problem, target::board("h200")}, "persistent", {});
        ASSERT_TRUE(plans.ok()) << plans.error().message;
        EXPECT_EQ(plans->perturbed.task.written.tensors.size(), cell.tensors.size() + 1);
        ++made;
        if (!rondo::testing::has_turn(turn++, 8)) continue;
        const auto code = compile_plain(std::move(plans).value(), nullptr);
        EXPECT_TRUE(code.ok()) << code.error().message;
      }
  }
  EXPECT_GE(made, 48);
}

TEST(PlainPlans, SayWhatTheyCannotDo) {
  const step::Cell cell = rondo::testing::cell_from(
      "cell norm(D) {\n  input x[D]\n  state h[D]\n  next h = h + x / sum(x)\n  output h\n}\n");
  const auto plans = plain_plans(
      {cell, problem_for(Pass::Forward, kernel::Storage::F32, {1, 4, 1, 16}), target::board()}, "stream", {});
  ASSERT_FALSE(plans.ok());
  EXPECT_EQ(plans.error().kind, ErrorKind::Unsupported);
}

TEST(RoundingInside, FollowsWhatThePassRounds) {
  const auto unit = [](const char* cell, kernel::Storage storage, kernel::Math math) {
    Problem problem = problem_for(Pass::Forward, storage, {1, 1, 1, 16});
    problem.math = math;
    return rounding_inside({rondo::testing::library_cell(cell), problem, {}});
  };
  using kernel::Math;
  using kernel::Storage;
  EXPECT_EQ(unit("lstm", Storage::BF16, Math::Fast), 0x1p-8) << "vectors are rounded";
  EXPECT_EQ(unit("lstm", Storage::F32, Math::Tf32), 0x1p-11);
  EXPECT_LT(unit("lstm", Storage::F32, Math::Accurate), 1e-6);
  EXPECT_LT(unit("mingru", Storage::BF16, Math::Accurate), 1e-6) << "carries are not";
  EXPECT_LT(unit("mingru", Storage::BF16, Math::Fast), 1e-6) << "functions err by themselves";
}

}  // namespace
}  // namespace rondo::engine
