// Cells whose values of the head follow no channel, in the simulator against the fp64 reference: each channel
// has a copy of them where time is cut, backward a share of their gradients.
#include <gtest/gtest.h>

#include <random>

#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/step/forms.h"
#include "compiler/step/structure.h"
#include "tests/schedule/shoot/points.h"
#include "tests/schedule/stream/head_cases.h"
#include "tests/step/random_cell.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy& shoot() { return *find_strategy("shoot"); }

step::Cell cell_of_copies(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "copies.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "copies.cell");
  return parsed.cells.front();
}

std::vector<step::Cell> copied_cells() {
  std::stringstream text;
  text << std::ifstream(std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/copies.cell").rdbuf();
  const frontend::Parsed parsed = frontend::parse(text.str(), "copies.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text.str(), "copies.cell");
  return parsed.cells;
}

// How blocks share the time of a channel: how many there are, how they meet, rounds in flight.
struct Cut {
  int time_split = 1, exchange = 0, pipeline_depth = 1;
};
constexpr Cut kCuts[] = {{1, 0, 1}, {2, 0, 1}, {2, 1, 1}, {4, 0, 2}};

// Four segments of four steps, in whole warps.
Parameters cut_point(const Problem& problem, const Cut& cut, int per_thread) {
  int vector = static_cast<int>(16 / kernel::storage_bytes(problem.storage));
  while (problem.sizes.dim % vector != 0) vector /= 2;
  per_thread = std::min(per_thread, vector);
  return {{"channels", 40 * per_thread},
          {"per_thread", per_thread},
          {"steps", 16},
          {"stages", 3},
          {"unroll", 4},
          {"vector", vector},
          {"producer_warps", 0},
          {"rewrite", 0},
          {"segments", 4},
          {"time_split", cut.time_split},
          {"stream_stores", 0},
          {"interleaved_copies", 0},
          {"pipeline_depth", cut.pipeline_depth},
          {"exchange", cut.exchange}};
}

Case copied_case(const Strategy& strategy, const step::Cell& cell, Storage storage,
                 const step::Sizes& sizes) {
  Case c{&strategy, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  return c;
}

// Forward where next states and outputs are affine in all that the step carries, and backward always.
void run_cut(const step::Cell& cell, Storage storage, const step::Sizes& sizes, const Cut& cut, int each) {
  Case c = copied_case(stream_of_heads(), cell, storage, sizes);
  c.backward = cut_point(c.problem, cut, each);
  c.problem.pass = Pass::Backward;
  const step::Cell simple = step::simplify(cell);
  EXPECT_GT(segment_parts({simple, c.problem, {}}), 0) << cell.name;
  c.problem.pass = Pass::ForwardSave;
  const bool affine = segment_parts({simple, c.problem, {}}) > 0;
  EXPECT_EQ(affine, cell.name == "turning");
  c.parameters = affine ? c.backward : head_point(c.problem, each, 4, 2, 1);
  Comparison(std::move(c)).run();
}

TEST(HeadCopies, TimeIsCutInStream) {
  int turn = 0;
  for (const step::Cell& cell : copied_cells())
    for (const Storage storage : {Storage::BF16, Storage::F32})
      for (const std::int64_t time : {1, 16, 37})
        for (const std::int64_t dim : {1, 33, 96}) {
          if (!rondo::testing::has_turn(++turn)) continue;
          run_cut(cell, storage, {turn % 2 + 1, time, turn % 3 + 1, dim}, kCuts[(turn + turn / 4) % 4],
                  1 + turn % 2);
          ASSERT_FALSE(::testing::Test::HasFailure())
              << cell.name << " T=" << time << " D=" << dim << " turn " << turn;
        }
}

TEST(HeadCopies, ResetsLengthsAndReversedTime) {
  int turn = 0;
  for (const step::Cell& plain : copied_cells())
    for (const step::Forms& forms :
         {step::Forms{true, false, false}, {false, true, false}, {true, true, true, true}})
      for (const Cut& cut : kCuts) {
        if (!rondo::testing::has_turn(++turn)) continue;
        const step::Cell cell = step::with_forms(plain, forms).value();
        run_cut(cell, turn % 2 == 0 ? Storage::BF16 : Storage::F32, {3, 37, 2, 33}, cut, 1);
        ASSERT_FALSE(HasFailure()) << cell.name << " turn " << turn;
        Case c = copied_case(shoot(), cell, Storage::F32, {3, 37, 2, 33});
        c.parameters = shoot_point(c.problem, {3, turn % 2 + 1, turn % 3}, 1, 0, turn % 2 == 0);
        if (turn % 2 == 0 && turn % 3 == 1) c.parameters["time_split"] = 2;
        if (c.parameters["time_split"] == 1) c.parameters["exchange"] = 0;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << cell.name << " shoot, turn " << turn;
      }
}

TEST(HeadCopies, Shoot) {
  constexpr ShootTeam kTeams[] = {{1, 1, 0}, {7, 1, 0}, {4, 2, 0}, {3, 2, 1}, {6, 1, 2}, {2, 4, 1}};
  int turn = 0;
  for (const step::Cell& cell : copied_cells())
    for (const Storage storage : {Storage::BF16, Storage::F32})
      for (const std::int64_t time : {1, 40, 130})
        for (const std::int64_t dim : {1, 33, 96}) {
          if (!rondo::testing::has_turn(++turn)) continue;
          Case c = copied_case(shoot(), cell, storage, {turn % 2 + 1, time, turn % 3 + 1, dim});
          const ShootTeam team = kTeams[turn % 6];
          c.parameters =
              shoot_point(c.problem, team, 1 + turn % 2, turn % 4 == 0 ? 16 : 0, turn % 3 != 0, 1 + turn % 3);
          Comparison(std::move(c)).run();
          ASSERT_FALSE(HasFailure()) << cell.name << " T=" << time << " D=" << dim << " turn " << turn;
        }
}

// Nine rows a channel.
TEST(HeadCopies, ShootOfManyRows) {
  std::stringstream text;
  text << std::ifstream(std::string(RONDO_SOURCE_DIR) + "/tests/literature/mlstm4.cell").rdbuf();
  const step::Cell cell = cell_of_copies(text.str());
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave}) {
    Problem problem;
    problem.sizes = {1, 4096, 1, 64};
    problem.pass = pass;
    const Task task{step::simplify(cell), problem, target::board()};
    ASSERT_TRUE(shoot().legal(task).legal) << shoot().legal(task).reason;
    const constraint::System space = shoot().space(task);
    Parameters cut = first_point(shoot(), task.cell, problem);
    EXPECT_TRUE(space.check(cut));
    EXPECT_EQ(cut.at("newton"), 0);
  }
  for (const Storage storage : {Storage::BF16, Storage::F32}) {
    Case c = copied_case(shoot(), cell, storage, {2, 130, 1, 40});
    c.parameters = shoot_point(c.problem, {4, 1, 0}, 1, 16, false);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure());
  }
}

