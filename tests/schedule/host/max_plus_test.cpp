// Max-plus products on CPUs, in the simulator: small integers to the bit, real numbers against the fp64
// reference.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/step/clip.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/exact_case.h"
#include "tests/schedule/max_plus_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

constexpr Storage kStorages[] = {Storage::F32, Storage::BF16, Storage::F16};

Parameters parameters_of(int turn) {
  return {{"lanes", 16},
          {"vectors", 1 + turn % 3},
          {"rows", 1 << turn % 4},
          {"together", 1 + turn % 2},
          {"tile", 1 + turn % 2 * (turn % 4 > 0)}};
}

void run_exact(const ExactCell& cell, int turn, const step::Clip& clip = {}) {
  const Storage storage = kStorages[turn % 3];
  SCOPED_TRACE(std::string(kernel::storage_name(storage)) + " " + print(parameters_of(turn)));
  ExactCase("host", parameters_of(turn), storage, clip, cell, default_math(storage))
      .on_cpus([](const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
        return simulate_plan(task, plan, given, pad);
      })
      .run();
}

TEST(HostMaxPlus, IntegersToTheBit) {
  int turn = 0;
  for (const bool saved : {false, true})
    for (const step::Sizes& sizes : {step::Sizes{5, 3, 2, 40}, step::Sizes{1, 2, 1, 1}})
      for (int storage = 0; storage < 3; ++storage, ++turn) run_exact({kTropical, saved, sizes}, turn);
  run_exact({kTropical}, 1, {2.0, 1.0});
}

Case case_of(const step::Cell& cell, const step::Sizes& sizes, Storage storage, int turn) {
  Case c{find_strategy("host"), cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.save_products = turn % 3 == 1 && !product_tensors(step::simplify(cell)).empty();
  c.parameters = parameters_of(turn);
  return c;
}

// In fp32: rounding to a 16-bit type chooses another channel now and then, and gradients are other numbers
// then.
TEST(HostMaxPlus, CellsAgreeWithTheReference) {
  int turn = 0;
  for (const step::Cell& cell : max_plus_cells())
    for (const std::int64_t dim : {1, 33}) {
      ++turn;
      Comparison(case_of(cell, {3, turn % 3 == 0 ? 1 : 5, 2, dim}, Storage::F32, turn)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " " << dim;
    }
}

// And more than a block of columns has.
TEST(HostMaxPlus, ManyChannels) { run_exact({kLate, false, {2, 2, 1, 300}}, 1); }

TEST(HostMaxPlus, FormsOfTheSequence) {
  int turn = 0;
  for (const step::Cell& plain : max_plus_cells())
    for (const step::Forms forms : {step::Forms{true, true, false}, step::Forms{true, true, true},
                                    step::Forms{true, true, false, false, true}}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      Case c = case_of(step::with_forms(plain, forms).value(), {5, 6, 2, 20}, Storage::F32, turn);
      c.reached_states = true;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << plain.name;
    }
}

// Each product chooses once, in a tensor of fp32, whatever reads it.
TEST(HostMaxPlus, ChoosesBeforeTheSweep) {
  const step::Cell cell = step::simplify(frontend::parse(kTropical, "tropical").cells.at(0));
  Problem problem;
  problem.pass = Pass::Backward;
  problem.storage = Storage::BF16;
  const Task task(cell, problem, target::host_profile());
  const BackwardSplit split = backward_split(task);
  EXPECT_EQ(scratch_rows(split).at(kChosen), 4);
  EXPECT_EQ(storage_of({Role::Scratch, kChosen}, task), Storage::F32);
  for (const NodeId id : reachable(split.sweep, split.sweep_roots))
    EXPECT_NE(split.sweep.at(id).kind, NodeKind::ArgMaxPlus);
}

TEST(HostMaxPlus, StrategiesWithoutMatricesDoNotTakeIt) {
  const step::Cell cell = max_plus_cells().front();
  for (const char* name : {"stream", "shoot"})
    EXPECT_FALSE(find_strategy(name)->legal({cell, Problem{}, target::board()}).legal);
}

}  // namespace
}  // namespace rondo::schedule
