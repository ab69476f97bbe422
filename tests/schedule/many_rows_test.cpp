// Cells that carry so many rows that a segment of stream cannot keep what its steps' gradients are made of,
// and computes its steps again, and whose maps have room only with the entries that may differ from zero: in
// the simulator against the fp64 reference.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/shoot/resources.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/schedule/stream/segment_step.h"
#include "compiler/step/forms.h"
#include "tests/schedule/shoot/study.h"
#include "tests/schedule/stream/head_cases.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

step::Cell parsed(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "many_rows.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "many_rows.cell");
  return parsed.cells.front();
}

step::Cell mlstm4() {
  std::stringstream text;
  text << std::ifstream(std::string(RONDO_SOURCE_DIR) + "/tests/literature/mlstm4.cell").rdbuf();
  return parsed(text.str());
}

// A memory of `keys` rows a channel, whose gates are the head's, drawn at random: with a stabiliser or
// sigmoids, with a normaliser or none, with a vector's state that follows the memory, with parameters.
step::Cell random_memory(std::mt19937& rng) {
  const auto some = [&](int count) { return static_cast<int>(rng() % static_cast<unsigned>(count)); };
  const bool stable = some(2) == 0, normalised = some(3) != 0, follower = some(2) == 0, params = some(2) == 0;
  const int keys = 5 + some(3) - (normalised ? 1 : 0);
  const std::string n = std::to_string(keys);
  std::string text = "cell memory(D) {\n input k[" + n + "], q[" + n + "], i, f, v[D]\n";
  if (params) text += " param a[D], b\n";
  text += " state C[" + n + ", D]" + (normalised ? ", n[" + n + "]" : "") + (stable ? ", m = -4" : "") +
          (follower ? ", s[D]" : "") + "\n";
  if (stable)
    text +=
        " log_f = -softplus(-f)\n next m = max(log_f + m, i)\n keep = exp(log_f + m - next m)\n"
        " write = exp(i - next m)\n";
  else
    text += " keep = sigmoid(f + 1)\n write = sigmoid(i)\n";
  text += std::string(" next C = keep * C + write * (k * ") + (params ? "(v * sigmoid(a))" : "v") + ")\n";
  if (normalised) text += " next n = keep * n + write * k\n w = next n\n";
  text += " c = next C\n";
  std::string top, bottom;
  for (int r = 0; r < keys; ++r) {
    const std::string row = "[" + std::to_string(r) + "]";
    top += (r == 0 ? "" : " + ") + ("q" + row + " * c" + row);
    bottom += (r == 0 ? "" : " + ") + ("q" + row + " * w" + row);
  }
  text += " top = " + top + "\n";
  std::string read = normalised ? "top / max(abs(" + bottom + "), 1)" : "top";
  if (follower) {
    text += " next s = 0.7 * s + 0.2 * tanh(" + read + ")\n";
    read = "next s";
  }
  return parsed(text + " output h = " + read + (params ? " * b" : "") + "\n}\n");
}

struct Segmented {
  int time_split = 1, exchange = 0, segments = 4, unroll = 4;
};
constexpr Segmented kSegmented[] = {{1, 0, 4, 4}, {2, 0, 4, 4}, {2, 1, 4, 4}, {1, 0, 7, 8}, {4, 0, 8, 4}};

Parameters cut_point(const Problem& problem, const Segmented& cut) {
  int vector = static_cast<int>(16 / kernel::storage_bytes(problem.storage));
  while (problem.sizes.dim % vector != 0) vector /= 2;
  Parameters point = head_point(problem, 1, cut.segments * cut.unroll, 3, cut.unroll);
  point.erase("heads");
  point["channels"] = 32;
  point["vector"] = vector;
  point["segments"] = cut.segments;
  point["time_split"] = cut.time_split;
  point["exchange"] = cut.exchange;
  point["pipeline_depth"] = 1;
  return point;
}

bool computes_again(const step::Cell& cell, const Problem& problem) {
  const Task task{step::simplify(cell), problem, {}};
  const std::optional<SegmentStep> cut = segment_step(task, stream_step(task));
  return cut && cut->again;
}