constraint::Expr variable_named(const constraint::System& space, const std::string& name) {
  for (const constraint::Names::Quantity& variable : space.names().variables)
    if (variable.name == name) return variable.value;
  throw std::runtime_error("no variable " + name);
}

// Both kinds of kernels are in the space, and the model knows both.
TEST(HeadCopies, SpaceHasBothKinds) {
  for (const step::Cell& cell : copied_cells())
    for (const std::int64_t dim : {40, 200})
      for (const bool cut : {false, true}) {
        Problem problem;
        problem.sizes = {1, 300, 1, dim};
        problem.pass = Pass::Backward;
        const Task task{step::simplify(cell), problem, target::board()};
        constraint::System space = stream_of_heads().space(task);
        const constraint::Expr segments = variable_named(space, "segments");
        space.require(cut ? segments > 1 : segments == 1, "one of the two kinds");
        const auto first = constraint::find_first(space);
        ASSERT_TRUE(first && first->solution) << cell.name << " D=" << dim << (cut ? ", cut" : ", in order");
        Parameters point;
        for (std::size_t i = 0; i < space.domains().size(); ++i)
          point[space.names().variables[i].name] = first->solution->values()[i];
        EXPECT_GT(stream_of_heads().cost_model(task)(point).seconds, 0);
        const auto plan = stream_of_heads().build(task, point);
        ASSERT_TRUE(plan) << plan.error().message;
        // Where channels carry shares, launches add them up: of each input and state of the head.
        const auto of_head = [&](TensorKind kind) {
          int count = 0;
          for (const TensorId id : task.cell.of_kind(kind))
            if (task.cell.tensors[static_cast<std::size_t>(id)].tail == step::Tail::Scalar) ++count;
          return count;
        };
        const int params = static_cast<int>(task.cell.of_kind(TensorKind::Param).size());
        const int sums = cut ? of_head(TensorKind::Input) + of_head(TensorKind::State) : 0;
        const bool cleared = point.at("exchange") == 1;
        EXPECT_EQ(static_cast<int>(plan->launches.size()), 1 + params + sums + (cleared ? 1 : 0))
            << cell.name;
      }
}

