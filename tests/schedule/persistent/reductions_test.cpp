// Reductions over the head in persistent kernels: every form of a team, in the simulator against the fp64
// reference.
#include "compiler/schedule/persistent/reductions.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kReducing = find_strategy("persistent");

step::Cell parsed_cell(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "test.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "test.cell");
  return parsed.cells.at(0);
}

// Maximum, sum and mean, of a product, of a state and of an input; per-head values as parameters, whose
// gradients are sums over the head beside those of the step.
constexpr const char* kAllKinds = R"(cell kinds(D) {
  input x[D]
  param R[D, D], a, k[2], b[D]
  state h[D]
  p = R @ h
  e = exp(p - max(p))
  s = a * mean(h) + k[0] * mean(x * b) + k[1]
  next h = tanh(0.3 * D * e / sum(e) + x + s)
  output h
})";

struct TeamForm {
  const char* name;
  int blocks, grid;
  bool reduce_scatter;
  int share;
};
constexpr TeamForm kTeamForms[] = {{"one block", 1, 0, false, 1},        {"cluster of 2", 2, 0, false, 1},
                                   {"cluster of 4", 4, 0, false, 1},     {"grid of 3", 3, 1, false, 1},
                                   {"sums in a cluster", 2, 0, true, 1}, {"sums in a grid", 3, 1, true, 1},
                                   {"clusters in a grid", 4, 1, true, 2}};