void run_cut(const step::Cell& cell, Storage storage, const step::Sizes& sizes, const Segmented& cut,
             bool fp64) {
  Case c{&stream_of_heads(), cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.pass = Pass::Backward;
  ASSERT_TRUE(computes_again(cell, c.problem)) << cell.name;
  c.backward = cut_point(c.problem, cut);
  c.parameters = head_point(c.problem, 1, 4, 2, 1);
  if (fp64) {
    c.in_fp64 = true;
    c.runner = [](const Task& task, const KernelPlan& plan, const TensorValues& values, int pad) {
      kernel::SimulationOptions options;
      options.fp64 = true;
      return simulate_plan(task, plan, values, pad, options);
    };
  }
  Comparison(std::move(c)).run();
}

TEST(ManyRows, Mlstm4) {
  int turn = 0;
  for (const Storage storage : {Storage::BF16, Storage::F32})
    for (const std::int64_t time : {1, 16, 37, 130})
      for (const std::int64_t dim : {1, 33, 96}) {
        if (!rondo::testing::has_turn(++turn)) continue;
        run_cut(mlstm4(), storage, {turn % 2 + 1, time, turn % 3 + 1, dim}, kSegmented[turn % 5], false);
        ASSERT_FALSE(HasFailure()) << "T=" << time << " D=" << dim << " turn " << turn;
      }
}

TEST(ManyRows, ResetsLengthsAndReversedTime) {
  int turn = 0;
  for (const step::Forms& forms :
       {step::Forms{true, false, false}, {false, true, false}, {true, true, true, true}})
    for (const Segmented& cut : kSegmented) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      const step::Cell cell = step::with_forms(mlstm4(), forms).value();
      run_cut(cell, turn % 2 == 0 ? Storage::BF16 : Storage::F32, {3, 37, 2, 33}, cut, false);
      ASSERT_FALSE(HasFailure()) << "turn " << turn;
    }
}

