// Matrix states whose rows are dealt to lanes of a warp: in the simulator against the fp64 reference, and
// what spaces and the model count of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/constraint/solver.h"
#include "compiler/kernel/passes/codegen.h"
#include "compiler/schedule/rewrite/deal_rows.h"
#include "compiler/schedule/stream/rows_space.h"
#include "compiler/step/forms.h"
#include "tests/schedule/rows_cells.h"
#include "tests/schedule/stream/head_cases.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// A memory of rows at random: gates of the head, of its rows or of channels, from inputs or parameters; read
// by one sum or two, linear in its state or not.
step::Cell random_rows(std::mt19937& rng) {
  const auto some = [&](int count) { return static_cast<int>(rng() % static_cast<unsigned>(count)); };
  const std::string n = std::to_string(8 * (1 + some(2)));
  const char* gates[] = {"i", "w", "a", "u", "p"};
  const std::string keep = gates[some(5)], write = gates[some(5)];
  std::string text = "cell memory(D) {\n input i, w[" + n + "], k[" + n + "], u[" + n +
                     ", D], v[D]\n param a[" + n + ", D], p[" + n + "]\n state S[" + n + ", D]";
  const bool follower = some(2) == 0, bends = some(2) == 0, reads_first = some(2) == 0;
  text += follower ? ", s[D]\n" : "\n";
  text += " old = sigmoid(" + keep + " + a + p + w + u) * " + (bends ? "tanh(S)" : "S") + "\n";
  text += reads_first ? " seen = v - 0.1 * dot(k, old)\n" : " seen = v\n";
  text += " next S = old + sigmoid(" + write + ") * (0.3 * k * (seen + i))\n";
  text += std::string(" y = ") + (some(2) == 0 ? "dot(k, next S)" : "mean(next S * w, rows) - sum(S, rows)") +
          "\n";
  if (follower) text += " next s = 0.5 * s + 0.2 * tanh(y)\n";
  return cell_of_text(text + " output o = " + (follower ? "next s" : "y") + "\n}\n");
}

// How rows are dealt: lanes, channels of a thread and of a block.
struct Dealing {
  int lanes = 8, per_thread = 1, channels = 8, unroll = 1;
};
constexpr Dealing kDealings[] = {{2, 1, 16, 1}, {4, 2, 16, 2}, {8, 4, 16, 1}, {8, 1, 8, 4}, {4, 1, 32, 1}};

Parameters rows_point(const Problem& problem, const Dealing& dealing) {
  Parameters point = head_point(problem, 1, 4, 2 + dealing.lanes % 3, dealing.unroll);
  point.erase("heads");
  point["channels"] = dealing.channels;
  while (point["vector"] > dealing.channels) point["vector"] /= 2;
  point["per_thread"] = std::min<std::int64_t>(dealing.per_thread, point["vector"]);
  while (dealing.channels / point["per_thread"] * dealing.lanes % 32 != 0) point["per_thread"] /= 2;
  point["row_lanes"] = dealing.lanes;
  return point;
}