// What must stay as it is: a state of the head that follows channels, and clipped gradients, whose shares
// would be clipped apart.
TEST(HeadCopies, NotWhereTheHeadFollowsChannels) {
  const step::Cell follows = cell_of_copies(
      "cell follows(D) {\n input x[D]\n state h[D], s\n next h = 0.5 * h + s\n"
      " next s = 0.5 * s + mean(x)\n output h\n}\n");
  const step::Cell coupled = cell_of_copies(
      "cell coupled(D) {\n input x[D]\n state h[D], s\n next h = 0.5 * h + s + x\n"
      " next s = 0.5 * s + sum(h)\n output h\n}\n");
  for (const step::Cell& cell : {follows, coupled})
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
      Problem problem;
      problem.pass = pass;
      const Task task{step::simplify(cell), problem, target::board()};
      EXPECT_EQ(segment_parts(task), 0) << cell.name;
      EXPECT_FALSE(shoot().legal(task).legal) << cell.name;
      EXPECT_TRUE(stream_of_heads().legal(task).legal);
    }
  EXPECT_FALSE(step::analyze(step::simplify(coupled)).all_diagonal);
}

// Cells at random with values of the head and no reductions.
TEST(HeadCopies, RandomCells) {
  int runs = 0;
  for (std::uint64_t seed = 1; runs < 40 && seed < 4000; ++seed) {
    step::testing::Random random(seed);
    const step::Cell cell = step::testing::random_cell(random, {false, false, seed % 3 == 0, true});
    const step::Cell simple = step::simplify(cell);
    if (!needs_whole_head(simple)) continue;
    ASSERT_TRUE(step::structure_of(simple).all_diagonal) << step::testing::provenance(seed, cell);
    Case c = copied_case(stream_of_heads(), cell, Storage::F32,
                         {2, 21, runs % 2 + 1,
                          runs % 3 == 0   ? 7
                          : runs % 3 == 1 ? 40
                                          : 132});
    c.in_fp64 = true;
    c.runner = [](const Task& task, const KernelPlan& plan, const TensorValues& values, int pad) {
      kernel::SimulationOptions options;
      options.fp64 = true;
      return simulate_plan(task, plan, values, pad, options);
    };
    c.problem.pass = Pass::Backward;
    if (segment_parts({simple, c.problem, {}}) == 0) continue;
    c.backward = cut_point(c.problem, kCuts[runs % 4], 1 + runs % 2);
    c.problem.pass = Pass::ForwardSave;
    c.parameters =
        segment_parts({simple, c.problem, {}}) > 0 ? c.backward : head_point(c.problem, 1, 2, 2, 1);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << step::testing::provenance(seed, cell);
    ++runs;
  }
  EXPECT_EQ(runs, 40);
}

}  // namespace
}  // namespace rondo::schedule
