// The strategy host, compiled for this machine and run, against the fp64 reference.
#ifdef RONDO_BUILT_LLVM
#include "compiler/frontend/frontend.h"
#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/step/clip.h"
#include "compiler/step/derive.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/support/index.h"
#include "compiler/target/target.h"
#include "tests/runtime/host/native_run.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kHost = find_strategy("host");

constexpr Storage kStorages[] = {Storage::F32, Storage::BF16, Storage::F16, Storage::F64};

constexpr const char* kDraws = R"(
cell drawn(D) {
  input x[D], w[D]
  state h[D]

  next h = select(uniform(drop) < 0.5, h, x)
  output h, u = uniform(drop), y = w * uniform(keep)
}
cell drawn_and_multiplied(D) {
  input x[D]
  param R[D, D]
  state h[D]

  next h = R @ select(uniform(mask) < 0.5, h, 0) + x
  output h, u = uniform(mask)
}
)";

Case native_case(const step::Cell& cell, const step::Sizes& sizes, Storage storage) {
  Case c{kHost, cell, {}, {}, {}, false};
  c.runner = [](const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
    return runtime::run_natively(task, plan, given, pad);
  };
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  return c;
}

// The first difference or product of differing operands in the plan, the other way round.
void swap_operands(KernelPlan& plan) {
  for (Launch& launch : plan.launches)
    for (kernel::Expr& expr : launch.kernel.expressions)
      if (auto* math = std::get_if<kernel::MathExpr>(&expr.node);
          math != nullptr && math->op == scalar::Op::Sub) {
        std::swap(math->args[0], math->args[1]);
        return;
      } else if (math != nullptr && math->op == scalar::Op::Fma) {
        std::swap(math->args[1], math->args[2]);
        return;
      }
  FAIL() << "there is nothing to swap";
}

TEST(HostOracle, EveryDiagonalCell) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const Storage storage : kStorages)
      for (const std::int64_t dim : {1, 33, 130}) {
        if (!rondo::testing::has_turn(++turn, 5)) continue;
        Case c = native_case(cell, {3, turn % 3 == 0 ? 1 : 7 + turn, turn % 2 + 1, dim}, storage);
        c.parameters = {{"lanes", 16},
                        {"vectors", turn % 5 == 4 ? 32 : 1 << turn % 5},
                        {"rows", 1},
                        {"together", 1},
                        {"tile", 1}};
        Comparison(std::move(c)).run();
        if (::testing::Test::HasFailure()) return;
      }
}

// Segments of time, in passes that are affine. Strides, initial states and their gradients are those of every
// comparison.
Case in_segments(Case c, std::int64_t segments) {
  c.parameters = {{"lanes", 16}, {"vectors", 2}, {"rows", 1}, {"together", 1}, {"tile", 1}};
  c.backward = c.parameters;
  const step::Cell simple = step::simplify(c.cell);
  Problem backward = c.problem;
  backward.pass = Pass::Backward;
  if (affine_sweep({simple, c.problem, {}}, forward_sweep({simple, c.problem, {}})).has_value())
    c.parameters["segments"] = segments;
  if (affine_sweep({simple, backward, {}},
                   backward_sweep({simple, backward, {}}, backward_split({simple, backward, {}})))
          .has_value())
    c.backward["segments"] = segments;
  return c;
}

TEST(HostOracle, SegmentsOfTime) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const std::int64_t time : {1, 7, 65}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      const std::int64_t dim = turn % 3 == 0 ? 33 : 16 * (turn % 3);
      Comparison(in_segments(native_case(cell, {2, time, turn % 2 + 1, dim}, kStorages[turn % 4]),
                             turn % 4 == 0 ? 9 : 3))
          .run();
      ASSERT_FALSE(HasFailure()) << cell.name << " " << time;
    }
}