Case team_case(const step::Cell& cell, const TeamForm& form, int turn, const step::Sizes& sizes,
               Storage storage) {
  Case c{kReducing, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  if (storage == Storage::F32) c.problem.math = kernel::Math::Accurate;
  c.parameters = persistent_point(c.problem, form.blocks, form.grid, turn, form.reduce_scatter, form.share);
  return c;
}

TEST(PersistentReductions, EveryFormAndType) {
  int turn = 0;
  for (const TeamForm& form : kTeamForms)
    for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
      for (const step::Cell& cell : {cell_named("lnlstm"), cell_named("lngru"), parsed_cell(kAllKinds)}) {
        // Each form has each type, with the cells in turn.
        if (const int number = turn + turn / 3 + turn / 9; ++turn, !rondo::testing::has_turn(number))
          continue;
        const std::int64_t dims[] = {33, 64, 40, 72};
        Comparison(team_case(cell, form, turn, {turn % 3 * 4 + 1, turn % 4 + 1, turn % 2 + 1, dims[turn % 4]},
                             storage))
            .run();
        ASSERT_FALSE(HasFailure()) << form.name;
      }
}

TEST(PersistentReductions, AwkwardSizes) {
  int turn = 0;
  for (const std::int64_t dim : {1, 2, 130})
    for (const TeamForm& form : kTeamForms) {
      const Storage storage = ++turn % 3 == 0 ? Storage::F32 : turn % 3 == 1 ? Storage::BF16 : Storage::F16;
      if ((dim == 130 && form.share > 1) || !rondo::testing::has_turn(turn, 2)) continue;
      Comparison(team_case(cell_named("lnlstm"), form, turn, {turn % 2 * 8 + 3, 3, 1, dim}, storage)).run();
      ASSERT_FALSE(HasFailure()) << form.name << " D=" << dim;
    }
}

// The cell of the list whose vectors lie far from zero: a line that is counted with channels that it has not
// is off by the square of their mean, which a cell with means near zero would hide.
step::Cell far_from_zero() {
  for (const step::Cell& cell : reducing_cells_with_matrices())
    if (cell.name == "far_from_zero") return cell;
  throw std::logic_error("no cell far_from_zero");
}

// Lines of more warps than a thread adds up itself, as many for every lane and not; and of so many that those
// of a block meet first.
TEST(PersistentReductions, ManyLines) {
  struct Lines {
    std::int64_t dim;
    int team;
    bool by_block;
  };
  int turn = 0;
  for (const Lines& lines :
       {Lines{128, 2, false}, Lines{120, 2, false}, Lines{200, 0, false}, Lines{160, 2, true},
        Lines{150, 2, true}, Lines{150, 3, true}, Lines{240, 3, true}, Lines{130, 1, true},
        Lines{144, 1, true}, Lines{200, 1, true}, Lines{288, 5, true}})
    for (const step::Cell& cell : {cell_named("lngru"), far_from_zero()}) {
      if (!rondo::testing::has_turn(++turn)) continue;
      Case c = team_case(cell, kTeamForms[lines.team], 2, {3, 3, 1, lines.dim}, Storage::BF16);
      c.parameters["unit_blocks"] = c.parameters["split_k"] = 1;
      c.parameters["batch_tiles"] = lines.dim == 120 ? 2 : 1;
      if (kTeamForms[lines.team].reduce_scatter) c.parameters["unit_blocks"] = 2;
      const PersistentGeometry geometry(
          lines.dim, Storage::BF16,
          read_parameters<PersistentParameters>(kReducing->completed(c.parameters)));
      EXPECT_EQ(ReductionExchange::by_block(geometry), lines.by_block) << lines.dim;
      Comparison(std::move(c)).run();
      EXPECT_FALSE(HasFailure()) << cell.name << " " << lines.dim;
    }
}

// Longer than the ring of words of a grid.
TEST(PersistentReductions, GridManySteps) {
  Comparison(team_case(cell_named("lngru"), kTeamForms[3], 2, {3, 150, 1, 40}, Storage::BF16)).run();
}

TEST(PersistentReductions, FormsOfTheSequenceAndClipping) {
  int turn = 0;
  for (const step::Forms& forms : {step::Forms{true, false, false}, step::Forms{false, true, false},
                                   step::Forms{true, true, true, true}})
    for (const TeamForm& form : {kTeamForms[0], kTeamForms[1], kTeamForms[3], kTeamForms[4]}) {
      step::Cell cell = step::with_forms(cell_named(++turn % 2 == 0 ? "lnlstm" : "lngru"), forms).value();
      if (turn % 3 == 0) cell = step::clipped(cell, {0.6, 0.5}).value();
      Comparison(team_case(cell, form, turn, {5, 7, 1, 40}, Storage::BF16)).run();
      ASSERT_FALSE(HasFailure()) << form.name;
    }
}

TEST(PersistentReductions, Noise) {
  const step::Cell cell = parsed_cell(R"(cell noisy(D) {
    input x[D]
    param R[D, D], seed
    state h[D]
    p = R @ h
    keep = uniform(drop) < 0.7
    next h = tanh(select(keep, p - mean(p), x) + 0.1 * mean(keep * x))
    output h
  })");
  for (const TeamForm& form : {kTeamForms[0], kTeamForms[1]})
    Comparison(team_case(cell, form, 2, {5, 7, 2, 40}, Storage::BF16)).run();
}

// Of a vector parameter that the step only sums up, each channel's gradient is the whole sum of those behind
// it, and no share.
TEST(PersistentReductions, AVectorThatIsOnlySummed) {
  const step::Cell cell = parsed_cell(R"(cell level(D) {
    input x[D]
    param R[D, D], a[D], s
    state h[D]
    next h = tanh(R @ h + x - s * mean(a))
    output h
  })");
  for (const TeamForm& form : {kTeamForms[0], kTeamForms[1], kTeamForms[3]})
    Comparison(team_case(cell, form, 1, {3, 4, 1, 40}, Storage::F32)).run();
}

TEST(PersistentReductions, SavedProducts) {
  Case c = team_case(cell_named("lnlstm"), kTeamForms[1], 0, {5, 7, 1, 40}, Storage::BF16);
  c.problem.save_products = true;
  Comparison(std::move(c)).run();
}

