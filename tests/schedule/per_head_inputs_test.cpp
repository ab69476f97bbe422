// Inputs with one value a head, in the simulator against the fp64 reference: masks and scales of a step.
#include <gtest/gtest.h>

#include "compiler/frontend/frontend.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/first_point.h"
#include "tests/schedule/shoot/points.h"

namespace rondo::schedule {
namespace {

step::Cell cell_of_text(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "numbers.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "numbers.cell");
  return parsed.cells.front();
}

// Affine in h: time may be cut. `k` is read in a function, with and without a parameter beside it.
step::Cell masked_by_head_value() {
  return cell_of_text(
      "cell masked(D) {\n input x[2, D], m, k[2]\n param b\n state h[D]\n a = sigmoid(x[0] + b)\n"
      " next h = m * a * h + k[1] * tanh(k[0] * x[1])\n output h\n}\n");
}

step::Cell gated_by_state() {
  return cell_of_text(
      "cell gated(D) {\n input m, x[D]\n state h[D]\n next h = m * tanh(h + x) + (1 - m) * h\n output "
      "h\n}\n");
}

Case both_passes(const step::Cell& cell, Storage storage, const step::Sizes& sizes) {
  const Strategy& stream = *find_strategy("stream");
  Case c{&stream, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.pass = Pass::Backward;
  c.backward = first_point(stream, cell, c.problem);
  c.problem.pass = Pass::ForwardSave;
  c.parameters = first_point(stream, cell, c.problem);
  return c;
}

TEST(PerHeadInputs, AwkwardSizesWithAndWithoutForms) {
  int turn = 0;
  for (const step::Cell& plain : {masked_by_head_value(), gated_by_state()})
    for (const step::Forms& forms : {step::Forms{}, {true, true, false}, {true, true, true, true}})
      for (const std::int64_t dim : {1, 33, 130})
        for (const std::int64_t time : {1, 19}) {
          const step::Cell cell = step::with_forms(plain, forms).value();
          const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
          Comparison(both_passes(cell, storage, {turn % 3 + 1, time, turn % 2 + 1, dim})).run();
          ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim << " T=" << time;
        }
}

// Parameters with several numbers a head: each row of each head is its own, in every strategy; of a cell that
// is affine in its state, and of one that is not.
TEST(PerHeadInputs, ParametersOfSeveralRowsAndHeads) {
  int runs = 0;
  for (const std::string state : {"h", "tanh(h)"})
    for (const Strategy* strategy : strategies()) {
      const step::Cell cell = cell_of_text(
          "cell scales(D) {\n input x[2, D]\n param k[3], b\n state h[D]\n a = sigmoid(k[0] * x[0] + b)\n"
          " next h = a * " +
          state + " + k[1] * tanh(k[2] * x[1])\n output h\n}\n");
      Problem problem;
      problem.sizes = {2, 7, 3, 33};
      problem.storage = Storage::F32;
      problem.math = default_math(problem.storage);
      Case c{strategy, cell, problem, {}, {}, true};
      c.problem.pass = Pass::Backward;
      if (strategy->legal({cell, c.problem, {}}).legal) c.backward = first_point(*strategy, cell, c.problem);
      c.problem.pass = Pass::ForwardSave;
      if (!strategy->legal({cell, c.problem, {}}).legal) continue;
      c.parameters = first_point(*strategy, cell, c.problem);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << strategy->name() << " " << state;
      ++runs;
    }
  EXPECT_GE(runs, 4);
}

TEST(PerHeadInputs, TimeIsCutInSegmentsAndAmongBlocks) {
  Problem problem;
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    problem.pass = pass;
    EXPECT_GT(segment_parts({masked_by_head_value(), problem, {}}), 0);
  }
  for (const int exchange : {0, 1}) {
    Case c = both_passes(masked_by_head_value(), Storage::F32, {3, 37, 2, 72});
    c.problem.math = kernel::Math::Accurate;
    c.parameters = c.backward = stream_in_cluster_of_two(64, false);
    c.parameters["exchange"] = c.backward["exchange"] = exchange;
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << exchange;
  }
}

// Warps of a block, of a cluster and of the grid load the per-head values of their own stages, warm-ups too.
TEST(PerHeadInputs, SegmentsThatShootLoadTheirOwn) {
  int turn = 0;
  for (const step::Cell& plain : {masked_by_head_value(), gated_by_state()})
    for (const step::Forms& forms : {step::Forms{}, {true, true, false}, {true, true, true, true}})
      for (const ShootTeam team : {ShootTeam{1, 1, 0}, {4, 1, 0}, {3, 2, 0}, {3, 2, 1}})
        for (const std::int64_t dim : {33, 64}) {
          const step::Cell cell = step::with_forms(plain, forms).value();
          const Storage storage = ++turn % 3 == 0 ? Storage::F32
                                  : turn % 3 == 1 ? Storage::BF16
                                                  : Storage::F16;
          Case c{find_strategy("shoot"), cell, {}, {}, {}};
          c.problem.sizes = {turn % 3 + 1, turn % 5 == 0 ? 7 : 65, turn % 2 + 1, dim};
          c.problem.storage = storage;
          c.problem.math = default_math(storage);
          c.parameters = shoot_point(c.problem, team, 1 + turn % 2, turn % 4 < 2 ? 16 : 0, turn % 3 != 0);
          Comparison(std::move(c)).run();
          ASSERT_FALSE(HasFailure()) << cell.name << " in " << team.segments << " segments, D=" << dim;
        }
}

// Each channel has a copy of a state of the head that follows no channel. One that does couples them, and
// what has no kernel says so.
TEST(PerHeadInputs, ShootTakesStatesOfTheHeadThatFollowNoChannel) {
  const auto cell = [](const std::string& next) {
    return cell_of_text("cell s(D) {\n input x[D]\n state h[D], n\n next n = " + next +
                        "\n next h = h * x / n\n output h\n}\n");
  };
  Problem problem;
  for (const char* next : {"0.5 * n + 1", "0.5 * n + mean(x)"})
    EXPECT_TRUE(find_strategy("stream")->legal({cell(next), problem, {}}).legal);
  EXPECT_TRUE(find_strategy("shoot")->legal({masked_by_head_value(), problem, {}}).legal);
  EXPECT_TRUE(find_strategy("shoot")->legal({cell("0.5 * n + 1"), problem, {}}).legal);
  const step::Cell follows = step::simplify(cell("0.5 * n + mean(x)"));
  const Legality refused = find_strategy("shoot")->legal({follows, problem, {}});
  EXPECT_FALSE(refused.legal);
  EXPECT_NE(refused.reason.find("reduces over the head"), std::string::npos) << refused.reason;
}

}  // namespace
}  // namespace rondo::schedule
