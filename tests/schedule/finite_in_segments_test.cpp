// Time cut into segments, in the simulator, beside the walk in order of the same kernels: results are finite
// wherever those of the walk in order are, and what is finite is the right number. It may be finite where the
// walk in order is not: a state that overflowed on its way to a number. Factors grow and shrink by many
// orders of magnitude, so that products of them overflow between states that do not, and states overflow
// before resets.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/frontend/frontend.h"
#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/stream/strategy.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "compiler/target/host_profile.h"
#include "tests/schedule/point_plan.h"
#include "tests/schedule/shoot/points.h"
#include "tests/support/turns.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

using step::TensorId;
using step::TensorKind;

// `x[0]` is a factor, `x[1]` what is added, `x[2]` above 0 where a condition of the cell cuts the state off.
constexpr const char* kCells[] = {
    "cell scan(D) { input x[2, D]; state h[D]; next h = x[0] * h + x[1]; output h }",
    "cell cut(D) { input x[3, D]; state h[D]; next h = select(x[2] > 0, x[1], x[0] * h + x[1]); output h }",
    "cell masked(D) { input x[3, D]; state h[D]; next h = select(x[2] > 0, 0, x[0] * h) + x[1];"
    " output y = select(x[2] > 0, x[1], h) }",
    "cell chain(D) { input x[3, D]; param w[D]; state h[D], k[D]; next h = x[0] * h + w * k;"
    " next k = select(x[2] > 0, x[1], k); output h }",
    "cell pair(D) { input x[3, D]; state h[D], k[D]; next h = select(x[2] > 0, x[1], x[0] * h + k);"
    " next k = select(x[2] > 0, 0, x[0] * k + 2 * x[1]); output h, k }",
};

struct Way {
  const char* name;
  const char* strategy;
  Parameters parameters;
};

Parameters stream_point(int segments, int time_split, int exchange, int depth, int per_thread) {
  return {{"channels", 16},
          {"per_thread", per_thread},
          {"steps", 4 * segments},
          {"stages", 3},
          {"unroll", 4},
          {"vector", 4},
          {"producer_warps", 0},
          {"rewrite", 0},
          {"segments", segments},
          {"time_split", time_split},
          {"stream_stores", 0},
          {"interleaved_copies", 0},
          {"pipeline_depth", depth},
          {"exchange", exchange}};
}

class Sequences {
 public:
  Sequences(const step::Cell& cell, std::uint32_t seed) : cell_(cell), random_(seed) {
    problem_.sizes = {2, 75, 1, 16};
    problem_.storage = kernel::Storage::F32;
    problem_.math = kernel::Math::Accurate;
    for (TensorId id = 0; id < static_cast<TensorId>(cell.tensors.size()); ++id) draw(id);
  }

  // What a plan of a pass writes; backward reads what the walk in order has saved.
  TensorValues run(const Strategy& strategy, const Parameters& parameters, Pass pass, bool in_fp64 = false) {
    problem_.pass = pass;
    const bool on_cpus = strategy.name() == std::string("host");
    const target::Profile profile = on_cpus ? target::host_profile() : target::board();
    const KernelPlan plan = point_plan(strategy, cell_, problem_, parameters, profile);
    kernel::SimulationOptions options;
    options.fp64 = in_fp64;
    const SimulatedRun run = simulate_plan({cell_, problem_, profile}, plan, given_, 4, options);
    EXPECT_TRUE(run.faults.empty()) << run.faults.front();
    EXPECT_TRUE(run.unwritten.empty()) << run.unwritten.front();
    EXPECT_FALSE(run.gave_up);
    return run.written;
  }
  void save(const TensorValues& values) {
    for (const auto& [ref, written] : values)
      if (ref.role != Role::LastState) given_[ref] = written;
  }
  const Problem& problem() const { return problem_; }

 private:
  double size(double low, double high) {
    return std::pow(10.0, std::uniform_real_distribution<double>(low, high)(random_));
  }
  // Factors near 1 or of any size; one number in four is added; one step in twelve cuts off.
  double element(std::size_t row) {
    const auto choice = static_cast<int>(random_() % 12);
    if (row == 0) return choice < 8 ? size(-0.3, 0.3) : choice < 10 ? size(-6, 0) : size(0, 16);
    if (row == 1) return choice < 3 ? size(-3, 3) : 0;
    return choice == 0 ? 1 : -1;
  }
  void draw(TensorId id) {
    const step::Tensor& tensor = cell_.tensors[static_cast<std::size_t>(id)];
    const auto count = static_cast<std::size_t>(step::element_count(tensor, problem_.sizes));
    std::vector<double> values(count);
    const auto dim = static_cast<std::size_t>(problem_.sizes.dim);
    for (std::size_t i = 0; i < count; ++i) {
      switch (tensor.kind) {
        case TensorKind::Input:
          values[i] = static_cast<float>(element(i / dim % static_cast<std::size_t>(tensor.rows)));
          break;
        case TensorKind::Reset: values[i] = random_() % 12 == 0 ? 1 : 0; break;
        case TensorKind::Length: values[i] = i == 0 ? 75 : static_cast<double>(random_() % 76); break;
        default: values[i] = static_cast<float>(random_() % 3 == 0 ? 0 : size(-2, 2));
      }
    }
    switch (tensor.kind) {
      case TensorKind::Input: given_[{Role::Input, id}] = values; break;
      case TensorKind::Param: given_[{Role::Param, id}] = values; break;
      case TensorKind::Reset:
      case TensorKind::Length: given_[flag_ref(cell_, id)] = values; break;
      case TensorKind::Output: given_[{Role::OutputGradient, id}] = values; break;
      case TensorKind::State:
        given_[{Role::InitialState, id}] = values;
        given_[{Role::LastStateGradient, id}] = values;
    }
  }