TEST(ManyRows, MemoriesAtRandom) {
  int runs = 0;
  for (std::uint32_t seed = 1; runs < 24; ++seed) {
    ASSERT_LT(seed, 200u);
    std::mt19937 rng(seed);
    step::Cell cell = random_memory(rng);
    if (seed % 3 == 0) cell = step::with_forms(cell, {seed % 2 == 0, seed % 4 != 0, seed % 5 == 0}).value();
    Problem problem;
    problem.pass = Pass::Backward;
    if (!computes_again(cell, problem)) continue;
    ++runs;
    if (!rondo::testing::has_turn(runs, 3)) continue;
    run_cut(cell, Storage::F32, {2, 17 + static_cast<int>(seed) % 30, runs % 2 + 1, runs % 3 == 0 ? 7 : 40},
            kSegmented[runs % 5], true);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// The points of stream that cut time, or those that do not.
constraint::System space_of(const Task& task, bool cut) {
  constraint::System space = stream_of_heads().space(task);
  for (const constraint::Names::Quantity& variable : space.names().variables)
    if (variable.name == "segments")
      space.require(cut ? variable.value > 1 : variable.value == 1, "one of the two kinds");
  return space;
}

Parameters point_of(const constraint::System& space, const constraint::Assignment& assignment) {
  Parameters point;
  for (std::size_t i = 0; i < space.domains().size(); ++i)
    point[space.names().variables[i].name] = assignment.values()[i];
  return point;
}

// At few channels and many steps the model takes a point that cuts time, and the walk in order for many
// heads.
TEST(ManyRows, ModelCutsTimeWhereItIsLong) {
  Problem problem;
  problem.pass = Pass::Backward;
  const auto least = [&](bool cut) {
    const Task task{step::simplify(mlstm4()), problem, target::board()};
    const constraint::System space = space_of(task, cut);
    const CostModel model = stream_of_heads().cost_model(task);
    double seconds = std::numeric_limits<double>::infinity();
    const auto stats = constraint::enumerate(space, [&](const constraint::Assignment& assignment) {
      seconds = std::min(seconds, model(point_of(space, assignment)).seconds);
      return true;
    });
    EXPECT_GT(stats.solutions, 0u);
    return seconds;
  };
  problem.sizes = {1, 65536, 1, 64};
  EXPECT_LT(least(true), least(false) / 10);
  problem.sizes = {16, 2048, 8, 256};
  EXPECT_GT(least(true), least(false));
}

// Cells of more and more rows and per-head values: what a segment keeps has room in the registers that a
// thread has, beside what the head shares; what has no room is computed again.
TEST(ManyRows, KeepsWhatHasRoom) {
  int kept = 0, again = 0;
  for (int rows = 1; rows <= 48; ++rows)
    for (int values = 1; values <= 12; ++values) {
      const std::string r = std::to_string(rows), s = std::to_string(values);
      std::string sum = "s[0]";
      for (int i = 1; i < values; ++i) sum += " + s[" + std::to_string(i) + "]";
      const Task task{parsed("cell rows(D) { input x[" + r + ", D], s[" + s + "]; state h[" + r +
                             ", D]; next h = x * h + (" + sum + ") * x; output h }"),
                      {},
                      {}};
      const SegmentShape shape = segment_shape(task);
      ++(shape.again ? again : kept);
      if (shape.again) continue;
      EXPECT_LE(segment_registers(false, false, 1, 4, shape), 255)
          << rows << " rows, " << values << " values";
    }
  EXPECT_GT(kept, 50);
  EXPECT_GT(again, 50);
}

// What the space counts of a block is what its kernel has.
TEST(ManyRows, SpacesCountWhatKernelsNeed) {
  int kernels = 0;
  for (const Storage storage : {Storage::BF16, Storage::F32}) {
    Problem problem;
    problem.sizes = {1, 65536, 1, 64};
    problem.storage = storage;
    problem.math = default_math(storage);
    problem.pass = Pass::Backward;
    const Task task{step::simplify(mlstm4()), problem, target::board()};
    const constraint::System space = space_of(task, true);
    int solutions = 0;
    const auto stats = constraint::enumerate(space, [&](const constraint::Assignment& assignment) {
      if (++solutions % 37 != 0) return true;
      const auto plan = stream_of_heads().build(task, point_of(space, assignment));
      EXPECT_TRUE(plan);
      if (!plan) return false;
      ++kernels;
      std::map<std::string, std::int64_t> counted;
      for (const auto& [name, value] : assignment.items()) counted[name] = value;
      for (const Launch& launch : plan->launches) {
        const kernel::Kernel& kernel = launch.kernel;
        if (kernel.name != "mlstm4_stream_bw") continue;
        EXPECT_LE(kernel::shared_bytes(kernel), counted.at("shared_bytes_cut"));
        EXPECT_EQ(kernel.threads, counted.at("threads_cut"));
        EXPECT_LE(counted.at("segment_registers") * kernel.min_blocks * kernel.threads,
                  task.profile.limits.registers_per_sm);
      }
      return !::testing::Test::HasFailure();
    });
    EXPECT_EQ(stats.outcome, constraint::Outcome::Complete);
  }
  EXPECT_GT(kernels, 10);
}

// A step's values that fit are kept, as they were: the same cell with keys of two numbers.
TEST(ManyRows, FewRowsAreKept) {
  std::stringstream text;
  text << std::ifstream(std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/copies.cell").rdbuf();
  for (const step::Cell& cell : frontend::parse(text.str(), "copies.cell").cells) {
    Problem problem;
    problem.pass = Pass::Backward;
    EXPECT_FALSE(computes_again(cell, problem)) << cell.name;
  }
}

// What follows what over several steps has an entry in the maps, though it has none in a step's.
TEST(ManyRows, AChainOfStates) {
  const step::Cell chain = parsed(
      "cell chain(D) {\n input x[D], g[4, D]\n state a[D], b[D], c[D], d[D]\n"
      " next a = sigmoid(g[0]) * a + x\n next b = sigmoid(g[1]) * b + a\n"
      " next c = sigmoid(g[2]) * c + b\n next d = sigmoid(g[3]) * d + c\n output y = next d\n}\n");
  for (const Storage storage : {Storage::BF16, Storage::F32})
    for (const Segmented& cut : kSegmented) {
      Case c{&stream_of_heads(), chain, {}, {}, {}, true};
      c.problem.sizes = {2, 75, 1, 40};
      c.problem.storage = storage;
      c.problem.math = default_math(storage);
      c.problem.pass = Pass::Forward;
      EXPECT_EQ(segment_shape({step::simplify(chain), c.problem, {}}).pattern.entries(), 10 + 4);
      c.parameters = cut_point(c.problem, cut);
      c.parameters.erase("head_split");
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cut.segments << " segments, " << cut.time_split << " blocks";
    }
}

// Of mlstm4 the cotangents of memory and normaliser scale, and m's has a share of all: 17 of 81 coefficients.
TEST(ManyRows, MapsHaveTheEntriesThatMayDifferFromZero) {
  Problem problem;
  problem.pass = Pass::Backward;
  const Task task{step::simplify(mlstm4()), problem, {}};
  const SegmentShape shape = segment_shape(task);
  EXPECT_TRUE(shape.again);
  EXPECT_EQ(shape.pattern.entries(), 17 + 9);
  EXPECT_EQ(shape.pattern.products(), 9 + 16 + 17);
}

// Forward in shoot the maps are products of Jacobians, with as few entries: nine rows have room for them.
TEST(ManyRows, ShootHasPointsWithJacobians) {
  Problem problem;
  problem.sizes = {1, 65536, 1, 64};
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave}) {
    problem.pass = pass;
    const Task task{step::simplify(mlstm4()), problem, target::board()};
    EXPECT_EQ(shoot_shape(task).pattern.coefficients(), 17);
    constraint::System space = find_strategy("shoot")->space(task);
    for (const constraint::Names::Quantity& variable : space.names().variables)
      if (variable.name == "newton") space.require(variable.value == 1, "Jacobians");
    const auto first = constraint::find_first(space);
    ASSERT_TRUE(first && first->solution);
    EXPECT_TRUE(find_strategy("shoot")->build(task, point_of(space, *first->solution)));
  }
}

// Where gates keep nearly all, a guess after a warm-up is far off, and only Jacobians bring segments
// together: to what 16-bit types ask for, as the rounding of so many rows keeps starts apart by more than
// fp32 has.
TEST(ManyRows, ShootMeetsWhereTheMemoryIsLong) {
  Study s{
      parsed("cell gated(D) {\n input k[4], q[4], i, f, v[D]\n state C[4, D], n[4], s[D]\n"
             " keep = sigmoid(f + 6)\n write = sigmoid(i)\n next C = keep * C + write * (k * v)\n"
             " next n = keep * n + write * k\n c = next C\n w = next n\n"
             " top = q[0] * c[0] + q[1] * c[1] + q[2] * c[2] + q[3] * c[3]\n"
             " bottom = q[0] * w[0] + q[1] * w[1] + q[2] * w[2] + q[3] * w[3]\n"
             " next s = 0.99 * s + 0.1 * tanh(top / max(abs(bottom), 1))\n output h = next s\n}\n")};
  s.time = 256;
  s.tolerance = std::exp2(-14);
  for (const ShootTeam& team :
       {ShootTeam{8, 1, 0}, ShootTeam{4, 2, 0}, ShootTeam{4, 2, 1}, ShootTeam{8, 1, 2}}) {
    s.team = team;
    const Outcome outcome = study(s);
    EXPECT_TRUE(outcome.faults.empty()) << outcome.faults.front();
    EXPECT_TRUE(outcome.right());
    EXPECT_EQ(outcome.convergence.segments_in_order, 0) << executable::describe(outcome.convergence);
  }
  s.newton = false;
  s.warmup = 16;
  const Outcome outcome = study(s);
  EXPECT_TRUE(outcome.right());
  EXPECT_EQ(outcome.convergence.segments_in_order, 7) << executable::describe(outcome.convergence);
}

}  // namespace
}  // namespace rondo::schedule