// A mean that is 1,000 times what it is taken from: moments in fp32 keep the difference.
TEST(PersistentReductions, NothingCancels) {
  const step::Cell cell = parsed_cell(R"(cell far(D) {
    input x[D]
    param R[D, D]
    state h[D]
    p = 0.01 * (R @ h) + x + 100
    q = p - mean(p)
    next h = tanh(q * rsqrt(mean(square(q)) + 1e-5))
    output h
  })");
  for (const TeamForm& form : {kTeamForms[0], kTeamForms[2], kTeamForms[3]})
    for (const std::int64_t dim : {64, 72})
      Comparison(team_case(cell, form, 1, {3, 3, 1, dim}, Storage::F32)).run();
}

constexpr const char* kReducedVector = R"(cell waits(D) {
  input x[D]
  param R[D, D]
  state h[D]
  next h = tanh(R @ (h - mean(h)) + x)
  output h
})";

// The same, normalised.
step::Cell normalised_before_its_product() {
  for (const step::Cell& cell : reducing_cells_with_matrices())
    if (cell.name == "multiplies_normal") return cell;
  throw std::logic_error("no such cell");
}

// A vector that waits for a reduction is multiplied forward.
TEST(PersistentReductions, AVectorMayWaitForAReduction) {
  for (const TeamForm& form : {kTeamForms[0], kTeamForms[1], kTeamForms[3]}) {
    const step::Cell cell = parsed_cell(kReducedVector);
    Problem problem;
    problem.sizes = {3, 6, 1, 40};
    problem.pass = Pass::Forward;
    const Parameters point = persistent_point(problem, form.blocks, form.grid, 1, false);
    std::mt19937 rng(3);
    TensorValues given;
    step::ForwardArguments<double> arguments;
    const auto give = [&](Role role, const char* name, double scale, step::TensorMap<double>& map) {
      const TensorId id = cell.find(name).value();
      const std::int64_t count =
          step::element_count(cell.tensors[static_cast<std::size_t>(id)], problem.sizes);
      given[{role, id}] = map[name] = draw(rng, count, scale, Storage::BF16);
    };
    give(Role::Input, "x", 1, arguments.inputs);
    give(Role::Param, "R", 0.2, arguments.params);
    give(Role::InitialState, "h", 0.5, arguments.initial_states);
    const SimulatedRun run =
        simulate_plan({cell, problem, {}}, point_plan(*kReducing, cell, problem, point), given);
    ASSERT_TRUE(run.faults.empty()) << run.faults.front();
    const auto truth = step::run_forward(cell, problem.sizes, arguments, step::RunOptions<double>{1});
    ASSERT_TRUE(truth);
    const TensorId h = cell.find("h").value();
    for (const auto& [ref, values] : run.written)
      if (ref.role == Role::LastState) {
        EXPECT_LT(norm_error(values, truth->last_states.at("h")), 5e-3) << form.name << h;
      }
  }
}

// And backward: the vector of all steps is made again for the gradient of the matrix.
TEST(PersistentReductions, WhatIsMultipliedMayDependOnAReductionBackward) {
  int turn = 0;
  for (const TeamForm& form : kTeamForms)
    for (const step::Cell& cell : {parsed_cell(kReducedVector), normalised_before_its_product()}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      const Storage storages[] = {Storage::BF16, Storage::F16, Storage::F32};
      const std::int64_t dims[] = {33, 64, 130};
      const std::int64_t dim = form.share > 1 ? 64 : dims[turn % 3];
      Case c = team_case(cell, form, turn, {turn % 2 * 8 + 3, 5, turn % 2 + 1, dim}, storages[turn % 3]);
      c.problem.save_products = turn % 5 == 0;
      c.problem.pass = Pass::Backward;
      ASSERT_TRUE(kReducing->legal({c.cell, c.problem, {}}).legal) << form.name;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << form.name << " D=" << dim;
    }
}

// What it is not for it says, and what is.
TEST(PersistentReductions, SaysWhatElseThereIs) {
  const Legality legality = kReducing->legal({cell_named("mingru"), Problem{}, {}});
  EXPECT_FALSE(legality.legal);
  for (const char* way : {"stream", "--arch cpu"})
    EXPECT_NE(legality.reason.find(way), std::string::npos) << legality.reason;
}

}  // namespace
}  // namespace rondo::schedule
