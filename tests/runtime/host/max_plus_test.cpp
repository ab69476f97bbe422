// Max-plus products, compiled for this machine: small integers to the bit, real numbers against the fp64
// reference.
#ifdef RONDO_BUILT_LLVM
#include "tests/schedule/max_plus_cells.h"

#include "compiler/step/forms.h"
#include "tests/runtime/host/native_run.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/exact_case.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const auto kNatively = [](const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
  return runtime::run_natively(task, plan, given, pad);
};

constexpr Storage kInTurns[] = {Storage::F32, Storage::BF16, Storage::F16, Storage::F64};

const Parameters kParameters = {{"lanes", 16}, {"vectors", 2}, {"rows", 4}, {"together", 2}, {"tile", 2}};

// What a rounding chooses is another channel, so 16-bit types have integers alone.
TEST(NativeMaxPlus, IntegersToTheBit) {
  int turn = 0;
  for (const Storage storage : kInTurns) {
    SCOPED_TRACE(kernel::storage_name(storage));
    ExactCase("host", kParameters, storage, {}, {kTropical, ++turn % 2 == 0}, default_math(storage))
        .on_cpus(kNatively)
        .run();
  }
}

TEST(NativeMaxPlus, CellsAndFormsAgreeWithTheReference) {
  int turn = 0;
  for (const step::Cell& plain : max_plus_cells())
    for (const bool forms : {false, true}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      const step::Cell cell = forms ? step::with_forms(plain, {true, true, false}).value() : plain;
      Case c{find_strategy("host"), cell, {}, {}, {}, false};
      c.problem.sizes = {5, 7, 2, 33};
      c.problem.storage = turn % 4 == 0 ? Storage::F64 : Storage::F32;
      c.problem.math = default_math(c.problem.storage);
      c.parameters = kParameters;
      c.reached_states = forms;
      c.runner = kNatively;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << plain.name;
    }
}

}  // namespace
}  // namespace rondo::schedule
#endif