void run_dealt(const step::Cell& cell, Storage storage, const step::Sizes& sizes, const Dealing& dealing,
               bool fp64 = false) {
  Case c{&stream_of_heads(), cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.parameters = c.backward = rows_point(c.problem, dealing);
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

// With tails: threads, and whole warps, without channels.
TEST(Rows, MatrixStatesByLanes) {
  constexpr std::int64_t kDims[] = {32, 33, 64, 20};
  int turn = 0;
  for (const step::Cell& cell : {delta_rule(8), stabilised_memory(16), rows_with_parameters(8)})
    for (const Storage storage : {Storage::BF16, Storage::F32, Storage::F16})
      for (const std::int64_t time : {1, 4, 19}) {
        if (!rondo::testing::has_turn(++turn)) continue;
        run_dealt(cell, storage, {turn % 2 + 1, time, turn % 3 + 1, kDims[turn % 4]}, kDealings[turn % 5]);
        ASSERT_FALSE(HasFailure()) << cell.name << " T=" << time << " turn " << turn;
      }
}

// Those that are shipped, as they are: by lanes and by one thread a channel, in order.
TEST(Rows, ShippedCells) {
  int turn = 0;
  for (const step::Cell& cell : matrix_state_cells())
    for (const Storage storage : {Storage::BF16, Storage::F32})  // some grow beyond fp16 with such numbers
      for (const Dealing& dealing : {Dealing{8, 1, 8, 1}, Dealing{16, 2, 8, 1}, Dealing{4, 1, 16, 1}}) {
        if (!rondo::testing::has_turn(++turn, 4)) continue;
        run_dealt(cell, storage, {turn % 2 + 1, turn % 3 == 0 ? 1 : 9, turn % 2 + 1, 16}, dealing);
        ASSERT_FALSE(HasFailure()) << cell.name << " turn " << turn;
      }
}

TEST(Rows, ResetsLengthsAndReversedTime) {
  int turn = 0;
  for (const step::Cell& plain : {delta_rule(8), stabilised_memory(8), rows_with_parameters(8)})
    for (const step::Forms& forms :
         {step::Forms{true, false, false}, {false, true, false}, {true, true, true, true}}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      run_dealt(step::with_forms(plain, forms).value(), turn % 2 == 0 ? Storage::BF16 : Storage::F32,
                {3, 11, 2, turn % 3 == 0 ? 36 : 32}, kDealings[turn % 5]);
      ASSERT_FALSE(HasFailure()) << plain.name << " turn " << turn;
    }
}

TEST(Rows, MemoriesAtRandom) {
  for (std::uint32_t seed = 1; seed <= 24; ++seed) {
    if (!rondo::testing::has_turn(static_cast<int>(seed), 3)) continue;
    std::mt19937 rng(seed);
    step::Cell cell = random_rows(rng);
    if (seed % 3 == 0) cell = step::with_forms(cell, {seed % 2 == 0, seed % 4 != 0, seed % 5 == 0}).value();
    run_dealt(cell, Storage::F32, {2, 5 + static_cast<int>(seed) % 9, static_cast<int>(seed) % 2 + 1, 32},
              kDealings[seed % 5], true);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

Task many_rows_task(const step::Cell& cell, Pass pass, Storage storage) {
  Problem problem;
  problem.sizes = {1, 4096, 32, 128};
  problem.storage = storage;
  problem.math = default_math(storage);
  problem.pass = pass;
  return {step::simplify(cell), problem, target::board()};
}

// What the space counts of a block is what its kernel has.
TEST(Rows, SpacesCountWhatKernelsNeed) {
  int kernels = 0;
  const step::Cell cells[] = {delta_rule(16), stabilised_memory(8), rows_with_parameters(8)};
  for (const step::Cell& cell : cells)
    for (const Storage storage : {Storage::F16, Storage::F32})
      for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
        const Task task = many_rows_task(cell, pass, storage);
        const constraint::System space = rows_space(task);
        std::mt19937 rng(5);
        for (int drawn = 0; drawn < 4;) {
          Parameters point;
          for (std::size_t i = 0; i < space.domains().size(); ++i) {
            const auto& values = space.domains()[i].values();
            point[space.names().variables[i].name] = values[rng() % values.size()];
          }
          const auto assignment = space.check(point);
          if (!assignment) continue;
          ++drawn;
          if (&cell == &cells[1]) point["heads"] = point["head_split"] = 1;  // of whole heads
          const auto plan = stream_of_heads().build(task, point);
          ASSERT_TRUE(plan) << plan.error().message;
          std::map<std::string, std::int64_t> counted;
          for (const auto& [name, value] : assignment->items()) counted[name] = value;
          const kernel::Kernel& kernel = plan->launches.front().kernel;
          EXPECT_LE(kernel::shared_bytes(kernel), counted.at("shared_bytes")) << print(point);
          EXPECT_EQ(kernel.threads, counted.at("threads"));
          ++kernels;
        }
      }
  EXPECT_EQ(kernels, 3 * 2 * 2 * 4);
}

// A point of the whole space may have one thread a channel, and is then what it was.
TEST(Rows, ThePointsOfOneThreadAreThere) {
  for (const step::Cell& cell : {delta_rule(16), stabilised_memory(8)}) {
    const Task task = many_rows_task(cell, Pass::Backward, Storage::BF16);
    constraint::System space = stream_of_heads().space(task);
    for (const constraint::Names::Quantity& variable : space.names().variables)
      if (variable.name == "row_lanes") space.require(variable.value == 1, "one thread");
    const auto first = constraint::find_first(space);
    ASSERT_TRUE(first && first->solution);
  }
}

// Of 64 rows the model takes a point whose rows are dealt, and expects no spill of it.
TEST(Rows, TheModelDealsManyRows) {
  for (const step::Cell& cell : {delta_rule(64), stabilised_memory(64)})
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
      const Task task = many_rows_task(cell, pass, Storage::BF16);
      const CostModel model = stream_of_heads().cost_model(task);
      const constraint::System space = stream_of_heads().space(task);
      double least = std::numeric_limits<double>::infinity();
      std::int64_t lanes = 0;
      (void)constraint::enumerate(space, [&](const constraint::Assignment& assignment) {
        Parameters point;
        for (std::size_t i = 0; i < space.domains().size(); ++i)
          point[space.names().variables[i].name] = assignment.values()[i];
        const Estimate e = model(point);
        if (!e.may_spill && e.seconds < least) {
          least = e.seconds;
          lanes = point.at("row_lanes");
        }
        return true;
      });
      EXPECT_GE(lanes, 4) << cell.name << " " << pass_name(pass);
      EXPECT_LT(least, 6e-3) << cell.name << " " << pass_name(pass);
    }
}

// What the delta rule of 64 keys took on an H200 where a warp writes whole sectors and parts of them.
TEST(Rows, TheModelPricesPartsOfSectors) {
  struct RowsTime {
    Pass pass;
    int lanes, per_thread, channels, stages, steps, unroll;
    double milliseconds;
  };
  constexpr RowsTime kTimes[] = {
      {Pass::ForwardSave, 4, 2, 32, 4, 32, 2, 1.04}, {Pass::ForwardSave, 8, 2, 32, 2, 8, 1, 1.61},
      {Pass::ForwardSave, 8, 1, 32, 2, 4, 1, 3.55},  {Pass::ForwardSave, 16, 2, 32, 2, 32, 4, 5.01},
      {Pass::Backward, 8, 2, 32, 3, 4, 2, 2.98},
  };
  for (const RowsTime& m : kTimes) {
    Task task = many_rows_task(delta_rule(64), m.pass, Storage::BF16);
    const Parameters point = {{"channels", m.channels},
                              {"exchange", 0},
                              {"interleaved_copies", 0},
                              {"per_thread", m.per_thread},
                              {"pipeline_depth", 1},
                              {"producer_warps", 0},
                              {"rewrite", 0},
                              {"row_lanes", m.lanes},
                              {"segments", 1},
                              {"stages", m.stages},
                              {"steps", m.steps},
                              {"stream_stores", 0},
                              {"time_split", 1},
                              {"unroll", m.unroll},
                              {"vector", 8}};
    const double said = 1e3 * stream_of_heads().cost_model(task)(point).seconds;
    EXPECT_LT(std::abs(std::log(said / m.milliseconds)), std::log(2.0))
        << pass_name(m.pass) << " " << m.lanes << " lanes, " << m.per_thread << " channels: " << said
        << " ms, took " << m.milliseconds;
  }
}

}  // namespace
}  // namespace rondo::schedule
