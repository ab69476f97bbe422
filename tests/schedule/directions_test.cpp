// Heads that walk in two directions (step/forms.h): the bits of two problems of half the heads, of which one
// is reversed; and which heads a block may have together.
#include <gtest/gtest.h>

#include <utility>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/plan/problem_check.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/first_point.h"
#include "tests/schedule/stream/head_cases.h"

namespace rondo::schedule {
namespace {

// Values of a tensor for one half of the heads: [outer, H, ...] is cut in the middle of H.
std::vector<double> half_of(const std::vector<double>& values, std::int64_t outer, int half) {
  const std::size_t each = values.size() / static_cast<std::size_t>(2 * outer);
  std::vector<double> result;
  for (std::int64_t i = 0; i < outer; ++i) {
    const auto first =
        values.begin() + static_cast<std::ptrdiff_t>(
                             (2 * static_cast<std::size_t>(i) + static_cast<std::size_t>(half)) * each);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(each));
  }
  return result;
}

std::int64_t outer_of(TensorRef ref, const step::Sizes& sizes) {
  if (has_time_axis(ref.role)) return sizes.batch * sizes.time;
  return ref.role == Role::Param || ref.role == Role::ParamGradient ? 1 : sizes.batch;
}

bool has_heads(TensorRef ref) { return ref.role != Role::Resets && ref.role != Role::Lengths; }

TensorValues half_of(const TensorValues& all, const step::Sizes& sizes, int half) {
  TensorValues result;
  for (const auto& [ref, values] : all)
    result[ref] = has_heads(ref) ? half_of(values, outer_of(ref, sizes), half) : values;
  return result;
}

// Both passes of a cell in two directions, and of each direction on its own.
class InTurn {
 public:
  InTurn(const Strategy& strategy, const step::Cell& plain, Storage storage, const step::Sizes& sizes)
      : strategy_(strategy), sizes_(sizes) {
    const step::Forms forms{true, true, false, true, true}, forward{true, true, false, true},
        reversed{true, true, true, true};
    both_ = step::with_forms(plain, forms).value();
    halves_ = {step::with_forms(plain, forward).value(), step::with_forms(plain, reversed).value()};
    problem_.storage = storage;
    problem_.math = default_math(storage);
    problem_.sizes = sizes;
  }

  void run() {
    draw_all();
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
      problem_.pass = pass;
      if (!strategy_.legal({both_, problem_, {}}).legal) continue;
      const Parameters point = first_point(strategy_, both_, problem_);
      const TensorValues together = results(both_, problem_, point, given_);
      for (const int half : {0, 1}) {
        Problem alone = problem_;
        alone.sizes.heads /= 2;
        const TensorValues of_half =
            results(halves_[static_cast<std::size_t>(half)], alone, point, half_of(given_, sizes_, half));
        ASSERT_EQ(of_half.size(), together.size());
        for (const auto& [ref, values] : of_half)
          EXPECT_EQ(values, half_of(together.at(ref), outer_of(ref, sizes_), half))
              << strategy_.name() << " " << both_.name << ": " << name_of(ref, both_) << " of half " << half;
      }
      for (const auto& [ref, values] : together)
        if (ref.role == Role::History || ref.role == Role::Output) given_[ref] = values;
    }
  }

 private:
  TensorValues results(const step::Cell& cell, const Problem& problem, const Parameters& point,
                       const TensorValues& given) const {
    const Case c{&strategy_, cell, problem, point, {}};
    SimulatedRun run = simulate_plan(c.task(), point_plan(strategy_, cell, problem, point), given, 8);
    EXPECT_TRUE(run.faults.empty()) << run.faults.front();
    EXPECT_TRUE(run.unwritten.empty()) << run.unwritten.front();
    return std::move(run.written);
  }

  void draw_all() {
    std::mt19937 rng(7);
    const step::Cell& cell = both_;
    for (TensorId id = 0; id < static_cast<TensorId>(cell.tensors.size()); ++id) {
      const step::Tensor& tensor = cell.tensor(id);
      const std::int64_t count = step::element_count(tensor, sizes_);
      const auto put = [&](Role role) { given_[{role, id}] = draw(rng, count, 0.5, problem_.storage); };
      switch (tensor.kind) {
        case TensorKind::Input: put(Role::Input); break;
        case TensorKind::Param: put(Role::Param); break;
        case TensorKind::State: put(Role::InitialState), put(Role::LastStateGradient); break;
        case TensorKind::Output: put(Role::OutputGradient); break;
        case TensorKind::Reset:
          for (std::int64_t i = 0; i < count; ++i)
            given_[{Role::Resets, id}].push_back(rng() % 4 == 0 ? 1 : 0);
          break;
        case TensorKind::Length:
          for (std::int64_t i = 0; i < count; ++i)
            given_[{Role::Lengths, id}].push_back(
                static_cast<double>(rng() % static_cast<std::uint64_t>(sizes_.time + 1)));
          break;
      }
    }
  }

  const Strategy& strategy_;
  step::Sizes sizes_;
  step::Cell both_;
  std::vector<step::Cell> halves_;
  Problem problem_;
  TensorValues given_;
};

TEST(Directions, BitsAreThoseOfTheDirectionsInTurn) {
  int runs = 0;
  for (const char* name : {"mingru", "indrnn", "lstm", "gru", "lnlstm"})
    for (const Strategy* strategy : strategies()) {
      if (!strategy->legal({cell_named(name), Problem{}, {}}).legal) continue;
      InTurn(*strategy, cell_named(name), runs % 2 == 0 ? Storage::BF16 : Storage::F32,
             {3, 13, runs % 3 == 0 ? 4 : 2, 40})
          .run();
      ASSERT_FALSE(HasFailure()) << strategy->name() << " " << name;
      ++runs;
    }
  EXPECT_GE(runs, 8);
}

// A block that has several heads reads their resets once, and starts them at the same step.
TEST(Directions, HeadsOfABlockWalkTheSameWay) {
  for (const auto& [heads, most] : {std::pair{4, 2}, {6, 1}, {8, 4}, {2, 1}}) {
    Problem problem;
    problem.sizes = {2, 16, heads, 16};
    const step::Cell cell =
        step::with_forms(head_cells().front(), {false, false, false, false, true}).value();
    const constraint::System space = find_strategy("stream")->space({cell, problem, target::board()});
    std::int64_t of_block = 0;
    for (const std::int64_t wanted : {1, 2, 4, 8}) {
      constraint::System narrowed = space;
      for (std::size_t i = 0; i < space.domains().size(); ++i)
        if (space.names().variables[i].name == "heads")
          narrowed.require(constraint::Var(i, "heads") == wanted, "heads of the test");
      const auto found = constraint::find_first(narrowed);
      if (found && found->solution) of_block = wanted;
    }
    EXPECT_EQ(of_block, most) << heads << " heads";
  }
}

TEST(Directions, NeedAnEvenNumberOfHeads) {
  const step::Cell cell = step::with_forms(cell_named("lstm"), {false, false, false, false, true}).value();
  Problem problem;
  problem.sizes = {2, 4, 3, 8};
  const Status status = check_problem(cell, problem);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "H is 3, but the heads are halves that walk in two directions");
  problem.sizes.heads = 4;
  EXPECT_TRUE(check_problem(cell, problem));
}

}  // namespace
}  // namespace rondo::schedule