TEST(HostOracle, SegmentsOfFormsClipsAndDraws) {
  std::vector<step::Cell> cells = {step::clipped(cell_named("mingru"), {0.5, {}}).value(),
                                   step::clipped(cell_named("mingru"), {{}, 0.5}).value(),
                                   frontend::parse(kDraws, "draws").cells.front()};
  for (const char* name : {"mingru", "hgrn", "affine"})
    for (const step::Forms forms : {step::Forms{true, true, false}, step::Forms{true, true, true},
                                    step::Forms{true, true, false, false, true}})
      cells.push_back(step::with_forms(cell_named(name), forms).value());
  int turn = 0;
  for (const step::Cell& cell : cells) {
    if (!rondo::testing::has_turn(++turn, 2)) continue;
    Case c = in_segments(native_case(cell, {5, 41, 2, 33}, kStorages[turn % 4]), 5);
    c.reached_states = true;
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << cell.name << " " << turn;
  }
}

// Each type gets each number of channels, of one cell after the other: compiling takes most of the time.
TEST(HostOracle, EveryCellWithMatrices) {
  constexpr std::int64_t kDims[] = {1, 33, 80};
  int turn = 0;
  for (const step::Cell& cell : dense_cells())
    for (const Storage storage : kStorages) {
      const std::int64_t dim = kDims[at(turn / 3 + turn) % 3];
      if (!rondo::testing::has_turn(++turn, 4)) continue;
      Case c =
          native_case(cell, {turn % 3 * 2 + 1, turn % 4 == 0 ? 1 : 7 + turn % 9, turn % 2 + 1, dim}, storage);
      c.problem.save_products = turn % 5 == 0;
      c.parameters = {{"lanes", 16},
                      {"vectors", dim == 33 ? 2 : 1},
                      {"rows", turn % 2 == 0 ? 4 : 2},
                      {"together", 1 << turn % 3},
                      {"tile", turn % 4 + 1 > 2 ? 2 : turn % 2 + 1}};
      Comparison(std::move(c)).run();
      if (::testing::Test::HasFailure()) return;
    }
}