  const step::Cell& cell_;
  std::mt19937 random_;
  Problem problem_;
  TensorValues given_;
};

struct Counts {
  int elements = 0, infinite = 0, further = 0;
};

// `exact`: of the walk in order in fp64. No number is negative, so none is lost by cancelling.
void expect_right(const TensorValues& cut, const TensorValues& in_order, const TensorValues& exact,
                  const std::string& where, Counts& counts) {
  for (const auto& [ref, values] : in_order) {
    ASSERT_EQ(cut.count(ref), 1u) << where;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double got = cut.at(ref)[i], right = exact.at(ref)[i];
      const std::string place =
          where + ", role " + std::to_string(static_cast<int>(ref.role)) + ", element " + std::to_string(i);
      ++counts.elements;
      counts.infinite += std::isfinite(values[i]) ? 0 : 1;
      counts.further += std::isfinite(got) && !std::isfinite(values[i]) ? 1 : 0;
      if (std::isfinite(values[i])) {
        ASSERT_TRUE(std::isfinite(got)) << place << ": " << got << " instead of " << values[i];
      }
      if (std::isfinite(got)) {
        ASSERT_NEAR(got, right, 1e-4 * std::abs(right) + 1e-20) << place;
      }
    }
  }
}

std::vector<Way> ways(const Problem& problem) {
  std::vector<Way> all = {
      {"a block", "stream", stream_point(4, 1, 0, 1, 1)},
      {"a block, two channels a thread", "stream", stream_point(7, 1, 0, 1, 2)},
      {"a cluster", "stream", stream_point(4, 2, 0, 1, 1)},
      {"rounds in flight", "stream", stream_point(4, 4, 0, 2, 2)},
      {"the grid", "stream", stream_point(2, 3, 1, 1, 1)},
      {"CPUs",
       "host",
       {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}, {"segments", 5}}}};
  all.push_back({"shoot in a block", "shoot", shoot_point(problem, {7, 1, 0})});
  all.push_back({"shoot in a cluster", "shoot", shoot_point(problem, {4, 2, 0})});
  all.push_back({"shoot in the grid", "shoot", shoot_point(problem, {3, 2, 1})});
  all.push_back({"shoot by launches", "shoot", shoot_point(problem, {6, 1, 2})});
  all.push_back({"shoot by launches of blocks", "shoot", shoot_point(problem, {3, 2, 2}, 2)});
  return all;
}

// Whether a strategy can cut the pass of the cell.
bool can_cut(const step::Cell& cell, const Problem& problem, const Way& way) {
  const Task task{cell, problem, {}};
  if (way.strategy == std::string("stream")) return segment_parts(task) > 0;
  if (way.strategy == std::string("shoot")) return find_strategy("shoot")->legal(task).legal;
  const Sweep sweep =
      problem.pass == Pass::Backward ? backward_sweep(task, backward_split(task)) : forward_sweep(task);
  return affine_sweep(task, sweep).has_value();
}

TEST(FiniteInSegments, WhereTheWalkInOrderIs) {
  Counts counts;
  std::uint32_t turn = 0;
  int sequences_run = 0, runs = 0;
  for (const char* text : kCells)
    for (const bool resets : {false, true})
      for (const bool lengths : {false, true}) {
        ++turn;
        const step::Cell plain = frontend::parse(text, "finite.cell").cells.at(0);
        step::Forms forms;
        forms.resets = resets;
        forms.lengths = lengths;
        const step::Cell cell = step::simplify(step::with_forms(plain, forms).value());
        for (std::uint32_t seed = 0; seed < 3; ++seed) {
          if (!rondo::testing::has_turn(static_cast<int>(7 * turn + seed), 3)) continue;
          ++sequences_run;
          Sequences sequences(cell, 100 * turn + seed);
          for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
            const TensorValues in_order =
                sequences.run(*find_strategy("stream"), stream_point(1, 1, 0, 1, 1), pass);
            const TensorValues exact =
                sequences.run(*find_strategy("stream"), stream_point(1, 1, 0, 1, 1), pass, true);
            for (const Way& way : ways(sequences.problem())) {
              if (!can_cut(cell, sequences.problem(), way)) continue;
              const TensorValues cut = sequences.run(*find_strategy(way.strategy), way.parameters, pass);
              expect_right(cut, in_order, exact,
                           plain.name + (resets ? ", resets" : "") + (lengths ? ", lengths" : "") + ", " +
                               way.name + ", " + pass_name(pass) + ", seed " + std::to_string(seed),
                           counts);
              if (HasFatalFailure()) return;
              ++runs;
            }
            sequences.save(in_order);
          }
        }
      }
  // Of 60 sequences a tenth at least, and each goes every way that can cut one of its passes.
  EXPECT_GE(sequences_run, 6);
  EXPECT_GE(runs, 14 * sequences_run);
  // The sequences are such that there is something to find.
  EXPECT_GT(counts.infinite, counts.elements / 100);
  EXPECT_LT(counts.infinite, counts.elements / 2);
  EXPECT_LT(counts.further, counts.infinite / 4);
}

}  // namespace
}  // namespace rondo::schedule
