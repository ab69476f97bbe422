// Vectors that go from global memory straight into fragments: against the fp64 reference, over several steps
// of the ring, and without what orders the warps.
#include <gtest/gtest.h>

#include "compiler/constraint/solver.h"
#include "compiler/frontend/frontend.h"
#include "compiler/step/forms.h"
#include "tests/schedule/damage.h"
#include "tests/schedule/drawn_for.h"
#include "tests/schedule/persistent/fragment_points.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// A block of one to four warps of units, with and without warps that only multiply; matrices in registers and
// in shared memory; two tiles of the batch; a head that ends within a block. A warp has two or four k-tiles.
constexpr FragmentForm kFragmentForms[] = {{8, 1, 2},          {4, 1, 1, 1, 1},     {8, 2, 4, 1, 2},
                                           {4, 1, 1, 2, 2, 0}, {16, 1, 2, 1, 2, 1}, {8, 2, 2, 2, 1, 64}};
constexpr step::Sizes kFragmentSizes[] = {{11, 5, 1, 128}, {9, 5, 2, 128},  {3, 4, 1, 128},
                                          {17, 5, 1, 64},  {11, 5, 1, 124}, {9, 5, 1, 128}};

TEST(FragmentGather, EveryCell) {
  int number = 0;
  for (const step::Cell& cell : dense_cells()) {
    const int turn = number++;
    if (!rondo::testing::has_turn(turn, 8)) continue;
    const auto form = static_cast<std::size_t>(turn) % std::size(kFragmentForms);
    compare(case_of_fragments(cell, kFragmentSizes[form], kFragmentForms[form],
                              turn / 2 % 2 == 0 ? Storage::BF16 : Storage::F32));
    ASSERT_FALSE(HasFailure()) << cell.name;
  }
}

TEST(FragmentGather, EveryForm) {
  for (std::size_t form = 0; form < std::size(kFragmentForms); ++form)
    for (const Storage storage : {Storage::F16, Storage::F32}) {
      if (!rondo::testing::has_turn(static_cast<int>(2 * form) + (storage == Storage::F32 ? 1 : 0), 4))
        continue;
      compare(case_of_fragments(cell_named("gru"), kFragmentSizes[form], kFragmentForms[form], storage));
      ASSERT_FALSE(HasFailure()) << form;
    }
}

// What there is of it: gates, a normaliser with a maximum, two levels of products, reductions over the head.
TEST(FragmentGather, CellsOfEachKind) {
  for (const char* name : {"lstm", "slstm", "mgu", "lnlstm"}) {
    compare(case_of_fragments(cell_named(name), {11, 5, 1, 64}, {.blocks = 4, .split_k = 1}));
    ASSERT_FALSE(HasFailure()) << name;
  }
}

// Longer than the ring of words, whose places are used again.
TEST(FragmentGather, ManySteps) { compare(case_of_fragments(cell_named("elman"), {11, 150, 1, 64}, {})); }

TEST(FragmentGather, FormsOfTheSequence) {
  int number = 0;
  for (const step::Forms& forms :
       {step::Forms{true, true}, {true, true, true}, {true, true, false, false, true}}) {
    if (!rondo::testing::has_turn(++number)) continue;
    compare(case_of_fragments(step::with_forms(cell_named("lstm"), forms).value(), {13, 9, 2, 64}, {}));
    ASSERT_FALSE(HasFailure()) << number;
  }
}

// Without the meeting for sums something is read too early or written too early, or nobody comes.
TEST(FragmentGather, EveryMissingMeetingIsReported) {
  Case c = case_of_fragments(cell_named("elman"), {9, 5, 1, 64}, {});
  const KernelPlan whole = point_plan(*kStrategyOfFragments, c.cell, c.problem, c.parameters);
  const TensorValues given = drawn_for(c);
  EXPECT_TRUE(simulate_plan(c.task(), whole, given).faults.empty());
  int barriers = 1;
  for (int without = 0; without < barriers; ++without) {
    KernelPlan plan = whole;
    int seen = 0;
    drop<kernel::Barrier>(plan.launches.back().kernel, [&](const kernel::Barrier& barrier) {
      return barrier.id != 0 && seen++ == without;
    });
    barriers = seen;
    EXPECT_FALSE(simulate_plan(c.task(), plan, given).faults.empty()) << "without barrier " << without;
  }
  EXPECT_EQ(barriers, 4);
}

// By whether fragments are gathered: points of the space, and what they need.
std::map<std::int64_t, int> points_by_gathering(const char* name, Pass pass) {
  Problem problem;
  problem.sizes = {16, 64, 1, 768};
  problem.pass = pass;
  const constraint::System space =
      kStrategyOfFragments->space({cell_named(name), problem, target::board("h200")});
  std::map<std::int64_t, int> points;
  (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
    Parameters parameters;
    for (std::size_t i = 0; i < space.names().variables.size(); ++i)
      parameters[space.names().variables[i].name] = point.values()[i];
    const std::int64_t fragments = parameters.at("gather_fragments");
    ++points[fragments];
    if (fragments == 0) return true;
    EXPECT_EQ(parameters.at("exchange"), 1);
    EXPECT_EQ(parameters.at("reduce_scatter"), 0);
    EXPECT_EQ(parameters.at("tiles_in_turn"), 1);
    return true;
  });
  return points;
}

TEST(FragmentGather, TheSpaceHasItWhereVectorsGoThroughTheL2) {
  EXPECT_GT(points_by_gathering("lstm", Pass::Forward)[1], 0);
  EXPECT_GT(points_by_gathering("gru", Pass::ForwardSave)[1], 0);
  EXPECT_GT(points_by_gathering("elman", Pass::Backward)[1], 0);
}

}  // namespace
}  // namespace rondo::schedule