// More columns than a part of a matrix has, more steps than a block of a product or of a gradient, a chunk of
// products that is smaller than the others, and tiles of rows that differ.
TEST(HostOracle, PartsOfColumnsAndSteps) {
  int turn = 0;
  for (const char* name : {"lstm", "gru"})
    for (const Storage storage : {Storage::F32, Storage::BF16}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      Case c = native_case(cell_named(name), {5, 70, 1, turn % 2 == 0 ? 136 : 144}, storage);
      c.parameters = {
          {"lanes", 16}, {"vectors", 3}, {"rows", 8}, {"together", turn < 3 ? 3 : 2}, {"tile", 3}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << name;
    }
}

// Resets, lengths and reversed time, in one walk and in launches of a step each.
TEST(HostOracle, FormsOfTheSequence) {
  int turn = 0;
  for (const char* name : {"mingru", "hgrn", "paralstm", "lstm", "mgu"})
    for (const step::Forms forms : {step::Forms{true, true, false}, step::Forms{true, true, true},
                                    step::Forms{true, true, false, false, true}}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      const step::Cell cell = step::with_forms(cell_named(name), forms).value();
      Case c = native_case(cell, {5, 9, 2, 33}, kStorages[turn % 4]);
      c.reached_states = true;
      const bool dense = step::analyze(cell).has_matrix;
      c.parameters = {{"lanes", 16},
                      {"vectors", dense || turn % 2 == 0 ? 2 : 32},
                      {"rows", 2},
                      {"together", 1},
                      {"tile", 1}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << name;
    }
}

TEST(HostOracle, ReductionsAndNumbersWithoutMatrices) {
  int turn = 0;
  for (const step::Cell& cell : reducing_cells())
    for (const std::int64_t dim : {1, 33, 130}) {
      if (!rondo::testing::has_turn(++turn)) continue;
      Case c =
          native_case(cell, {3, turn % 3 == 0 ? 1 : 7 + turn, turn % 2 + 1, dim}, kStorages[turn / 2 % 4]);
      c.parameters = {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

TEST(HostOracle, ReductionsAndNumbersWithMatrices) {
  constexpr std::int64_t kDims[] = {1, 33, 130};
  int turn = 0;
  std::vector<step::Cell> cells = reducing_cells_with_matrices();
  for (const char* name : {"lngru", "lnlstm", "rmslstm"}) cells.push_back(cell_named(name));
  for (const step::Cell& cell : cells) {
    if (!rondo::testing::has_turn(++turn)) continue;
    Case c = native_case(cell, {turn % 3 * 2 + 1, 7 + turn, turn % 2 + 1, kDims[turn % 3]},
                         kStorages[turn / 2 % 4]);
    c.problem.save_products = turn % 2 == 0;
    c.parameters = {{"lanes", 16}, {"vectors", 1 + turn % 2}, {"rows", 4}, {"together", 2}, {"tile", 2}};
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << cell.name;
  }
}

// Shifts, rotations and running sums along the channels.
TEST(HostOracle, AlongTheHead) {
  constexpr std::int64_t kDims[] = {1, 33, 130};
  int turn = 0;
  std::vector<step::Cell> cells = along_cells();
  for (step::Cell& cell : along_cells_with_matrices()) cells.push_back(std::move(cell));
  cells.push_back(cell_named("onlstm"));
  for (const step::Cell& cell : cells) {
    Case c = native_case(cell, {3, 6 + ++turn, turn % 2 + 1, kDims[turn % 3]}, kStorages[turn % 4]);
    c.parameters = {{"lanes", 16}, {"vectors", 1}, {"rows", 2}, {"together", 1}, {"tile", 1}};
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << cell.name;
  }
}

// Resets, lengths and reversed time of cells that reduce.
TEST(HostOracle, FormsOfCellsThatReduce) {
  std::vector<step::Cell> cells = reducing_cells();
  cells.push_back(cell_named("lnlstm"));
  int turn = 0;
  for (const step::Cell& plain : cells)
    for (const step::Forms forms : {step::Forms{true, true, false, true}, step::Forms{true, true, true},
                                    step::Forms{true, true, false, false, true}}) {
      if (!rondo::testing::has_turn(++turn)) continue;
      const step::Cell cell = step::with_forms(plain, forms).value();
      Case c = native_case(cell, {5, 9, 2, 33}, Storage::F32);
      c.parameters = {{"lanes", 16}, {"vectors", 1}, {"rows", 2}, {"together", 1}, {"tile", 1}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << plain.name;
    }
}

// Draws of random numbers: the bits of the reference, in both passes.
TEST(HostOracle, Draws) {
  for (const step::Cell& cell : frontend::parse(kDraws, "draws").cells) {
    for (const std::int64_t vectors : {1, 32}) {
      if (vectors > 1 && (adds_over_head(cell) || step::analyze(cell).has_matrix)) continue;
      Case c = native_case(cell, {3, 21, 2, 40}, Storage::F32);
      c.parameters = {{"lanes", 16}, {"vectors", vectors}, {"rows", 2}, {"together", 1}, {"tile", 1}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
  }
}

// The results of a forward pass of `cell` on a pool of so many threads.
TensorValues outputs_on(const step::Cell& cell, int threads, bool damaged) {
  Problem problem;
  problem.sizes = {5, 9, 2, 40};
  problem.storage = Storage::F32;
  problem.math = default_math(problem.storage);
  const Parameters parameters{{"lanes", 16}, {"vectors", 1}, {"rows", 4}, {"together", 2}, {"tile", 2}};
  KernelPlan plan = kHost->build_legal({cell, problem, target::host_profile()}, parameters).value();
  if (damaged) swap_operands(plan);
  TensorValues given;
  std::mt19937 rng(11);
  for (TensorId id = 0; id < static_cast<TensorId>(cell.tensors.size()); ++id) {
    const step::Tensor& tensor = cell.tensors[at(id)];
    const std::int64_t count = step::element_count(tensor, problem.sizes);
    if (tensor.kind == TensorKind::Input) given[{Role::Input, id}] = draw(rng, count, 1, Storage::F32);
    if (tensor.kind == TensorKind::Param) given[{Role::Param, id}] = draw(rng, count, 0.3, Storage::F32);
  }
  runtime::ThreadPool pool(threads);
  return runtime::run_natively({cell, problem, {}}, plan, given, 0, pool).written;
}

// Both passes of a cell that reduces over the head, on a pool of so many threads.
TensorValues both_passes_on(const step::Cell& cell, int threads, std::int64_t segments = 1) {
  Problem problem;
  problem.sizes = {5, 9, 2, 40};
  problem.storage = Storage::F32;
  problem.math = default_math(problem.storage);
  Parameters parameters{{"lanes", 16}, {"vectors", 1}, {"rows", 4}, {"together", 2}, {"tile", 2}};
  parameters["segments"] = segments;
  TensorValues given, results;
  std::mt19937 rng(11);
  for (TensorId id = 0; id < static_cast<TensorId>(cell.tensors.size()); ++id) {
    const step::Tensor& tensor = cell.tensors[at(id)];
    const std::int64_t count = step::element_count(tensor, problem.sizes);
    const auto put = [&](Role role) { given[{role, id}] = draw(rng, count, 0.5, Storage::F32); };
    if (tensor.kind == TensorKind::Input) put(Role::Input);
    if (tensor.kind == TensorKind::Param) put(Role::Param);
    if (tensor.kind == TensorKind::Output) put(Role::OutputGradient);
    if (tensor.kind == TensorKind::State) put(Role::LastStateGradient);
  }
  runtime::ThreadPool pool(threads);
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    problem.pass = pass;
    const KernelPlan plan = kHost->build_legal({cell, problem, target::host_profile()}, parameters).value();
    for (auto& [ref, values] : runtime::run_natively({cell, problem, {}}, plan, given, 0, pool).written) {
      if (ref.role != Role::LastState) given[ref] = values;
      results[ref] = values;
    }
  }
  return results;
}

TEST(HostOracle, GradientsAreTheSameBitsOnAnyNumberOfThreads) {
  std::vector<step::Cell> cells = reducing_cells();
  for (const char* name : {"lnlstm", "rmslstm"}) cells.push_back(cell_named(name));
  int turn = 0;
  for (const step::Cell& cell : cells) {
    if (!rondo::testing::has_turn(++turn)) continue;
    const TensorValues one = both_passes_on(cell, 1), more = both_passes_on(cell, 5);
    ASSERT_EQ(one.size(), more.size());
    for (const auto& [ref, values] : one)
      EXPECT_EQ(values, more.at(ref)) << cell.name << " " << name_of(ref, cell);
  }
}

TEST(HostOracle, SegmentsGiveTheSameBitsOnAnyNumberOfThreads) {
  for (const char* name : {"mingru", "affine"}) {
    const TensorValues one = both_passes_on(cell_named(name), 1, 5);
    for (const int threads : {2, 3, 7}) {
      const TensorValues more = both_passes_on(cell_named(name), threads, 5);
      for (const auto& [ref, values] : one)
        EXPECT_EQ(values, more.at(ref)) << name << " " << name_of(ref, cell_named(name)) << " " << threads;
    }
  }
}

TEST(HostOracle, ResultsAreTheSameBitsOnAnyNumberOfThreads) {
  std::vector<step::Cell> cells = reducing_cells();
  for (const char* name : {"lstm", "gru", "mingru", "lnlstm"}) cells.push_back(cell_named(name));
  for (const step::Cell& cell : cells) {
    const std::string& name = cell.name;
    const TensorValues one = outputs_on(cell, 1, false);
    for (const int threads : {2, 3, 7}) {
      const TensorValues more = outputs_on(cell, threads, false);
      for (const auto& [ref, values] : one) EXPECT_EQ(values, more.at(ref)) << name << " on " << threads;
    }
  }
}

// A wrong compilation shows: one difference whose operands are swapped.
TEST(HostOracle, SwappedOperandsAreFound) {
  const step::Cell cell = cell_named("mingru");
  const TensorValues right = outputs_on(cell, 2, false), wrong = outputs_on(cell, 2, true);
  double error = 0;
  for (const auto& [ref, values] : right) error = std::max(error, norm_error(wrong.at(ref), values));
  EXPECT_GT(error, 1e-2);
}

}  // namespace
}  // namespace rondo::schedule
#endif
